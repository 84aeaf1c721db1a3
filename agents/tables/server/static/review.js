// The review of a table at which everything is played: decisions by their cost, and their positions on the table's board.

import { ValueTable } from "./advice.js";
import { choice, fill, make, shownNames } from "./dom.js";

export class ReviewPanel {
  /** `send(type, values)` sends a message, until `signal`; positions are shown on `board`, which `restore()` gives back. */
  constructor(texts, send, signal, board, restore) {
    this.texts = texts;
    this.send = send;
    this.board = board;
    this.restore = restore;
    this.decision = this.values = null;
    this.chosen = new Map(); // what has been guessed, by position
    this.parts = {
      review: make("button", { class: "main", type: "button", onclick: () => this.begin() }, texts.review),
      title: make("h2", { tabindex: -1 }, texts.review_of),
      whose: make("span"),
      guess: make("input", { type: "checkbox", name: "guess", onchange: () => this.guessChanged() }),
      progress: make("progress", { max: 1, value: 0, "aria-label": texts.computing }),
      status: make("p", { class: "hint", role: "status" }),
      position: make("section", { class: "position card", hidden: true }),
      list: make("ol", { class: "decisions" }),
      basis: make("p", { class: "hint" }),
    };
    const { parts } = this;
    this.panel = make("section", { class: "card", hidden: true, id: "review" }, parts.title,
      make("p", { class: "buttons" }, parts.whose, make("label", { class: "switch" }, parts.guess, make("span", {}, texts.guess_first))),
      parts.progress, parts.status, parts.list, parts.basis);
    this.position = parts.position;
    this.element = make("section", { hidden: true },
      make("p", { class: "buttons" },
        parts.review,
        make("button", { type: "button", onclick: () => send("play_on", { number: 0, seat: this.seat }) }, texts.again)),
      this.panel);
    document.addEventListener("visibilitychange", () => this.element.isConnected && !this.panel.hidden && this.look(), { signal });
  }

  /** Notes a view of the table. */
  show(view) {
    this.element.hidden = !view.over;
    this.parts.review.hidden = !view.review;
    if (this.view === undefined) this.seat = view.seat ?? 0;
    const back = view.over && this.view !== undefined && !this.panel.hidden; // after a reconnection
    this.view = view;
    if (back) this.look();
  }

  begin() {
    this.panel.hidden = false;
    const seats = shownNames(this.view, this.texts).map((name, seat) => [seat, name]);
    const field = choice(seats, this.seat, () => {
      this.seat = Number(field.value);
      this.compute();
    });
    field.name = "whose";
    this.parts.whose.replaceChildren(make("label", {}, `${this.texts.decisions_of} `, field));
    this.compute();
    this.parts.title.focus();
  }

  compute() {
    const { list, basis, progress, status } = this.parts;
    list.replaceChildren();
    basis.textContent = "";
    this.review = null;
    this.close();
    progress.hidden = false;
    progress.value = 0;
    status.textContent = this.texts.computing;
    this.send("review", { seat: this.seat });
  }

  /** Goes on where it was when nobody looked, or stops. */
  look() {
    if (document.hidden) this.send("stop");
    else if (this.review === null) this.send("review", { seat: this.seat });
    else if (this.decision) this.send("position", { number: this.decision.number });
  }

  hear(message) {
    if (message.type === "progress") Object.assign(this.parts.progress, { max: message.of, value: message.done });
    else if (message.type === "review") this.showReview(message);
    else if (this.decision?.number !== message.number) return;
    else if (message.type === "position") this.showPosition(message);
    else if (this.values && !this.isHidden(message)) this.values.show(message);
  }

  refused() {
    this.parts.progress.hidden = true;
    this.parts.status.textContent = "";
  }

  showReview(review) {
    if (review.seat !== this.seat) return;
    this.review = review;
    const { texts, parts } = this;
    parts.progress.hidden = true;
    parts.status.textContent = this.total();
    parts.basis.textContent = fill(texts.review_basis, review);
    this.showList();
  }

  /** Says what the decisions have cost in all, unless it would help to guess. */
  total() {
    const { review, texts } = this;
    const values = { ...review, name: shownNames(this.view, texts)[review.seat], decisions: review.decisions.length };
    const lost = review.seat === this.view.seat ? texts.review_total_you : texts.review_total;
    return fill(this.parts.guess.checked ? texts.review_count : lost, values);
  }

  isHidden(decision) {
    return this.parts.guess.checked && !this.chosen.has(decision.number);
  }

  guessChanged() {
    if (!this.review) return;
    this.parts.status.textContent = this.total();
    this.showList();
    if (this.decision) this.open(this.decision);
  }

  /** Shows the decisions by their cost, unless that would help to guess: then in the order of play. */
  showList() {
    const decisions = [...this.review.decisions];
    if (this.parts.guess.checked) decisions.sort((one, other) => one.number - other.number);
    this.parts.list.replaceChildren(...decisions.map((decision) => {
      const button = make("button", { type: "button", "data-number": decision.number, onclick: () => this.open(decision) }, fill(this.texts.decision, decision));
      return make("li", {}, button, ...(this.isHidden(decision) ? [] : [make("span", {}, this.answer(decision))]));
    }));
  }

  answer(decision) {
    return fill(decision.same ? this.texts.no_cost : this.texts.cost, { ...decision, unit: this.review.unit });
  }

  /** Whether the board shows a position of the review. */
  get isOpen() {
    return this.decision !== null;
  }

  close() {
    const wasOpen = this.isOpen;
    this.decision = this.values = null;
    this.parts.position.hidden = true;
    if (wasOpen) this.restore();
  }

  open(decision) {
    this.decision = decision;
    this.send("position", { number: decision.number });
  }

  showPosition(view) {
    const { texts, decision, parts } = this;
    const hidden = this.isHidden(decision);
    const title = make("h2", { tabindex: -1 }, fill(texts.decision, decision));
    const { status } = this.board;
    status.textContent = hidden ? texts.guess : title.textContent;
    status.dataset.state = hidden ? "mine" : "review";
    this.board.show(hidden ? view : { ...view, moves: [], playable: [] }, (action, text) => this.choose(decision, text, view), { jump: true, quiet: true });
    this.values = new ValueTable(texts);
    const guessed = this.chosen.get(decision.number);
    const answer = [
      ...(guessed ? [make("p", {}, fill(texts.you_chose, { name: guessed }))] : []),
      make("p", { class: "answer" }, this.answer(decision)), ...(decision.reason ? [make("p", {}, decision.reason)] : []), this.values.element,
    ];
    parts.position.replaceChildren(title, ...(hidden ? [make("p", {}, texts.guess)] : answer),
      make("p", { class: "buttons" },
        make("button", { type: "button", onclick: () => this.send("play_on", { number: decision.number, seat: view.turn }) }, texts.play_on),
        make("button", { type: "button", onclick: () => this.close() }, texts.close_position)));
    parts.position.hidden = false;
    this.board.element.scrollIntoView({ block: "nearest" });
    title.focus({ preventScroll: true });
    if (hidden) return;
    this.values.wait();
    this.send("advise", { number: decision.number });
  }

  choose(decision, text, view) {
    this.chosen.set(decision.number, text);
    this.showList();
    this.showPosition(view);
  }
}
