// The tables of a browser: answers the messages of the page as `nainjaune serve` does, for one reader.

import { STORES, Unreadable } from "../storage.js";
import { parseRecord } from "../wasm/record.js";
import { compare, summary } from "./edge.js";
import { loadGame } from "./games.js";
import { lesson } from "./lesson.js";
import { DEAL, LiveTable, Refusal } from "./live_table.js";
import { agentsAction, loadNetwork, offered, reference } from "./players.js";
import { PuzzleTable } from "./puzzles.js";
import { replayData } from "./replay.js";
import { tableAt } from "./review.js";
import { randomSeed, readSettings, SettingsError } from "./settings.js";
import { format, minus } from "./text.js";

const BETWEEN_ROUNDS = 4; // where only agents play, the next round is dealt after this number of pauses
const BETWEEN = " · "; // the parts of the key of an edge
const HOME = "-";
const DAY = "day";
const LEARN = "learn";
const PUZZLE = /^puzzles?(?:-(\d{1,4}))?$/;

export class Host {
  /**
   * `post(message)` sends a message to the page; `read(path)` gives the JSON value of a file, `load(path)` its bytes or a response;
   * `wait(seconds)` is a pause, `now()` a Date. `adviser(heard)` computes advice elsewhere, see worker.js.
   */
  constructor({ post, read, load, store, wait, adviser, now = () => new Date() }) {
    Object.assign(this, { post, read, load, store, wait, now });
    this.adviser = adviser((message) => this.hearAdvice(message));
    store.refused = () => this.post({ type: "stored", works: false });
    this.kinds = new Map();
    this.entry = null; // the table that is looked at, as the store has it
    this.live = null;
    this.visits = 0; // counts the tables that were looked at, so that what is left does not go on
    this.last = Promise.resolve();
  }

  /** Answers a message after those before it. */
  receive(message) {
    this.last = this.last.then(() => this.answer(message));
    return this.last;
  }

  async answer({ type, ...message }) {
    try {
      this.site ??= await this.read("offline/site.json");
      await (this[`on_${type}`] ?? this.unknown).call(this, message);
    } catch (error) {
      this.refuse(type, error);
    }
  }

  /** Tells the page why a message of a kind, or null for play that goes on by itself, has failed. */
  refuse(of, error) {
    const refusals = this.site?.texts[this.language ?? "en"].refusals;
    let text = error.message; // without the texts of the site, or if it is a sentence already
    if (error instanceof Unreadable) this.sendStored([error]);
    if (error instanceof Unreadable) text = refusals.unreadable;
    else if (error instanceof Refusal) text = refusals[error.message];
    else if (refusals && !(error instanceof SettingsError)) text = format(refusals.failed, { reason: error.message });
    this.post({ type: "refused", of, text });
  }

  unknown() {
    throw new Refusal("not_here");
  }

  get texts() {
    return this.site.texts[this.language ?? "en"];
  }

  async puzzles() {
    this.allPuzzles ??= await this.read("offline/puzzles.json");
    return this.allPuzzles;
  }

  async kind(name) {
    try {
      if (!this.kinds.has(name)) this.kinds.set(name, await loadGame(name, this.read, this.load));
    } catch (error) {
      throw error instanceof WebAssembly.CompileError ? new Refusal("no_wasm") : error;
    }
    return this.kinds.get(name);
  }

  async on_hello({ token, language, greeting, name }) {
    this.leave();
    this.language = language;
    this.reader = name || this.texts.page.guest;
    this.post({ type: "greeted", greeting });
    if (token === HOME) {
      this.post({ type: "host" });
      await this.sendEdges();
      return this.sendStored(await this.unreadable());
    }
    this.sendStored([]);
    const record = await this.stored("records", token);
    if (record) return this.lookBack(record);
    if (PUZZLE.test(token)) return this.puzzle(token);
    if (token === LEARN) await this.store.delete("tables", token); // a lesson begins anew
    const entry = (await this.stored("tables", token)) ?? (await this.special(token));
    if (!entry) throw new Refusal("unknown_token");
    await this.look(entry);
  }

  /** Returns an entry of the browser; undefined if there is none. Throws `Unreadable`, also where nothing here can use it. */
  async stored(store, id) {
    const entry = await this.store.get(store, id);
    const reason = entry && (await this.reasonAgainst(store, entry));
    if (reason) throw new Unreadable(store, id, { reason });
    return entry;
  }

