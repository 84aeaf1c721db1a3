import type { Snapshot } from "./client.js";
import type { MatchRecord, Replay } from "./record.js";

export { formatRecord, parseRecord } from "./record.js";

/** What `nainjaune wasm` writes beside a module: see `describe` in nainjaune_env/build/wasm.py. */
export interface Field {
  offset: number;
  /** A NumPy name such as "int16", or "table". */
  dtype: string;
  shape: number[];
}

export interface Description {
  game: string;
  title: string;
  version: string;
  unit: string;
  actions: string[];
  default_preset: string;
  default_players: number;
  /** Packed rules by preset and number of seats. */
  presets: Record<string, Record<string, number[]>>;
  knobs: Knob[];
  /** Names of the packed rules. */
  rules: string[];
  /** Sentences for knobs that do not go together. */
  refusals: string[];
  /** The knobs that make a match one round. */
  single_round: Partial<Rules>;
  options: Options;
  /** The heuristics by name, with a line on each. */
  agents: Record<string, { number: number; about: string }>;
  /** The best of them. */
  yardstick: string;
  observation: Record<string, { size: number; fingerprint: string }>;
  start_values: Record<string, number>;
  /** The kinds of events by name, with their numbers: see `Session.tell`. */
  events: Record<string, number>;
  plies: number;
  worlds: number;
  session: { size: number; fields: Record<string, Field> };
  table: { size: number; fields: Record<string, Field> };
}

/** A house rule. */
export interface Knob {
  name: string;
  kind: "word" | "number" | "flag";
  /** Of a word. */
  choices?: string[];
  /** Of a number. */
  low?: number;
  high?: number;
  /** Whether it may be null. */
  optional: boolean;
  /** For an extension, a knob of no rule sheet: the value that records leave out. */
  omitted?: KnobValue;
  meaning: string;
  article: string;
  /** By preset. */
  default: Record<string, KnobValue>;
}

export type KnobValue = number | string | boolean | null;
/** Every knob and its value. */
export type Rules = Record<string, KnobValue>;

/** Options of an episode, 0 or 1. */
export interface Options {
  /** 1: an episode is a match; 0: a round. */
  whole_match: number;
  carry: number;
  /** 1: plies without a choice are made at once. */
  skip_forced: number;
  autoreset: number;
  observe: number;
}

export type FieldValue = number | bigint | Array<number | bigint>;
/** The fields of a table by name (`TABLE_FIELDS` of the game); 64-bit ones are `bigint`. */
export type Table = Record<string, FieldValue>;

/**
 * What happens at a ply, or at a deal. `nainjaune_env/games/…/events.py` says what the columns of each kind hold; one that the
 * viewer may not know is -2.
 */
export interface EventRow {
  /** A name in `Description.events`. */
  kind: string;
  /** -1: none. */
  seat: number;
  other: number;
  card: number;
  pile: number;
  paid: number;
  due: number;
  /** A set of cards as bits, say: up to 52 of them, so it may need `BigInt` to be taken apart. */
  cards: number;
}

/** A viewer of events from whom nothing is hidden. */
export const OMNISCIENT: -1;
/** A viewer of events who sees what every seat sees. */
export const PUBLIC: -2;

/** A compiled game; sessions share its memory. */
export class Game {
  /** Compiles `module`. Throws an `Error` if it was built by another version than its description. */
  static load(module: BufferSource | Response | Promise<Response>, description: Description): Promise<Game>;
  readonly description: Description;
  /** Loads the file of a network (`nainjaune network`). Throws a `RangeError` if it is damaged or for another game or version. */
  network(bytes: ArrayBuffer | ArrayBufferView): Network;
  /** Throws a `RangeError` for a preset, a number of seats or a knob that is not allowed, and for knobs that do not go together. */
  session(settings?: { preset?: string; players?: number; knobs?: Partial<Rules>; options?: Partial<Options> }): Session;
  /** Verifies a record, to play it back. Throws a `RangeError` that says where it is damaged. */
  replay(record: MatchRecord): Replay;
}

