// A table as it is played: the board, the words, and what can be done beside it.

import { AdvicePanel } from "./advice.js";
import { Board, suits } from "./board.js";
import { fill, make, shownNames } from "./dom.js";
import { keepResult } from "./results.js";
import { ReviewPanel } from "./review.js";
import { sounds } from "./scene/sounds.js";
import { TurnSign } from "./turn_sign.js";
import { WatchPanel } from "./watch.js";

export class TablePage {
  /** Shows a table in `main` until `signal`; `send(type, values)` sends a message, and `open(text)` opens records as a replay. */
  constructor(main, texts, send, open, signal) {
    this.open = open;
    this.texts = texts;
    this.send = send;
    this.view = null;
    this.announced = 0;
    this.board = new Board(texts, signal);
    this.sign = new TurnSign(texts, signal);
    const sound = make("button", { type: "button", class: "quiet-button", "aria-pressed": String(sounds.on), onclick: () => {
      sounds.set(!sounds.on);
      sound.setAttribute("aria-pressed", String(sounds.on));
    } }, texts.sound);
    const press = (text, onclick, className = null) => make("button", { type: "button", class: className, onclick }, text);
    this.parts = {
      title: make("h1"),
      problem: make("p", { id: "problem", role: "alert" }),
      next: press(texts.next_round, () => send("deal", { number: this.view.number }), "main"),
      undo: press(texts.undo, () => send("undo", { number: this.view.number })),
      rematch: press(texts.rematch, () => send("rematch"), "main"),
      record: press(texts.download, () => this.askRecord(false)),
      replay: press(texts.replay, () => this.askRecord(true)),
      events: make("ol", { class: "events", tabindex: 0, "aria-label": texts.events }),
      waiting: make("p", { class: "hint", role: "status" }),
      looksOn: make("p", { class: "hint", hidden: true }, texts.no_picture),
      settled: make("section", { class: "card" }),
      standings: make("section", { class: "card" }),
      watch: make("section", { class: "card" }),
      rules: make("div", { class: "rules" }),
    };
    this.advice = new AdvicePanel(texts, send, signal);
    this.review = new ReviewPanel(texts, send, signal, this.board, () => this.showBoard(true));
    const { parts } = this;
    main.replaceChildren(
      make("div", { class: "table" },
        make("div", { class: "play" },
          parts.title, this.board.element, parts.problem, make("p", { class: "buttons" }, parts.next, parts.rematch, parts.undo, parts.record, parts.replay), parts.waiting, parts.looksOn, this.review.position),
        make("aside", {}, parts.standings, parts.settled, this.review.element, this.advice.element, parts.watch,
          make("section", {}, make("h2", {}, texts.events), parts.events),
          make("details", { ontoggle: () => send("rules") }, make("summary", {}, texts.rules), parts.rules),
          make("p", { class: "buttons" }, sound, this.sign.button))),
    );
  }

  /** Shows what the server has sent. */
  show(view) {
    const { parts, texts } = this;
    const first = this.view === null;
    if (view.number < this.announced) this.announced = view.number; // a ply was taken back
    const wasMine = this.view?.moves.length > 0;
    this.view = view;
    const names = shownNames(view, texts);
    parts.title.textContent = `${view.game} · ${view.preset}`;
    parts.problem.textContent = "";
    if (!this.review.isOpen) this.showBoard(first);
    const player = view.seat !== null;
    parts.next.hidden = !(player && view.round_over && !view.over);
    parts.undo.hidden = !view.undo;
    parts.rematch.hidden = !(player && view.over);
    parts.record.hidden = parts.replay.hidden = view.records === 0;
    this.showEvents(view, names);
    this.showSettled(view);
    this.showStandings(view, names);
    this.showWaiting(view);
    parts.looksOn.hidden = player || view.round_over || !view.persons.length;
    parts.watch.hidden = view.watch === null;
    if (view.watch) (this.watch ??= new WatchPanel(parts.watch, texts, this.send)).show(view.watch);
    this.announce(view, names, first);
    this.advice.show(view);
    this.review.show(view);
    this.sign.show(view.moves.length > 0);
    if (view.moves.length && !wasMine && !first) sounds.play("turn");
    if (view.over) keepResult(view);
    if (!parts.next.hidden && this.board.byKeyboard) parts.next.focus();
  }

