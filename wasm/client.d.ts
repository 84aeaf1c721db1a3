import type { ActionValue, Description, Options, Rules, Table } from "./index.js";
import type { MatchRecord } from "./record.js";

/** What `postMessage` and `onmessage` have in common: a Worker, or a port of a MessageChannel. */
export interface Port {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => unknown) | null;
}

/** A table as its seat to act may know it, for advice elsewhere. */
export interface Snapshot {
  preset: string;
  players: number;
  knobs: Rules;
  options: Options;
  table: Uint8Array;
}

export interface State {
  seat: number;
  legal: number[];
  done: boolean;
  reward: number[];
  plies: Array<[seat: number, action: number]>;
  players: number;
  table: Table;
}

/** A game in a worker (worker.js). Promises are rejected with the worker's sentence. */
export class GameWorker {
  static connect(
    port: Port,
    game: { module: BufferSource; description: Description; networks?: Record<string, BufferSource> },
  ): Promise<GameWorker>;
  session(settings?: {
    preset?: string;
    players?: number;
    knobs?: Partial<Rules>;
    options?: Partial<Options>;
  }): Promise<RemoteSession>;
  /** Advice on a snapshot, which a session here or in another worker made. `tell` gets the values as they sharpen. */
  advise(
    snapshot: Snapshot,
    settings?: { player?: string; state?: bigint; error?: number; most?: number; step?: number; signal?: AbortSignal },
    tell?: (values: ActionValue[]) => void,
  ): Promise<void>;
}

/** A session in a worker: see `Session`. */
export class RemoteSession {
  begin(state: bigint, startValues?: number[]): Promise<void>;
  step(action: number): Promise<void>;
  undo(plies: number): Promise<void>;
  /** The action of a heuristic, or of a network by the name that `connect` gave it. */
  decide(player: string, state?: bigint): Promise<number>;
  /** The table as `seat` may know it; null: all of it. */
  state(seat?: number | null): Promise<State>;
  record(settings: { agents: string[]; seed?: number | bigint | null }): Promise<MatchRecord>;
  snapshot(): Promise<Snapshot>;
  free(): Promise<void>;
}