  /** Returns the entries of a store that can be used, and the others as `Unreadable`. */
  async allStored(store) {
    const { entries, unreadable } = await this.store.all(store);
    const reasons = [];
    for (const entry of entries) reasons.push(await this.reasonAgainst(store, entry));
    const useless = entries.flatMap(({ id }, place) => (reasons[place] ? [new Unreadable(store, id, { reason: reasons[place] })] : []));
    return { entries: entries.filter((_, place) => !reasons[place]), unreadable: [...unreadable, ...useless] };
  }

  /** Returns why nothing here can use an entry whose values are right, as a sentence; null if it can be used. */
  async reasonAgainst(store, entry) {
    const { refusals } = this.texts;
    const noGame = (game) => (this.site.games.includes(game) ? null : format(refusals.no_game, { game }));
    if (store === "rounds") return noGame(entry.key.split(BETWEEN)[0]);
    if (store === "puzzles") return entry.id <= (await this.puzzles()).length ? null : refusals.no_puzzle;
    try {
      if (store === "records") await this.recordOf(entry.text);
      if (store === "tables") await this.checkSettings(entry.settings);
    } catch (error) {
      if (error instanceof SettingsError) return error.message;
      throw error;
    }
    return null;
  }

  /** Throws `SettingsError` where the site cannot play the stored settings of a table. */
  async checkSettings({ names, agents, ...settings }) {
    const { refusals } = this.texts;
    const kinds = this.site.games.includes(settings.game) ? [await this.kind(settings.game)] : [];
    const seats = agents.map((agent, seat) => (agent === null ? { person: names[seat] } : { agent, name: names[seat] }));
    for (const { length } of [names, agents]) {
      if (length !== settings.players) throw new SettingsError(format(refusals.no_seats, { players: settings.players, seats: length }));
    }
    readSettings({ ...settings, seats }, kinds, refusals);
  }

  /** Returns all that is stored and cannot be read. */
  async unreadable() {
    const stores = await Promise.all(Object.keys(STORES).map((store) => this.allStored(store)));
    return stores.flatMap(({ unreadable }) => unreadable);
  }

  /** Tells the page whether the browser stores what it is given, and what is `unreadable`, by what people call it. */
  sendStored(unreadable) {
    const { page } = this.texts;
    const groups = new Map();
    for (const { store, id, problem } of unreadable) {
      const title = format(page[`stored_${store}`], { id: String(id) });
      const group = groups.get(title) ?? { title, store, ids: [], problems: [] };
      group.ids.push(id);
      group.problems.push(problem);
      groups.set(title, group);
    }
    if (this.store.problem) groups.set(null, { title: page.stored_database, store: null, ids: [], problems: [this.store.problem] });
    this.post({ type: "stored", works: this.store.works, unreadable: [...groups.values()] });
  }

  /** Deletes entries of a store that cannot be read; null: the whole database. */
  async on_forget({ store, ids }) {
    if (store === null) await this.store.reset();
    for (const id of ids) await this.store.delete(store, id);
    this.post({ type: "forgotten" });
  }

  /** Shows a puzzle by its number, from 1; without one the first that was not solved. */
  async puzzle(token) {
    const puzzles = await this.puzzles();
    const solved = new Set((await this.allStored("puzzles")).entries.map(({ id }) => id));
    const wanted = Number(PUZZLE.exec(token)[1] ?? 0) || puzzles.findIndex((_, place) => !solved.has(place + 1)) + 1 || 1;
    const puzzle = puzzles[wanted - 1];
    if (!puzzle) throw new Refusal("unknown_token");
    this.live = new PuzzleTable(await this.kind(puzzle.record.game), puzzle, this.reader, this.site.names[puzzle.record.game]);
    this.entry = { id: token, settings: this.live.settings, plies: [], puzzle: { number: wanted, of: puzzles.length, solved: solved.size, theme: puzzle.titles[this.language] } };
    await this.show();
    this.post({ type: "puzzle", ...this.entry.puzzle, answer: null });
  }

  /** Tells a reader who has guessed how good their move is. */
  async guess(action) {
    const { live, entry } = this;
    if (!live.legal.includes(action)) throw new Refusal("illegal");
    const answer = live.judge(action, this.language);
    if (answer.right) await this.store.put("puzzles", { id: entry.puzzle.number });
    const solved = (await this.allStored("puzzles")).entries.length;
    this.post({ ...live.view(this.seat, this.language, this.seat), review: false, watch: null, waiting: null, moves: [], playable: [], status: format(this.texts.page.puzzle_done, { name: answer.chosen }) });
    this.post({ type: "puzzle", ...entry.puzzle, solved, answer });
  }

