// The card games of nainjaune-env in JavaScript: a module that `nainjaune wasm` writes, and its description. Types: index.d.ts.

import { Advice } from "./advice.js";
import { Network } from "./network.js";
import { formatRecord, parseRecord, recordOf, Replay } from "./record.js";
import { numbersOf, rulesOf } from "./rules.js";

export { formatRecord, parseRecord };

/** Viewers of events that are no seat: one who sees all, and one who sees what every seat sees. */
export const OMNISCIENT = -1;
export const PUBLIC = -2;

const OPENING = -1;
const DRAWN = -1;
const COLUMNS = ["kind", "seat", "other", "card", "pile", "paid", "due", "cards"];
const PAGE = 65536;
const ALIGNMENT = 64;
const VIEWS = {
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
};

export class Game {
  /** Addresses of sessions that were given back. */
  #unused = [];

  constructor(exports, description) {
    this.exports = exports;
    this.description = description;
    this.kinds = Object.fromEntries(Object.entries(description.events).map(([name, number]) => [number, name]));
    this.free = align(exports.__heap_base.value);
  }

  static async load(module, description) {
    const given = await module;
    const compiled =
      typeof Response !== "undefined" && given instanceof Response
        ? await WebAssembly.compileStreaming(given)
        : await WebAssembly.compile(given);
    const { exports } = await WebAssembly.instantiate(compiled, {});
    const [section] = WebAssembly.Module.customSections(compiled, "nainjaune");
    const version = section ? new TextDecoder().decode(section) : "an unknown version";
    const expected = `${description.game} ${description.version}`;
    if (version !== expected) {
      throw new Error(`The module is ${version}, and its description is of ${expected}: build both together.`);
    }
    return new Game(exports, description);
  }

  session({ preset = this.description.default_preset, players, knobs = {}, options = {} } = {}) {
    const { presets, default_players } = this.description;
    if (!Object.hasOwn(presets, preset)) {
      throw new RangeError(
        `Expected a preset of ${this.description.title} (${Object.keys(presets).join(", ")}), not "${preset}".`,
      );
    }
    const seats = presets[preset];
    const count = players ?? (seats[default_players] ? default_players : Number(Object.keys(seats)[0]));
    if (!Number.isInteger(count) || !Object.hasOwn(seats, count)) {
      throw new RangeError(`The preset "${preset}" is for ${Object.keys(seats).join(", ")} players, not ${count}.`);
    }
    const usual = this.description.options;
    for (const [name, value] of Object.entries(options)) {
      if (!Object.hasOwn(usual, name) || (value !== 0 && value !== 1)) {
        throw new RangeError(`Expected options (${Object.keys(usual).join(", ")}), each 0 or 1, not ${name}: ${value}.`);
      }
    }
    const rules = rulesOf(this.description, preset, knobs);
    return new Session(this, { preset, rules, players: count, options: { ...usual, ...options } });
  }

  replay(record) {
    return new Replay(this, record);
  }

  network(bytes) {
    return new Network(this, bytes);
  }

  /** Returns the number of a heuristic. */
  agent(name) {
    const { agents, title } = this.description;
    if (!Object.hasOwn(agents, name)) {
      throw new RangeError(`Expected a player of ${title} (${Object.keys(agents).join(", ")}), not "${name}".`);
    }
    return agents[name].number;
  }

  /** Returns the address of a session's bytes, all 0. */
  borrow() {
    const { size } = this.description.session;
    const at = this.#unused.pop();
    if (at === undefined) return this.allocate(size);
    new Uint8Array(this.exports.memory.buffer, at, size).fill(0);
    return at;
  }

  giveBack(at) {
    this.#unused.push(at);
  }

