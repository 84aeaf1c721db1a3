// A table that is played on a WebAssembly session: its plies in order, and what a viewer is sent, as `serve`'s live_table.py and views.py.

import { formatRecord } from "../wasm/record.js";
import { stateOfSeed } from "./random.js";
import { minus } from "./text.js";

export const DEAL = -1; // among the plies of a table: the next round is dealt
const OPTIONS = { whole_match: 0, skip_forced: 0, observe: 0 };

/** A message that has changed nothing, by the name of its text. */
export class Refusal extends Error {}

/** The rules of a table, which is played on a session of the game `kind`. */
export class Rules {
  constructor(kind, session, { preset, players }) {
    const { knobs, unit } = kind.module.description;
    Object.assign(this, { preset, players, session, unit, knobs: session.rules, events: kind.setup.events });
    this.changed = knobs.filter((knob) => knob.default[preset] !== session.rules[knob.name]).map(({ name }) => name);
    this.kinds = Object.fromEntries(knobs.map(({ name, kind: of }) => [name, of]));
  }

  /** Returns the first numbers of a list, one a seat. */
  seats(values) {
    return [...values].slice(0, this.players);
  }
}

export class LiveTable {
  /** `settings`: game, preset, players, knobs, names, agents (null: a person), rounds (null: a match), seed, every_ply, advice. */
  constructor(kind, settings) {
    this.kind = kind;
    this.settings = settings;
    const { preset, players, knobs } = settings;
    this.session = kind.module.session({ preset, players, knobs, options: OPTIONS });
    this.rules = new Rules(kind, this.session, settings);
    this.plies = []; // with deals
    this.rounds = 0; // that are over
    this.totals = Array(players).fill(0);
    this.decided = []; // the number of plies before each decision of a person in this round
    this.finished = []; // the matches, or single rounds, that are over: the state of the generator, and the plies
    this.begin(stateOfSeed(BigInt(settings.seed)));
  }

  /** Gives the memory of the table back, which is used no more. */
  close() {
    this.session.free();
  }

  /** Starts a match, dealt from a generator with `state`. */
  begin(state) {
    this.state = state;
    this.session.begin(state);
    this.open();
  }

  /** Opens the round that was dealt. */
  open() {
    const opening = this.session.open();
    this.table = this.session.table;
    this.match = new this.kind.Match(this.rules, this.table, opening);
    this.first = this.number + 1; // the number of the round's first ply
  }

  /** The number of the last ply or deal: every change adds one. */
  get number() {
    return this.plies.length;
  }

  get roundOver() {
    return this.table.stage !== 0;
  }

  get matchOver() {
    return this.roundOver && (this.settings.rounds !== null || this.table.stage === 2);
  }

  /** Whether everything is played. */
  get over() {
    return this.settings.rounds === null ? this.matchOver : this.roundOver && this.rounds === this.settings.rounds;
  }

  get seat() {
    return this.table.seat;
  }

  get legal() {
    return this.session.legal;
  }

  get needsDecision() {
    return this.match.needsDecision(this.table, this.legal);
  }

  get persons() {
    return this.settings.agents.flatMap((agent, seat) => (agent === null ? [seat] : []));
  }

  get personsTurn() {
    return !this.roundOver && this.settings.agents[this.seat] === null && (this.settings.every_ply || this.needsDecision);
  }

  /** Whether the next ply is an agent's or a forced one. */
  get goesByItself() {
    return !this.roundOver && !this.personsTurn;
  }

  /** Makes the plies of a table that goes on; throws an `Error` where one is illegal. */
  replay(plies) {
    for (const action of plies) {
      const isAllowed = action === DEAL ? this.roundOver && !this.over : !this.roundOver && this.legal.includes(action);
      if (!isAllowed) throw new Error(`The table cannot go on: its ply ${this.number + 1} is illegal when it is repeated.`);
      this.apply(action);
    }
  }

  /** Makes a person's ply. */
  play(seat, action) {
    if (!this.personsTurn || this.seat !== seat) throw new Refusal("not_your_turn");
    if (!this.legal.includes(action)) throw new Refusal("illegal");
    this.apply(action);
  }

  /** Deals the next round. */
  deal() {
    if (!this.roundOver || this.over) throw new Refusal("no_deal");
    this.apply(DEAL);
  }