  /** Keeps a record that is right; the page then shows it by its token. */
  async on_replay({ record: text }) {
    await this.replayData(text);
    const id = newId();
    await this.store.put("records", { id, text });
    this.post({ type: "opened", token: id });
  }

  async lookBack({ id, text }) {
    try {
      this.post({ type: "replay", data: await this.replayData(text) });
    } catch (error) {
      throw error instanceof SettingsError ? new Unreadable("records", id, { reason: error.message }) : error;
    }
  }

  async replayData(text) {
    const record = this.recordOf(text);
    const kind = await this.kind(record.game);
    return sentences(() => replayData(kind, record, this.language, this.texts.replay));
  }

  recordOf(text) {
    const record = sentences(() => parseRecord(text));
    if (!this.site.games.includes(record?.game)) throw new SettingsError(format(this.texts.refusals.no_game, { game: record?.game }));
    return record;
  }

  leave() {
    this.adviser.stop();
    this.visits += 1;
    this.live?.close();
    this.live = this.entry = null;
  }

  async on_catalogue() {
    const kinds = await this.allKinds();
    const games = kinds.map((kind) => {
      const { preset, players } = kind.setup;
      return { ...kind.setup, agents: offered(kind, { preset, players, knobs: {} }) };
    });
    this.post({ type: "catalogue", games });
  }

  allKinds() {
    return Promise.all(this.site.games.map((name) => this.kind(name)));
  }

  async on_new({ table }) {
    const settings = readSettings(table, await this.allKinds(), this.texts.refusals);
    await this.sendMade(await this.add(settings));
  }

  /** Makes a table, which goes on after `plies`; returns it as the store has it. Only a table that is `fresh` counts for the edge. */
  async add(settings, { plies = [], id = newId(), fresh = true } = {}) {
    const entry = { id, version: this.site.version, made: Math.round(this.now() / 1000), settings, plies, helped: fresh ? null : 0 };
    await this.store.put("tables", entry);
    return entry;
  }

  async sendMade({ id, settings }) {
    this.post({ type: "made", table: id, links: linksOf(id, settings), title: await this.title(settings) });
  }

  async title({ game, preset }) {
    return `${(await this.kind(game)).setup.title} · ${preset}`;
  }

  async on_tables() {
    const entries = (await this.allStored("tables")).entries.sort((one, other) => other.made - one.made);
    const tables = entries.map(async ({ id, made, settings, helped }) => ({
      table: id, made, title: await this.title(settings), names: settings.names, further: helped === 0, links: linksOf(id, settings),
    }));
    this.post({ type: "tables", tables: await Promise.all(tables) });
  }

  async on_invite({ table }) {
    const entry = await this.stored("tables", table);
    if (!entry) throw new Refusal("no_table");
    await this.sendMade(entry);
  }

  async on_delete({ table }) {
    await this.store.delete("tables", table);
    await this.on_tables();
  }

  /** Returns the table of a token that is not of a stored one: the deal of the day, or the guided round; null for others. */
  async special(token) {
    if (token === DAY) return this.dealOfTheDay();
    return token === LEARN ? this.add(this.withReader(this.site.learn), { id: LEARN, fresh: false }) : null;
  }

  /** The deal of the day: the same cards and players for everybody who looks on the same day of UTC. */
  async dealOfTheDay() {
    const day = this.now().toISOString().slice(0, 10);
    const id = `${DAY}-${day}`;
    return (await this.stored("tables", id)) ?? this.add({ ...this.withReader(this.site.day), seed: day.replaceAll("-", "") }, { id });
  }

  /** Returns settings in which the person has the reader's name. */
  withReader(settings) {
    return { ...settings, names: settings.names.map((name, seat) => (settings.agents[seat] === null ? this.reader : name)) };
  }

  /** Returns the name by which people know an agent. */
  named(game, agent) {
    return this.site.names[game][agent] ?? agent;
  }

  /** Shows a table from now on. One that is damaged stays stored. */
  async look(entry) {
    this.entry = entry;
    const kind = await this.kind(entry.settings.game);
    await loadNetwork(kind, entry.settings, this.load);
    try {
      this.live = new LiveTable(kind, entry.settings);
      this.live.replay(entry.plies);
    } catch (error) {
      this.leave();
      throw new Unreadable("tables", entry.id, { reason: error.message });
    }
    await this.show();
    this.goOn(this.visits);
  }