  /** Returns the address of `size` new bytes. */
  allocate(size) {
    const at = this.free;
    this.free = align(at + size);
    const missing = this.free - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / PAGE));
    return at;
  }

  /** Returns the numbers of a field as a view of memory, which a later allocation invalidates. */
  view(at, field) {
    const length = field.shape.reduce((product, size) => product * size, 1);
    return new VIEWS[field.dtype](this.exports.memory.buffer, at + field.offset, length);
  }

  /** Returns a copy of the table at an address as an object. */
  table(at) {
    const entries = Object.entries(this.description.table.fields).map(([name, field]) => {
      const values = [...this.view(at, field)];
      return [name, field.shape.length ? values : values[0]];
    });
    return Object.fromEntries(entries);
  }
}

export class Session {
  #game;
  #at;
  #fields;
  /** Counts what makes advice out of date. */
  #changes = 0;

  constructor(game, { preset, rules, players, options }) {
    const { session, knobs, refusals, rules: names } = game.description;
    this.#game = game;
    this.#fields = session.fields;
    this.#at = game.borrow();
    this.preset = preset;
    this.rules = rules;
    this.players = players;
    this.options = options;
    this.#view("knobs").set(numbersOf(knobs, rules));
    this.#view("numbers").set(Object.values(options).map(BigInt), names.length);
    const refusal = this.#call("pack", "rules and a number of seats", players, players);
    if (refusal) {
      const sentence = refusals[refusal - 1].replace(/\{(\d)\}/g, (_, place) => this.#view("details")[place]);
      this.free();
      throw new RangeError(sentence);
    }
  }

  free() {
    this.#game.giveBack(this.#start);
    this.#at = null;
  }

  get game() {
    return this.#game;
  }

  get numbers() {
    const values = this.#view("numbers");
    return Object.fromEntries(this.#game.description.rules.map((name, place) => [name, values[place]]));
  }

  begin(state, startValues = []) {
    const places = this.#view("start_values");
    const fits = startValues.length <= places.length && startValues.every((value) => (value | 0) === value);
    if (fits) places.set(startValues);
    this.#changes += 1;
    const given = `"${startValues.join(", ")}"`;
    this.#call("begin", "the game's start values, or none", given, BigInt.asIntN(64, state), fits ? startValues.length : -1);
  }

  step(action) {
    this.#call("step", "a legal action", action, action);
    this.#changes += 1;
  }

  place(fields) {
    const first = this.#start + this.#fields.tables.offset;
    const { size, fields: places } = this.#game.description.table;
    const opens = !(fields instanceof Uint8Array);
    const bytes = new Uint8Array(this.#game.exports.memory.buffer, first, size);
    if (opens) bytes.fill(0);
    else bytes.set(fields);
    for (const [name, values] of opens ? Object.entries(fields) : []) this.#game.view(first, places[name]).set(values);
    this.#changes += 1;
    this.#call("place", "a table", fields, opens ? 1 : 0);
  }

  ply(action) {
    this.#call("ply", "a legal action", action, action);
    this.#changes += 1;
  }

  tell(action, { shown = DRAWN, viewer = OMNISCIENT } = {}) {
    const expected = "a legal action in a round of which all is told, or -1 before its first ply";
    const count = this.#call("tell", expected, action, action, shown, viewer);
    this.#changes += 1;
    this.events = this.#rows(count);
    return this.events;
  }

  open(settings) {
    return this.tell(OPENING, settings);
  }

  hide(rows, viewer) {
    const { events } = this.#game.description;
    const numbers = rows.flatMap((row) => COLUMNS.map((column) => BigInt(column === "kind" ? events[row.kind] : row[column])));
    this.#view("rows").set(numbers);
    this.#call("hide", `a seat from 0 to ${this.players - 1}, -1 or -2`, viewer, rows.length, viewer);
    return this.#rows(rows.length);
  }

  deal() {
    this.#call("deal", "a match between two rounds", "another table");
    this.#changes += 1;
  }

  record({ agents, seed = null } = {}) {
    return recordOf(this, { agents, seed });
  }

  undo(plies) {
    this.#call("rewind", "a number of plies that have been made", plies, plies);
    this.#changes += 1;
  }

  get seat() {
    return Number(this.table.seat);
  }

  get legal() {
    const bits = this.#view("legal")[0];
    return this.#game.description.actions.map((_, action) => action).filter((action) => (bits >> BigInt(action)) & 1n);
  }

  get done() {
    return this.#view("done")[0] !== 0;
  }

  get reward() {
    return [...this.#view("reward").subarray(0, this.players)];
  }

  get plies() {
    const log = this.#view("log_plies");
    return Array.from({ length: Number(this.#view("log_marks")[0]) }, (_, k) => [log[2 * k], log[2 * k + 1]]);
  }

  get memory() {
    return [...this.#view("event_memory")];
  }

  get opening() {
    const first = this.#start + this.#fields.log_tables.offset;
    return new Uint8Array(this.#game.exports.memory.buffer.slice(first, first + this.#game.description.table.size));
  }

  field(name) {
    return this.#game.view(this.#start + this.#fields.tables.offset, this.#game.description.table.fields[name]);
  }

  get table() {
    return this.#game.table(this.#start + this.#fields.tables.offset);
  }

  view(seat) {
    this.#call("redact", `a seat from 0 to ${this.players - 1}`, seat, seat);
    return this.#game.table(this.#start + this.#fields.worlds.offset);
  }

  snapshot() {
    this.view(this.seat);
    const first = this.#start + this.#fields.worlds.offset;
    const table = new Uint8Array(this.#game.exports.memory.buffer.slice(first, first + this.#game.description.table.size));
    return { preset: this.preset, players: this.players, knobs: this.rules, options: this.options, table };
  }

  observation(seat) {
    const size = this.#call("observe", `a seat from 0 to ${this.players - 1}`, seat, seat);
    return this.#view("observation").slice(0, size);
  }

  resample(state, count) {
    const most = this.#game.description.worlds;
    this.#call("resample", `1 to ${most} tables of a round in play`, count, BigInt.asIntN(64, state), count);
    const first = this.#start + this.#fields.worlds.offset;
    return Array.from({ length: count }, (_, k) => this.#game.table(first + k * this.#game.description.table.size));
  }

  decide(player, state = 0n) {
    if (player instanceof Network) return this.evaluate(player).action;
    return this.#call("decide", "a table with a decision", "one without", this.#game.agent(player), BigInt.asIntN(64, state));
  }

  evaluate(network) {
    const { header, at, game } = network;
    if (game !== this.#game || header.players !== this.players) {
      throw new RangeError(`The network ${header.name} is for ${header.players} seats of ${header.game}, not for this table.`);
    }
    const action = this.#call("forward", "a table with a decision", "one without", at);
    const logits = [...this.#view("outputs")];
    const value = logits.pop() * header.payoff_scale;
    return { action, logits, value };
  }

  advise({ player = this.#game.description.yardstick, state = 0n } = {}) {
    const agent = this.#game.agent(player);
    const begun = (this.#changes += 1);
    const access = {
      legal: () => this.legal,
      view: (name) => this.#view(name),
      call: (...args) => this.#call(...args),
      isCurrent: () => this.#changes === begun,
    };
    return new Advice(access, agent, state);
  }

  /** Returns the first rows of events as objects; all numbers are exact below 2**53. */
  #rows(count) {
    const values = [...this.#view("rows").subarray(0, count * COLUMNS.length)].map(Number);
    return Array.from({ length: count }, (_, row) => {
      const numbers = COLUMNS.map((column, place) => [column, values[row * COLUMNS.length + place]]);
      return { ...Object.fromEntries(numbers), kind: this.#game.kinds[values[row * COLUMNS.length]] };
    });
  }

  get #start() {
    if (this.#at === null) throw new RangeError("Expected a session in use, not one that was freed.");
    return this.#at;
  }

  #view(name) {
    return this.#game.view(this.#start, this.#fields[name]);
  }

  #call(name, expected, given, ...args) {
    // a module takes other numbers as ones of 32 bits that they are not
    const whole = args.every((value) => typeof value === "bigint" || (value | 0) === value);
    const result = whole ? this.#game.exports[name](this.#start, ...args) : -1;
    if (result < 0) throw new RangeError(`Expected ${expected}, not ${given}.`);
    return result;
  }
}

function align(address) {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT;
}
