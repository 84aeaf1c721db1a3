// Advice beside the table, getting sharper while somebody looks: the best move in a line, and on demand the value of each move.

import { fill, make } from "./dom.js";

/** A switch, and the values that the server sends while it is on. */
export class AdvicePanel {
  /** `send(type, values)` sends a message, until `signal`. */
  constructor(texts, send, signal) {
    this.texts = texts;
    this.send = send;
    this.number = null; // of the position to be advised on; null: none
    this.values = new ValueTable(texts);
    this.box = make("input", { type: "checkbox", name: "advice", onchange: () => this.ask() });
    this.hint = make("p", { class: "best" });
    this.details = make("details", { hidden: true }, make("summary", {}, texts.all_values), this.values.element);
    this.element = make("section", { class: "advice card", hidden: true },
      make("label", { class: "switch" }, this.box, make("span", {}, texts.advice)), this.hint, this.details);
    document.addEventListener("visibilitychange", () => this.element.isConnected && this.ask(), { signal });
  }

  /** Notes the position of a view. */
  show(view) {
    this.element.hidden = !view.advice || view.over;
    this.number = view.moves.length ? view.number : null;
    this.asked = false; // the server has stopped, since the table has moved on
    this.ask();
  }

  /** Asks for advice where it is wanted, or to stop. */
  ask() {
    const wanted = this.box.checked && this.number !== null && !document.hidden && !this.element.hidden;
    if (wanted) {
      this.send("advise", { number: this.number });
      this.values.wait();
      this.hint.textContent = this.texts.computing;
    } else {
      if (this.asked) this.send("stop");
      this.clear();
    }
    this.details.hidden = !wanted;
    this.asked = wanted;
  }

  clear() {
    this.values.clear();
    this.hint.textContent = "";
  }

  /** Shows a message with advice, if it is on this position. */
  hear(message) {
    if (!this.asked || message.number !== this.number) return;
    const [{ name, value }] = message.moves;
    this.hint.textContent = fill(this.texts.best_move, { name, value, unit: message.unit });
    this.values.show(message);
  }
}

/** The values of the moves of a position. */
export class ValueTable {
  constructor(texts) {
    this.texts = texts;
    this.status = make("p", { class: "hint", role: "status" });
    this.content = make("div", { class: "values" });
    this.element = make("div", {}, this.status, this.content);
  }

  clear() {
    this.status.textContent = "";
    this.content.replaceChildren();
  }

  wait() {
    this.content.replaceChildren();
    this.status.textContent = this.texts.computing;
  }

  show(message) {
    const { texts } = this;
    this.status.textContent = message.done ? texts.computed : texts.computing;
    const heads = [texts.move, message.unit, texts.behind].map((head) => make("th", { scope: "col" }, head));
    const rows = message.moves.flatMap((move) => [
      make("tr", { "data-action": move.action }, make("th", { scope: "row" }, `${move.mark} ${move.name}`), make("td", {}, move.value), make("td", {}, move.behind)),
      ...(move.reason ? [make("tr", { class: "reason" }, make("td", { colspan: 3 }, move.reason))] : []),
    ]);
    this.content.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)),
      make("p", { class: "hint" }, message.basis));
  }
}