  get seat() {
    const seat = this.entry.settings.agents.indexOf(null);
    return seat < 0 ? null : seat;
  }

  /** Sends the table, and once a round is over the edge. */
  async show() {
    const { live, seat } = this;
    this.post({ ...live.view(seat, this.language, seat), review: live.over && !live.kind.Match.mustRemember(live.rules.knobs), watch: null, waiting: null, link: this.entry.id });
    if (this.entry.id === LEARN) this.post({ type: "guide", lines: lesson(live, seat, this.texts.guide, live.kind.texts[this.language].words) });
    else if (live.roundOver && seat !== null) await this.sendRound();
  }

  /** Makes a change and stores it before anybody sees it; where another tab has played since, shows that and returns false. */
  async change(make) {
    const stored = await this.store.get("tables", this.entry.id);
    if (stored && String(stored.plies) !== String(this.live.plies)) {
      this.leave();
      await this.look(stored);
      return false;
    }
    this.adviser.stop();
    make();
    this.entry.plies = this.live.plies;
    await this.store.put("tables", this.entry);
    await this.show();
    return true;
  }

  /** Makes the plies of agents and forced ones, up to a person's turn or the end. */
  async goOn(visit) {
    const { live } = this;
    while (this.visits === visit && live === this.live) {
      const deals = live.roundOver && !live.over && this.seat === null;
      if (!live.goesByItself && !deals) return;
      await this.wait(live.settings.pace * (deals ? BETWEEN_ROUNDS : 1));
      await (this.last = this.last.then(async () => {
        if (this.visits !== visit || live !== this.live) return;
        try {
          await this.change(() => live.apply(deals ? DEAL : agentsAction(live)));
        } catch (error) {
          this.visits += 1; // it does not go on until the table is opened again
          this.refuse(null, error);
        }
      }));
    }
  }

  /** Makes a person's change at the table after the ply `number`, and plays on. */
  async act(number, make) {
    if (!this.live) throw new Refusal("unknown_token");
    if (this.seat === null) throw new Refusal("not_player");
    if (number !== this.live.number) throw new Refusal("stale");
    if (!(await this.change(make))) throw new Refusal("stale");
    this.goOn(this.visits);
  }

  on_play({ number, action }) {
    if (this.entry?.puzzle) return this.guess(action);
    return this.act(number, () => this.live.play(this.seat, action));
  }

  on_deal({ number }) {
    return this.act(number, () => this.live.deal());
  }

  /** Takes back the person's last decision with all that followed; the round counts for no edge then. */
  on_undo({ number }) {
    return this.act(number, () => {
      const stays = this.live.numberToUndo;
      if (stays === null) throw new Refusal("no_undo");
      const again = new LiveTable(this.live.kind, this.entry.settings);
      again.replay(this.live.plies.slice(0, stays));
      this.live.close();
      this.live = again;
      this.visits += 1;
      this.help();
    });
  }

  /** Notes that the person was helped: from this round on the table counts for no edge. */
  help() {
    this.entry.helped ??= this.live.rounds;
  }

  /** Makes a table with the same seats and other cards. */
  async on_rematch() {
    if (!this.live?.over) throw new Refusal("not_over");
    const { id } = await this.add({ ...this.entry.settings, seed: randomSeed() });
    this.post({ type: "opened", token: id });
  }

  on_record() {
    if (!this.live?.over) throw new Refusal("no_record");
    this.post({ type: "record", text: this.live.records().join("") });
  }

  on_rules() {
    this.post({ type: "rules", text: this.live.rulesText(this.seat, this.language) });
  }

  async on_advise({ number }) {
    const { live } = this;
    if (live?.over) return this.study({ plies: this.playedTo(number) });
    if (!live?.settings.advice) throw new Refusal("no_advice");
    if (number !== live.number) throw new Refusal("stale");
    if (!live.personsTurn) throw new Refusal("not_your_turn");
    this.help();
    const stored = await this.store.get("tables", this.entry.id); // with plies of another tab, perhaps
    await this.store.put("tables", { ...this.entry, ...stored, helped: this.entry.helped });
    this.study({ plies: live.plies });
  }

  /** Begins a computation, whose messages follow. */
  study({ plies, reviewed = null }) {
    const { settings } = this.entry;
    if (this.live.kind.Match.mustRemember(this.live.rules.knobs)) throw new Refusal("must_remember");
    this.adviser.start({ settings, plies, reviewed, language: this.language });
  }

