/** What `nainjaune wasm` writes beside a module: see `describe` in nainjaune_env/engine/modules.py. */
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
  options: Options;
  observation: Record<string, { size: number; fingerprint: string }>;
  start_values: Record<string, number>;
  plies: number;
  worlds: number;
  session: { size: number; fields: Record<string, Field> };
  table: { size: number; fields: Record<string, Field> };
}

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

/** A compiled game; sessions share its memory. */
export class Game {
  /** Compiles `module`. Throws an `Error` if it was built by another version than its description. */
  static load(module: BufferSource | Response | Promise<Response>, description: Description): Promise<Game>;
  readonly description: Description;
  /** Throws a `RangeError` for an unknown preset, and for a number of seats that the preset does not have. */
  session(settings?: { preset?: string; players?: number; options?: Partial<Options> }): Session;
}

/** One table and its log. */
export class Session {
  readonly players: number;
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
  /** Tables that the seat to act cannot tell from this one, drawn from a generator with the 64-bit `state`. */
  resample(state: bigint, count: number): Table[];
}
