import type { Game, KnobValue, Session } from "./index.js";

/** A finished match; the keys after `agents` are the game's. */
export interface MatchRecord {
  format: "nainjaune-record";
  version: 1;
  game: string;
  preset: string;
  rules: Record<string, KnobValue>;
  players: number;
  seed: number | bigint | null;
  agents: string[];
  [key: string]: unknown;
}

/** The record as a line of text, without its end. */
export function formatRecord(record: MatchRecord): string;
/** The record in a line of text. Throws a `RangeError` where it is not JSON; `Game.replay` checks what it says. */
export function parseRecord(text: string): MatchRecord;

/** A verified record, played back. */
export class Replay {
  constructor(game: Game, record: MatchRecord);
  readonly record: MatchRecord;
  /** Where the replay stands. */
  readonly session: Session;
  readonly rounds: number;
  /** Plays a round, from 1: yields null when it is dealt, then each move after it is made. */
  round(number: number): Generator<[seat: number, move: string | number] | null>;
  /** Gives the session's memory back. */
  free(): void;
}
