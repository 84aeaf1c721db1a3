// What every connection of the page has: a greeting for what is shown, after which nothing is heard of what was shown before.

export class Greetings {
  /** `heard(message)` is called for every message, `changed(state)` for "connecting", "connected" and "lost". */
  constructor(heard, changed) {
    this.heard = heard;
    this.changed = changed;
    this.hello = null;
    this.greetings = 0;
    this.greeted = false; // whether the last greeting was answered: until then messages are of an earlier one
  }

  /** Leaves what is shown: nothing is sent, and nothing of it heard, until `greet` is called. */
  leave() {
    this.hello = null;
    this.greetings += 1;
    this.greeted = false;
  }

  /** Sends a greeting, with `more` values, unless what is shown was left. */
  sendHello(more = {}) {
    if (this.hello === null) return;
    this.greeted = false;
    this.greetings += 1;
    this.send("hello", { language: this.hello.language, greeting: this.greetings, ...more });
  }
}
