// One WebSocket that comes back by itself. Every message carries the token of the page's address.

const FIRST_WAIT = 250;
const LONGEST_WAIT = 8000;
const LASTING = new Set(["made", "opened", "film"]);
/** Messages that are heard whenever they come; all others only if they are of the last greeting. */

export class Connection {
  /** `heard(message)` is called for every message, `changed(state)` for "connecting", "connected" and "lost". */
  constructor(heard, changed) {
    this.heard = heard;
    this.changed = changed;
    this.wait = FIRST_WAIT;
    this.hello = null;
    this.greetings = 0;
    this.greeted = false; // whether the server has answered the last greeting: until then its messages are of an earlier one
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.socket === null && this.hello) this.open();
    });
    this.socket = null;
  }

  /** Leaves what is shown: nothing is sent, and nothing of it heard, until `greet` is called. */
  leave() {
    this.hello = null;
    this.greetings += 1;
    this.greeted = false;
  }

  /** Begins, or begins anew, with the token and language of `hello`. */
  greet(hello) {
    this.hello = hello;
    if (this.socket === null) this.open();
    else this.sendHello();
  }

  sendHello() {
    if (this.hello === null) return;
    this.greeted = false;
    this.greetings += 1;
    this.send("hello", { language: this.hello.language, greeting: this.greetings });
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
