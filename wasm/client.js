// The page's side of worker.js: every answer is a promise, rejected with the worker's sentence.

export class GameWorker {
  #port;
  #waiting = new Map();
  #asked = 0;

  /** Loads a game in a worker, or at the other end of a message port. */
  static async connect(port, { module, description, networks = {} }) {
    const connected = new GameWorker(port);
    await connected.ask("load", [module, description]);
    for (const [name, bytes] of Object.entries(networks)) await connected.ask("network", [name, bytes]);
    return connected;
  }

  constructor(port) {
    this.#port = port;
    port.onmessage = ({ data: { id, value, error, progress } }) => {
      const { resolve, reject, tell } = this.#waiting.get(id);
      if (progress !== undefined) {
        tell(progress);
        return;
      }
      this.#waiting.delete(id);
      if (error) reject(Object.assign(new Error(error.message), { name: error.name }));
      else resolve(value);
    };
  }

  ask(name, args, tell = () => {}, signal = null) {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, tell });
      this.#port.postMessage({ id, name, args });
      signal?.addEventListener("abort", () => this.#waiting.has(id) && this.ask("cancel", [id]), { once: true });
    });
  }

  async session(settings = {}) {
    return new RemoteSession(this, await this.ask("session", [settings]));
  }

  /** Advice on a snapshot, of a session here or in another worker; `tell` gets the values as they sharpen. */
  advise(snapshot, { signal, ...settings } = {}, tell = () => {}) {
    return this.ask("advise", [snapshot, settings], tell, signal);
  }
}

/** A session in a worker. */
export class RemoteSession {
  #worker;
  #number;

  constructor(worker, number) {
    this.#worker = worker;
    this.#number = number;
  }

  begin = (...args) => this.#call("begin", args);
  step = (...args) => this.#call("step", args);
  undo = (...args) => this.#call("undo", args);
  record = (...args) => this.#call("record", args);
  snapshot = () => this.#call("snapshot", []);
  decide = (player, state = 0n) => this.#worker.ask("decide", [this.#number, player, state]);
  /** Seat to act, legal actions, plies …, and the table as `seat` may know it; null: all of it. */
  state = (seat = null) => this.#worker.ask("state", [this.#number, seat]);
  free = () => this.#worker.ask("free", [this.#number]);

  #call(method, args) {
    return this.#worker.ask("call", [this.#number, method, args]);
  }
}
