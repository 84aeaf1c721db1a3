// What this browser stores for the page. Only this module reads and writes it: `storage` in localStorage, a `Database` in IndexedDB.
// Each kind has a check. What fails its check is left out and stays stored; it is named with the reason until somebody deletes it.
// What the browser refuses to store lasts as long as the page is open.

const PREFIX = "nainjaune-";
const DATABASE = "nainjaune";
const PATIENCE = 5000; // milliseconds: a request that another tab blocks may never be answered
const QUOTED = 60; // characters of a value that are quoted
const LAST_TIME = 8.64e15; // milliseconds: the last time that a Date has

// ------------------------------------------------------------------ checks

/** Returns a value in short; null if there is none. */
function quoted(value) {
  if (value === undefined) return null;
  if (typeof value === "string") return JSON.stringify(value.slice(0, QUOTED)) + (value.length > QUOTED ? "…" : "");
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "[…]" : "{…}";
}

/** Returns a check: of a value it returns null, or { field, expected, limits, came }, where `expected` with its `limits` is a text of the page. */
const check = (expected, isRight, limits = {}) => (value) => (isRight(value) ? null : { field: [], expected, limits, came: quoted(value) });

/** Returns the first problem of parts, as [field, value, check]; null if there is none. */
function firstProblem(parts) {
  for (const [field, value, checkPart] of parts) {
    const problem = checkPart(value);
    if (problem) return { ...problem, field: [field, ...problem.field] };
  }
  return null;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (most) => check("text", (value) => typeof value === "string" && value.length <= most && !/\p{Cs}/u.test(value), { most });
const token = check("token", (value) => typeof value === "string" && /^[\w-]{1,100}$/.test(value));
const choice = (...choices) => check("choice", (value) => choices.includes(value), { choices: choices.join(", ") });
const whole = (low, high) => check("whole", (value) => Number.isInteger(value) && value >= low && value <= high, { low, high });
const number = (low, high) => check("number", (value) => typeof value === "number" && value >= low && value <= high, { low, high });
const flag = check("flag", (value) => typeof value === "boolean");
const plain = check("plain", (value) => value === null || ["string", "number", "boolean"].includes(typeof value));
const optional = (checkValue) => (value) => (value === null ? null : checkValue(value));
const array = (most) => check("array", (value) => Array.isArray(value) && value.length <= most, { most });
const object = check("object", isObject);
const list = (most, checkPart) => (value) => array(most)(value) ?? firstProblem([...value].map((part, place) => [place, part, checkPart]));
const values = (checkPart) => (value) => object(value) ?? firstProblem(Object.entries(value).map(([name, part]) => [name, part, checkPart]));
const fields = (checks) => (value) =>
  object(value) ?? firstProblem(Object.entries(checks).map(([name, checkPart]) => [name, Object.hasOwn(value, name) ? value[name] : undefined, checkPart]));

// ------------------------------------------------------------------ localStorage

/** By name: the `check` of a text and its `initial` value, or the check `of` each element of a list. */
const ITEMS = {
  language: { check: choice("en", "fr"), initial: null },
  name: { check: text(40), initial: "" },
  sound: { check: choice("on", "off"), initial: "off" },
  host: { check: token, initial: null },
  results: { of: fields({ link: text(200), game: text(200), preset: text(200), place: whole(1, 100), players: whole(1, 100), total: text(200), at: whole(0, LAST_TIME) }) },
  tables: { of: fields({ table: text(200), title: text(400), links: list(100, fields({ token, seat: optional(whole(0, 99)), name: optional(text(1000)) })) }) },
};

class Items {
  constructor() {
    this.works = true; // whether the browser has stored all that it was given
    this.changed = () => {}; // is called when `works` or `unreadable()` may have changed
    this.unsaved = new Map(); // values that are not stored, by name
  }

  /** Returns the value of an item, without what cannot be read of it. */
  get(name) {
    return this.unsaved.has(name) ? this.unsaved.get(name) : this.read(name).value;
  }

  /**
   * Stores a value. It replaces one that cannot be read, since it was chosen; elements of a list stay that cannot be read, and a list
   * that cannot be read at all stays as it is: the new one is stored when somebody deletes it.
   */
  set(name, value) {
    const { of } = ITEMS[name];
    const { problems, parts } = this.read(name);
    this.unsaved.set(name, value);
    if (!of || parts) this.write(name, of ? [...value, ...parts] : value);
    if (problems.length) this.changed();
  }

  /** Returns the names of items that cannot be read, wholly or in part, each with its problems. */
  unreadable() {
    return Object.keys(ITEMS).map((name) => ({ name, problems: this.read(name).problems })).filter(({ problems }) => problems.length);
  }

  /** Deletes what cannot be read of an item. */
  forget(name) {
    const { parts } = this.read(name);
    const value = this.get(name);
    if (!parts) localStorage.removeItem(PREFIX + name);
    if (parts || this.unsaved.has(name)) this.write(name, value);
    this.changed();
  }

  /** Returns { value, problems, parts }: `parts` are the elements of a list that cannot be read, null where that is the whole item. */
  read(name) {
    const { of, initial = [] } = ITEMS[name];
    const stored = this.text(name);
    if (stored === null) return { value: initial, problems: [], parts: [] };
    const value = of ? listOf(stored) : stored;
    const problem = (ITEMS[name].check ?? check("list", () => value !== undefined))(stored);
    if (problem) return { value: initial, problems: [problem], parts: null };
    if (!of) return { value, problems: [], parts: [] };
    const parts = value.filter((part) => of(part));
    return { value: value.filter((part) => !of(part)), problems: parts.map(of), parts };
  }

  text(name) {
    try {
      return localStorage.getItem(PREFIX + name);
    } catch {
      this.refused(); // storage is switched off
      return null;
    }
  }

  write(name, value) {
    try {
      localStorage.setItem(PREFIX + name, ITEMS[name].of ? JSON.stringify(value) : value);
      this.unsaved.delete(name);
    } catch {
      this.refused(); // switched off, or full
    }
  }

  refused() {
    if (!this.works) return;
    this.works = false;
    this.changed();
  }
}

/** Returns the list that a text of JSON is, or undefined. */
function listOf(stored) {
  try {
    const value = JSON.parse(stored);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const storage = new Items();

// ------------------------------------------------------------------ IndexedDB

const ROUNDS = 1e6;
const SETTINGS = fields({
  game: text(200), preset: text(200), players: whole(1, 100), knobs: values(plain), names: list(100, text(1000)), agents: list(100, optional(text(1000))),
  rounds: optional(whole(1, ROUNDS)), seed: text(20), pace: number(0, 60), every_ply: flag, advice: flag,
});
/** The checks of the entries of each store; every entry has an `id`. */
export const STORES = {
  tables: fields({ id: token, made: whole(0, LAST_TIME / 1000), settings: SETTINGS, plies: list(1e6, whole(-1, 1e6)), helped: optional(whole(0, ROUNDS)) }),
  rounds: fields({ id: text(200), key: text(10_000), yours: number(-1e12, 1e12), reference: number(-1e12, 1e12) }),
  records: fields({ id: token, text: text(1e7) }),
  puzzles: fields({ id: whole(1, 1e6) }),
};

/** An entry is there that cannot be read. */
export class Unreadable extends Error {
  /** `problem` is what a check returns, or { reason } with a sentence. */
  constructor(store, id, problem) {
    super(`${store}: ${String(id)}`);
    Object.assign(this, { store, id, problem });
  }
}

/** The entries of this browser by store and `id`; until `open`, and where the browser refuses, they last as long as the page. */
export class Database {
  constructor() {
    this.database = null;
    this.works = false; // whether the browser has stored all that it was given
    this.problem = null; // of the database as a whole
    this.refused = () => {}; // is called when `works` ends
    this.unsaved = Object.fromEntries(Object.keys(STORES).map((store) => [store, new Map()])); // undefined: deleted
  }

  /** Opens the database of this browser, if it allows one; returns this. */
  async open() {
    try {
      const database = await opened();
      const stores = [...database.objectStoreNames];
      const isWhole = Object.keys(STORES).every((store) => stores.includes(store) && database.transaction(store).objectStore(store).keyPath === "id");
      if (isWhole) this.database = database;
      else database.close();
      this.problem = isWhole ? null : { field: [], expected: "database", limits: { stores: Object.keys(STORES).join(", ") }, came: stores.join(", ") || null };
    } catch {
      this.database = null; // refused, or blocked by another tab
    }
    this.works = this.database !== null;
    return this;
  }

  /** Deletes the whole database, and begins a new one with what was not stored. */
  async reset() {
    await settled(indexedDB.deleteDatabase(DATABASE));
    await this.open();
    for (const [store, entries] of Object.entries(this.unsaved)) {
      for (const [id, entry] of entries) await (entry === undefined ? this.delete(store, id) : this.put(store, entry));
    }
  }

  /** Returns an entry, undefined if there is none; throws `Unreadable`. */
  async get(store, id) {
    const unsaved = this.unsaved[store];
    const entry = unsaved.has(id) ? structuredClone(unsaved.get(id)) : await this.ask(store, "readonly", (entries) => entries.get(id));
    const problem = entry === undefined ? null : STORES[store](entry);
    if (problem) throw new Unreadable(store, id, problem);
    return entry;
  }

  /** Returns whether there is an entry, whatever it is. */
  async has(store, id) {
    const unsaved = this.unsaved[store];
    return (unsaved.has(id) ? unsaved.get(id) : await this.ask(store, "readonly", (entries) => entries.getKey(id))) !== undefined;
  }

  /** Returns the entries of a store, and as `Unreadable` those that cannot be read. */
  async all(store) {
    const unsaved = this.unsaved[store];
    const stored = ((await this.ask(store, "readonly", (saved) => saved.getAll())) ?? []).filter(({ id }) => !unsaved.has(id));
    const entries = [...stored, ...structuredClone([...unsaved.values()].filter((entry) => entry !== undefined))];
    const problems = entries.map(STORES[store]);
    return {
      entries: entries.filter((_, place) => !problems[place]),
      unreadable: entries.flatMap(({ id }, place) => (problems[place] ? [new Unreadable(store, id, problems[place])] : [])),
    };
  }

  put(store, entry) {
    return this.change(store, entry.id, structuredClone(entry), (entries) => entries.put(entry));
  }

  delete(store, id) {
    return this.change(store, id, undefined, (entries) => entries.delete(id));
  }

  async change(store, id, entry, make) {
    this.unsaved[store].set(id, entry);
    await this.ask(store, "readwrite", make, () => this.unsaved[store].delete(id));
  }

  /** Returns what the browser answers to `request(entries)` once it is written, after a call of `written`; undefined where it refuses. */
  async ask(store, mode, request, written = () => {}) {
    if (this.database === null) return undefined;
    try {
      const transaction = this.database.transaction(store, mode);
      const asked = request(transaction.objectStore(store));
      await new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      written();
      return asked.result;
    } catch {
      const worked = this.works;
      this.works = false; // full, closed or deleted
      if (worked) this.refused();
      return undefined;
    }
  }
}

/** Returns the open database, of whatever version; one that is not there yet is made. */
function opened() {
  const request = indexedDB.open(DATABASE);
  request.onupgradeneeded = () => Object.keys(STORES).forEach((store) => request.result.createObjectStore(store, { keyPath: "id" }));
  request.onsuccess = () => (request.result.onversionchange = () => request.result.close()); // another tab deletes it
  return settled(request);
}

/** Returns what the browser answers to a request; throws where it refuses, or another tab blocks it. */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
    setTimeout(() => reject(new Error("indexedDB: another tab blocks it.")), PATIENCE);
  });
}