  on_review({ seat }) {
    if (!this.live?.over) throw new Refusal("not_over");
    this.study({ plies: this.live.plies, reviewed: seat });
  }

  /** Sends the position after some plies as its seat to act saw it. */
  on_position({ number }) {
    const { plies } = this.live;
    const live = tableAt(this.live.kind, this.entry.settings, this.playedTo(number));
    this.post({ ...live.view(live.seat, this.language, this.seat), type: "position", action: plies[number] });
    live.close();
  }

  /** Returns the plies before a ply of a table that is over, which is no deal. */
  playedTo(number) {
    if (!this.live?.over) throw new Refusal("not_over");
    const { plies } = this.live;
    if (!(number < plies.length) || plies[number] === DEAL) throw new Refusal("no_position");
    return plies.slice(0, number);
  }

  hearAdvice(message) {
    if (message.type === "failed") this.post({ type: "refused", of: "advise", text: format(this.texts.refusals.failed, message) });
    else if (this.live?.over || message.number === this.live?.number) this.post(message);
  }

  on_stop() {
    this.adviser.stop();
  }

  /** Makes a table of the first plies of this one, whose cards are known: it counts for no edge. */
  async on_play_on({ number, seat }) {
    if (!this.live?.over) throw new Refusal("not_over");
    const { settings, plies } = this.entry;
    const stand = reference(this.live.kind, settings);
    const agents = settings.agents.map((agent, other) => (other === seat ? null : (agent ?? stand)));
    const names = settings.names.map((name, other) => (other === seat ? this.reader : settings.agents[other] === null ? this.named(settings.game, stand) : name));
    const { id } = await this.add({ ...settings, agents, names, advice: true }, { plies: plies.slice(0, number), fresh: false });
    this.post({ type: "opened", token: id });
  }

  /** Sends what the person and the reference player have won in the round that is over, and the edge over all such rounds. */
  async sendRound() {
    const { live, entry, seat } = this;
    const round = live.rounds;
    const counts = entry.helped === null || round <= entry.helped;
    const result = compare(live, seat);
    const key = edgeKey(entry.settings);
    const id = `${entry.id} ${round}`;
    const isFirst = !(await this.store.has("rounds", id)); // a deal of the day is there again once its table is deleted
    if (counts && isFirst) await this.store.put("rounds", { id, key, ...result });
    const speaker = live.speaker(seat, this.language, seat);
    const amounts = { yours: minus(speaker.amount(result.yours)), reference: minus(speaker.amount(result.reference)) };
    const day = entry.id.startsWith(`${DAY}-`) && live.over ? entry.id.slice(DAY.length + 1) : null;
    const { entries } = await this.store.all("rounds");
    this.post({ type: "round", name: this.named(entry.settings.game, result.name), ...amounts, counts, edge: edgeOf(entries, key), day });
  }

  /** Sends the edges over all rules that were played. */
  async sendEdges() {
    const { entries } = await this.allStored("rounds"); // once: another tab may delete them
    const keys = [...new Set(entries.map((each) => each.key))];
    const titled = keys.map(async (key) => {
      const [game, preset, players, ...knobs] = key.split(BETWEEN);
      return { ...edgeOf(entries, key), title: [await this.title({ game, preset }), ...knobs].join(BETWEEN), players };
    });
    this.post({ type: "edges", edges: await Promise.all(titled) });
  }
}

/** Returns what `call` does; a `RangeError` of it becomes a `SettingsError`. */
function sentences(call) {
  try {
    return call();
  } catch (error) {
    throw error instanceof RangeError ? new SettingsError(error.message) : error;
  }
}

/** Returns the links of a table: that of its person, or of those who watch agents. */
function linksOf(token, { agents, names }) {
  const seat = agents.indexOf(null);
  return [seat < 0 ? { token, seat: null, name: null } : { token, seat, name: names[seat] }];
}

/** Returns the edge over the rounds under the same rules; null if there are none. */
function edgeOf(rounds, key) {
  const differences = rounds.filter((each) => each.key === key).map(({ yours, reference: other }) => yours - other);
  return differences.length ? { key, ...summary(differences) } : null;
}

/** Returns the rules of a table in short: edges under different rules are of different sizes. */
const edgeKey = ({ game, preset, players, knobs }) =>
  [game, preset, players, ...Object.entries(knobs).map(([name, value]) => `${name}=${value}`)].join(BETWEEN);

/** Returns a random name; `crypto.randomUUID` is not there without https. */
const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