/** One table and its log. */
export class Session {
  readonly game: Game;
  readonly preset: string;
  readonly rules: Rules;
  readonly players: number;
  readonly options: Options;
  /** The packed rules by name: numbers that follow from the knobs, too. */
  readonly numbers: Record<string, bigint>;
  /** Begins an episode; the generator of its deals has the 64-bit `state`. */
  begin(state: bigint, startValues?: number[]): void;
  /** Takes an action for the seat to act. Throws a `RangeError` if it is illegal; then nothing has changed. */
  step(action: number): void;
  /** Deals the next round of a match that goes on, where an episode is a round (`whole_match` 0). Throws a `RangeError` elsewhere. */
  deal(): void;
  /** Plays the log again up to that number of plies, and forgets later ones. */
  undo(plies: number): void;
  /** The seat to act. */
  readonly seat: number;
  /** The numbers of the legal actions; none at the end of the episode. */
  readonly legal: number[];
  readonly done: boolean;
  /** What each seat has gained since the last step. */
  readonly reward: number[];
  /** The seat and the action of each ply, forced ones too. */
  readonly plies: Array<[seat: number, action: number]>;
  /** The whole table, hidden cards too. */
  readonly table: Table;
  /** The table as `seat` may know it. */
  view(seat: number): Table;
  /** A copy of what `seat` observes. */
  observation(seat: number): Uint8Array;
  /**
   * The action that a player takes for the seat to act: a heuristic by its name, or a network. `random` draws from a generator
   * with the 64-bit `state`, by default 0.
   */
  decide(player: string | Network, state?: bigint): number;
  /** The action of a network, its logits of all actions, and the value of the rest of the round in the game's unit. */
  evaluate(network: Network): { action: number; logits: number[]; value: number };
  /** Begins advice for the seat to act. Each action is played on to the end of the round by the heuristic `player` in all seats. */
  advise(settings?: { player?: string; state?: bigint }): Advice;
  /** The record of the finished episode; `agents` are names in seat order. */
  record(settings: { agents: string[]; seed?: number | bigint | null }): MatchRecord;
  /** The table as the seat to act may know it, for a session elsewhere (`place(snapshot.table)`). */
  snapshot(): Snapshot;
  /** The table with which the episode began, as bytes for `place`. */
  readonly opening: Uint8Array;
  /** A field of the table as a view of memory, which a later session or network may invalidate. */
  field(name: string): ArrayLike<number> | ArrayLike<bigint>;
  /**
   * Begins an episode with a table, for `ply`: bytes of one that occurred, or the fields that chance sets, all others 0; then the
   * round begins. Nothing is checked: the table must be one that can occur.
   */
  place(table: Uint8Array | Record<string, ArrayLike<number> | ArrayLike<bigint>>): void;
  /** Makes one ply and nothing else: no forced one after it, no deal. At the end of a round nothing is legal. */
  ply(action: number): void;
  /** Begins to tell of the round that was just dealt, before its first ply, and returns the events of the deal. */
  open(settings?: { viewer?: number }): EventRow[];
  /**
   * Makes one ply as `ply` does, and returns what happens, also as `events`; all plies of the round are then made so. `shown` is
   * the number of the card where several are one action; by default it is drawn, from a generator that depends on the deal.
   * `viewer` is a seat, `PUBLIC`, or by default `OMNISCIENT`.
   */
  tell(action: number, settings?: { shown?: number; viewer?: number }): EventRow[];
  /** The events of the last ply that was told. */
  readonly events: EventRow[];
  /** Returns the events of a ply as another viewer may know them. */
  hide(rows: EventRow[], viewer: number): EventRow[];
  /** What `tell` knows of the round beside the table, in Nain Jaune the real hands: sets of cards by seat. */
  readonly memory: bigint[];
  /** Deals the next round. */
  deal(): void;
  /** Gives the session's memory to the next one; it must not be used any more. */
  free(): void;
  /** Tables that the seat to act cannot tell from this one, drawn from a generator with the 64-bit `state`. */
  resample(state: bigint, count: number): Table[];
}

/** What an action brings the seat to act from now to the end of the round, over determinizations. */
export interface ActionValue {
  action: number;
  /** Determinizations. */
  count: number;
  mean: number;
  /** The standard error of the mean: 1.96 of them are the half-width of a 95 % interval. */
  error: number;
  /** How far the mean is below that of the best action, in the determinizations of both. */
  behind: number;
  behindError: number;
}

/** The values of the actions of one decision; they are lost when the session changes or begins other advice. */
export class Advice {
  readonly actions: number[];
  /** Tries `actions`, by default all, in `count` further determinizations. */
  add(count: number, actions?: number[]): void;
  /** From the best action to the worst. */
  readonly values: ActionValue[];
  /** The larger half-width of two 95 % intervals: of the best action's mean, and of its lead over actions that may be as good. */
  readonly halfWidth: number;
  /** Adds `step` determinizations at a time until `halfWidth` is at most `error`, or there are `most`; yields the values. */
  sharpen(settings?: { error?: number; most?: number; step?: number }): Generator<ActionValue[]>;
}

/** A trained network for tables of one number of seats. */
export class Network {
  readonly header: {
    name: string;
    game: string;
    preset: string;
    rules: Rules;
    players: number;
    layout: string;
    sizes: number[];
    payoff_scale: number;
  };
}