  /** Shows the position of the last view on the board; with `jump` nothing travels there. */
  showBoard(jump) {
    const { view, board } = this;
    board.status.textContent = this.turn(view, shownNames(view, this.texts));
    board.status.dataset.state = view.over ? "over" : view.round_over ? "between" : view.moves.length ? "mine" : "others";
    board.show(view, (action) => this.send("play", { number: view.number, action }), { jump });
  }

  turn(view, names) {
    if (view.status) return view.status; // of a puzzle that is answered
    if (view.over) return this.texts.match_over;
    if (view.round_over) return this.texts.round_over;
    if (view.turn === view.seat) return view.moves.length ? this.texts.your_turn : this.texts.you_are_forced;
    return fill(this.texts.turn_of, { name: names[view.turn] });
  }

  showWaiting(view) {
    this.parts.waiting.textContent = view.waiting ? fill(view.waiting.seconds === null ? this.texts.waiting : this.texts.waiting_until, { name: view.names[view.turn], ...view.waiting }) : "";
  }

  showEvents(view, names) {
    const lines = [...view.begun.map((text) => make("li", { class: "deal" }, text)), ...eventLines(view, names)
      .map(([seat, text]) => make("li", {}, seat === null ? null : make("b", {}, `${names[seat]}${this.texts.colon}`), ...suits(text)))];
    this.parts.events.replaceChildren(...lines);
    this.parts.events.scrollTop = this.parts.events.scrollHeight;
  }

  showSettled(view) {
    this.parts.settled.hidden = !view.settled.length;
    this.parts.settled.replaceChildren(make("h2", {}, this.texts.settlement),
      make("ul", { class: "plain" }, view.settled.map((line) => make("li", {}, ...suits(line.trim())))));
  }

  showStandings(view, names) {
    const { texts } = this;
    this.parts.standings.hidden = !view.round_over;
    const heads = [...(view.over ? [texts.place] : []), texts.player, texts.this_round, texts.total];
    const order = names.map((_, seat) => seat);
    if (view.over) order.sort((a, b) => view.standings[a] - view.standings[b]);
    const row = (seat) => make("tr", {}, view.over ? make("td", {}, `${view.standings[seat]}.`) : null, make("th", { scope: "row" }, names[seat]),
      make("td", {}, view.payoffs[seat] ?? ""), make("td", {}, view.totals[seat]));
    this.parts.standings.replaceChildren(make("h2", {}, texts.standings), make("table", {},
      make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, order.map(row))));
  }

  /** Says in the live region what has happened since the last view. */
  announce(view, names, first) {
    const fresh = view.events.filter((ply) => ply.number > this.announced);
    const said = eventLines({ events: fresh }, names).map(([seat, text]) => (seat === null ? text : `${names[seat]}${this.texts.colon}${text}`));
    const parts = [...(first ? view.begun : []), ...(first ? said.slice(-3) : said), ...view.settled, this.turn(view, names)];
    if (view.number > this.announced || first) document.getElementById("live").replaceChildren(...parts.map((text) => make("p", {}, text)));
    this.announced = view.number;
  }

  /** Shows a message on a position: advice, or a part of a review. */
  study(message) {
    (this.view?.over ? this.review : this.advice).hear(message);
  }

  refused(text) {
    this.advice.clear();
    this.review.refused();
    this.parts.problem.textContent = text;
    this.watch?.forget();
    if (this.view && !this.review.isOpen) this.showBoard(true);
  }

  /** Notes that the connection is new: what was sent on the last one may be lost. */
  reconnected() {
    this.watch?.forget();
  }

  showRules(text) {
    this.parts.rules.replaceChildren(...text.split("\n").filter(Boolean).map((line) => make("p", {}, line)));
  }

  /** Asks for the records, which are saved, or open as a replay. */
  askRecord(replays) {
    this.replays = replays;
    this.send("record");
  }

  download(text) {
    if (this.replays) return this.open(text);
    const link = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    const anchor = make("a", { href: link, download: "nainjaune.jsonl" });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(link), 1000);
  }
}

/** Returns the events as [seat or null, text]; consecutive events of a seat are one line. */
function eventLines(view, names) {
  const lines = [];
  for (const { said } of view.events) {
    for (const [seat, text] of said) {
      const last = lines.at(-1);
      if (seat !== null && last && last[0] === seat) last[1] += ` ${text}`;
      else lines.push([seat, text]);
    }
  }
  return lines;
}
