// One WebSocket that comes back by itself. Every message carries the token of the page's address.

import { Greetings } from "./greetings.js";
import { storage } from "./storage.js";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8000;
const LASTING = new Set(["made", "opened", "film"]);
/** Messages that are heard whenever they come; all others only if they are of the last greeting. */

export class Connection extends Greetings {
  constructor(heard, changed) {
    super(heard, changed);
    this.wait = FIRST_WAIT;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.socket === null && this.hello) this.open();
    });
    this.socket = null;
  }

  /** The token of the host's page, where this browser has it; null otherwise. */
  get home() {
    return storage.get("host");
  }

  set home(token) {
    storage.set("host", token);
  }

  /** Begins, or begins anew, with the token and language of `hello`. */
  greet(hello) {
    this.hello = hello;
    if (this.socket === null) this.open();
    else this.sendHello();
  }

  hear(message) {
    if (message.type === "greeted") this.greeted = message.greeting === this.greetings;
    else if (this.greeted || LASTING.has(message.type)) this.heard(message);
  }

  open() {
    clearTimeout(this.timer);
    this.changed("connecting");
    const address = new URL("ws", import.meta.url);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.changed("connected");
      this.sendHello();
    });
    socket.addEventListener("message", (event) => this.hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      this.socket = null;
      this.changed("lost");
      if (document.hidden) return; // it comes back when somebody looks
      this.timer = setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    });
  }

  send(type, values = {}) {
    if (this.hello === null || this.socket === null || this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(JSON.stringify({ type, token: this.hello.token, ...values }));
  }
}
