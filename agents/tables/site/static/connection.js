// The page's connection on the static site: a worker in place of a server. What only this site has goes to `site`.

import { Greetings } from "./greetings.js";
import { storage } from "./storage.js";

const OWN = new Set(["round", "edges", "guide", "puzzle"]);
const LASTING = new Set(["made", "opened"]);
/** Messages that are heard whenever they come; all others only if they are of the last greeting. */

/** Sends an event for every message that the page itself does not know, and "greet" when the page shows something else. */
export const site = new EventTarget();

let sender = null;

/** Sends a message as the page does. */
export const send = (type, values) => sender?.send(type, values);

export class Connection extends Greetings {
  constructor(heard, changed) {
    super(heard, changed);
    sender = this;
    this.home = "-"; // everybody is the host of their browser
    this.worker = new Worker(new URL("offline/worker.js", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.hear(data));
  }

  /** Begins, or begins anew, with the token and language of `hello`. */
  greet(hello) {
    this.hello = hello;
    this.changed("connected");
    site.dispatchEvent(new CustomEvent("greet", { detail: hello }));
    this.sendHello({ name: storage.get("name") });
  }

  hear(message) {
    if (message.type === "greeted") this.greeted = message.greeting === this.greetings;
    else if (!this.greeted && !LASTING.has(message.type)) return;
    else if (OWN.has(message.type)) site.dispatchEvent(new CustomEvent(message.type, { detail: message }));
    else this.heard(message);
  }

  send(type, values = {}) {
    if (this.hello !== null) this.worker.postMessage({ type, token: this.hello.token, ...values });
  }
}
