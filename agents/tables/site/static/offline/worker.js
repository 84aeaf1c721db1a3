// Plays the tables of the page: the only part of the site that knows all cards.

import { load, read } from "./files.js";
import { Host } from "./host.js";
import { Database } from "../storage.js";

/** The worker that computes advice, which begins with the first one. */
class Adviser {
  constructor(heard) {
    this.heard = heard;
    this.worker = null;
  }

  start(job) {
    if (this.worker === null) {
      this.worker = new Worker(new URL("advice_worker.js", import.meta.url), { type: "module" });
      this.worker.addEventListener("message", ({ data }) => this.heard(data));
    }
    this.worker.postMessage(job);
  }

  stop() {
    this.worker?.postMessage(null);
  }
}

const wait = (seconds) => new Promise((wake) => setTimeout(wake, 1000 * seconds));
const host = new Database().open().then((store) => new Host({
  post: (message) => postMessage(message), read, load, wait, store, adviser: (heard) => new Adviser(heard),
}));

addEventListener("message", async ({ data }) => (await host).receive(data));