  /** How many plies stay where the person's last decision of the round is taken back; null: there is none, or the round is over. */
  get numberToUndo() {
    return this.roundOver || this.persons.length !== 1 ? null : (this.decided.at(-1) ?? null);
  }

  apply(action) {
    if (action === DEAL) this.dealNext();
    else this.makePly(action);
  }

  dealNext() {
    const { matchOver } = this;
    this.decided = [];
    this.plies.push(DEAL);
    if (matchOver) {
      this.begin(this.table.rng);
      return;
    }
    this.session.deal();
    this.open();
  }

  makePly(action) {
    if (this.personsTurn && this.legal.length > 1) this.decided.push(this.number);
    this.match.ply(this.session.tell(action));
    this.table = this.session.table;
    this.plies.push(action);
    if (!this.roundOver) return;
    this.rounds += 1;
    this.match.payoffs(this.table).forEach((payoff, seat) => (this.totals[seat] += payoff));
    if (this.matchOver) this.finished.push({ state: this.state, plies: this.session.plies.map(([, each]) => each) });
  }

  /** Returns what `seat` may see, null a spectator; `you` is the seat of the reader. Nothing else of a table leaves the worker. */
  view(seat, language, you) {
    const { settings, table, roundOver } = this;
    const speaker = this.speaker(seat, language, you);
    const isMine = seat !== null && this.personsTurn && this.seat === seat;
    const amounts = (numbers) => numbers.map((number) => minus(speaker.amount(number)));
    return {
      type: "view",
      number: this.number,
      game: this.kind.setup.title,
      drawing: this.kind.name,
      preset: settings.preset,
      names: speaker.seats.names,
      persons: this.persons,
      agents: settings.agents,
      said: settings.agents.map(() => null), // agents of the page say nothing
      seat,
      advice: settings.advice && seat !== null,
      turn: roundOver ? null : this.seat,
      ...this.shown(seat, isMine),
      begun: speaker.begun(),
      events: speaker.heard.map((said, place) => ({ number: this.first + place, said })),
      moves: isMine ? this.legal.map((action) => [action, speaker.echo(action, table)]) : [],
      settled: roundOver ? speaker.settled(table) : [],
      payoffs: roundOver ? amounts(this.match.payoffs(table)) : [],
      totals: amounts(this.totals),
      standings: this.over ? this.totals.map((total) => 1 + this.totals.filter((other) => other > total).length) : [],
      rounds: this.rounds,
      round_over: roundOver,
      over: this.over,
      records: this.over ? this.finished.length : 0,
      undo: seat !== null && this.numberToUndo !== null,
      absent: [],
    };
  }

  speaker(seat, language, you) {
    return new this.kind.Speaker(this.match, this.kind.texts[language], seat, this.settings.names, you);
  }

  /** Returns the scene and which cards may be played. When the round is over everybody sees all cards; until then a spectator sees
   * all of them if only agents play, and else what everybody sees. */
  shown(seat, isMine) {
    const { Match } = this.kind;
    const viewer = this.roundOver ? null : seat;
    const isPublic = viewer === null && !this.roundOver && this.persons.length > 0;
    const isRedacted = viewer !== null || isPublic;
    const scene = this.match.scene(isRedacted ? this.session.view(viewer ?? 0) : this.table, isPublic ? 0 : viewer);
    return {
      scene: isPublic ? Match.publicScene(scene) : scene,
      playable: isMine ? Match.playable(scene, this.legal) : [],
      picture: null,
    };
  }

  /** Returns a summary of the rules. */
  rulesText(seat, language) {
    return this.speaker(seat, language, seat).rules();
  }

  /** Returns the records of what is over, a line each, as `nainjaune` reads them. */
  records() {
    const { preset, players, knobs, rounds, names, seed } = this.settings;
    const session = this.kind.module.session({ preset, players, knobs, options: { ...OPTIONS, whole_match: rounds === null ? 1 : 0 } });
    const lines = this.finished.map(({ state, plies }) => {
      session.begin(state);
      for (const action of plies) session.step(action);
      return `${formatRecord(session.record({ agents: names, seed: BigInt(seed) }))}\n`;
    });
    session.free();
    return lines;
  }
}
