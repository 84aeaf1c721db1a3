// Says that it is the reader's turn where they may not look: in the tab's title, and as a notification if they ask for it.

import { make } from "./dom.js";

export class TurnSign {
  /** Gives the title back at `signal`. */
  constructor(texts, signal) {
    this.texts = texts;
    this.mine = false;
    this.wanted = false;
    this.button = make("button", { type: "button", class: "quiet-button", "aria-pressed": "false", hidden: !("Notification" in window), onclick: () => this.ask() }, texts.notify);
    signal.addEventListener("abort", () => (document.title = texts.title));
  }

  async ask() {
    this.wanted = !this.wanted && (await Notification.requestPermission()) === "granted";
    this.button.setAttribute("aria-pressed", String(this.wanted));
  }

  show(mine) {
    const { texts } = this;
    document.title = mine ? `● ${texts.your_turn} · ${texts.title}` : texts.title;
    if (mine && !this.mine && this.wanted && document.hidden) new Notification(texts.your_turn, { tag: "turn" });
    this.mine = mine;
  }
}
