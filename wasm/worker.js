// A game in a Web Worker: `new Worker("worker.js", { type: "module" })`, and `GameWorker` of client.js on the page. Two workers,
// one for play and one for advice, keep a table answering while advice sharpens.

import { Game } from "./index.js";

/** Answers messages `{ id, name, args }` that come through `port` with `{ id, value }`, `{ id, error }` or `{ id, progress }`. */
export function serve(port) {
  const sessions = new Map();
  const networks = new Map();
  const cancelled = new Set();
  let game = null;
  let made = 0;

  const calls = {
    async load(module, description) {
      game = await Game.load(module, description);
    },
    network(name, bytes) {
      networks.set(name, game.network(bytes));
    },
    session(settings) {
      made += 1;
      sessions.set(made, game.session(settings));
      return made;
    },
    state: (number, seat) => stateOf(sessions.get(number), seat),
    call: (number, method, args) => sessions.get(number)[method](...args),
    decide: (number, player, state) => sessions.get(number).decide(networks.get(player) ?? player, state),
    free(number) {
      sessions.get(number).free();
      sessions.delete(number);
    },
    async advise({ table, ...settings }, { player, state, ...precision }, id, tell) {
      const session = game.session(settings);
      try {
        session.place(table);
        for (const values of session.advise({ player, state }).sharpen(precision)) {
          tell(values);
          await pause();
          if (cancelled.delete(id)) return;
        }
      } finally {
        session.free();
      }
    },
    cancel(id) {
      cancelled.add(id);
    },
  };

  port.onmessage = async ({ data: { id, name, args } }) => {
    try {
      const value = await calls[name](...args, id, (progress) => port.postMessage({ id, progress }));
      port.postMessage({ id, value });
    } catch (error) {
      port.postMessage({ id, error: { name: error.name, message: error.message } });
    }
  };
}

function stateOf(session, seat) {
  const { legal, done, reward, plies, players } = session;
  return { seat: session.seat, legal, done, reward, plies, players, table: seat === null ? session.table : session.view(seat) };
}

/** Lets messages in. */
function pause() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

if (typeof WorkerGlobalScope !== "undefined" && globalThis instanceof WorkerGlobalScope) serve(globalThis);
