// A table as the server sends it: the picture of its painter, the words, the legal moves.

import { AdvicePanel } from "./advice.js";
import { fill, make, shownNames, showSvg, svgImage } from "./dom.js";
import { ReviewPanel } from "./review.js";
import { WatchPanel } from "./watch.js";

const WIDE = matchMedia("(min-width: 48rem)");
/** Whether the cards of the picture are large enough for fingers. */

export class TablePage {
  /** Shows a table in `main` until `signal`; `send(type, values)` sends a message, and `open(text)` opens records as a replay. */
  constructor(main, texts, send, open, signal) {
    this.open = open;
    this.texts = texts;
    this.send = send;
    this.view = null;
    this.announced = 0;
    this.byKeyboard = false;
    this.size = [1, 1]; // of the picture, in its own units
    WIDE.addEventListener("change", () => this.view && this.showMoves(this.view.moves), { signal });
    this.parts = {
      title: make("h1"),
      turn: make("p", { class: "turn" }),
      picture: svgImage(texts.picture, signal),
      cards: make("div", { class: "cards", role: "group", "aria-label": texts.cards, onkeydown: (event) => this.arrow(event) }),
      noPicture: make("p", { class: "hint" }),
      problem: make("p", { id: "problem", role: "alert" }),
      moves: make("div", { id: "moves", class: "moves", role: "group", "aria-label": texts.moves, onkeydown: (event) => this.arrow(event) }),
      next: make("button", { class: "main", type: "button", onclick: () => send("deal", { number: this.view.number }) }, texts.next_round),
      record: make("button", { type: "button", onclick: () => send("record") }, texts.download),
      replay: make("button", { type: "button", onclick: () => this.askReplay() }, texts.replay),
      events: make("ol", { class: "events", tabindex: 0, "aria-label": texts.events }),
      settled: make("section", { class: "card" }),
      standings: make("section", { class: "card" }),
      watch: make("section", { class: "card" }),
      rules: make("div", { class: "rules" }),
    };
    this.advice = new AdvicePanel(texts, send, signal);
    this.review = new ReviewPanel(texts, send, signal);
    const { parts } = this;
    main.replaceChildren(
      parts.title,
      make("div", { class: "table" },
        make("div", {}, parts.turn, make("div", { class: "board" }, parts.picture, parts.cards), parts.noPicture, parts.problem, parts.moves,
          make("p", { class: "buttons" }, parts.next, parts.record, parts.replay), parts.settled, parts.standings, parts.watch),
        make("aside", {}, make("h2", {}, texts.events), parts.events,
          make("details", { ontoggle: () => send("rules") }, make("summary", {}, texts.rules), parts.rules))),
    );
    parts.moves.after(this.advice.element);
    parts.settled.before(this.review.element);
  }

  /** Shows what the server has sent. */
  show(view) {
    const { parts, texts } = this;
    const first = this.view === null;
    this.view = view;
    const names = shownNames(view, texts);
    parts.title.textContent = `${view.game} · ${view.preset}`;
    parts.turn.textContent = this.turn(view, names);
    parts.turn.dataset.state = view.over ? "over" : view.round_over ? "between" : view.moves.length ? "mine" : "others";
    parts.problem.textContent = "";
    this.showPicture(view.picture);
    this.showMoves(view.moves);
    const player = view.seat !== null;
    parts.next.hidden = !(player && view.round_over && !view.over);
    parts.record.hidden = parts.replay.hidden = view.records === 0;
    this.showEvents(view, names);
    this.showSettled(view);
    this.showStandings(view, names);
    parts.watch.hidden = view.watch === null;
    if (view.watch) (this.watch ??= new WatchPanel(parts.watch, texts, this.send)).show(view.watch);
    this.announce(view, names, first);
    this.advice.show(view);
    this.review.show(view);
    if (!parts.next.hidden && this.byKeyboard) parts.next.focus();
  }

  turn(view, names) {
    if (view.over) return this.texts.match_over;
    if (view.round_over) return this.texts.round_over;
    if (view.turn === view.seat) return view.moves.length ? this.texts.your_turn : this.texts.you_are_forced;
    return fill(this.texts.turn_of, { name: names[view.turn] });
  }

  showPicture(svg) {
    const { picture, noPicture } = this.parts;
    picture.hidden = svg === null;
    noPicture.textContent = svg === null ? this.texts.no_picture : "";
    if (svg === null || svg === this.svg) return;
    this.svg = svg;
    const root = showSvg(picture, svg, this.texts.picture);
    this.size = ["width", "height"].map((name) => Number(root.getAttribute(name)));
  }

  /** Shows a button for each move: on its cards in the picture, where these are large enough, and else below. */
  showMoves(moves) {
    const { number, cards } = this.view;
    const onCards = [], below = [];
    for (const [action, text] of moves) {
      const places = WIDE.matches ? cards.filter((card) => card[0] === action) : [];
      const click = (event) => this.play(event, number, action);
      for (const place of places) onCards.push([place[1], cardButton(place, text, click, this.size)]);
      if (!places.length) below.push(make("button", { type: "button", class: text.length > 14 ? "move long" : "move", "data-action": action, onclick: click }, ...suits(text)));
    }
    onCards.sort(([one], [other]) => one - other); // from left to right, as each card lies on the one before
    this.parts.cards.replaceChildren(...onCards.map(([, button]) => button));
    this.parts.cards.hidden = !onCards.length;
    this.parts.moves.replaceChildren(...below);
    this.parts.moves.hidden = !below.length;
    if (moves.length && this.byKeyboard) this.buttons()[0].focus();
  }

  buttons() {
    return [...this.parts.cards.children, ...this.parts.moves.children];
  }

  play(event, number, action) {
    this.byKeyboard = event.detail === 0; // a click without a pointer
    for (const button of this.buttons()) button.disabled = true;
    this.send("play", { number, action });
  }

  arrow(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = this.buttons();
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    event.preventDefault();
    next?.focus();
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
    const parts = [...(first ? view.begun : []), ...(first ? said.slice(-3) : said), ...view.settled, this.parts.turn.textContent];
    if (view.number > this.announced || first) document.getElementById("live").replaceChildren(...parts.map((text) => make("p", {}, text)));
    this.announced = view.number;
  }

  /** Shows a message on a position: advice, or a part of a review. */
  study(message) {
    (this.view?.over ? this.review : this.advice).hear(message);
  }

  refused(text) {
    this.advice.values.status.textContent = "";
    this.review.refused();
    this.parts.problem.textContent = text;
    this.watch?.forget();
    if (this.view) this.showMoves(this.view.moves);
  }

  /** Notes that the connection is new: what was sent on the last one may be lost. */
  reconnected() {
    this.watch?.forget();
  }

  showRules(text) {
    this.parts.rules.replaceChildren(...text.split("\n").filter(Boolean).map((line) => make("p", {}, line)));
  }

  askReplay() {
    this.replays = true;
    this.send("record");
  }

  download(text) {
    if (this.replays) {
      this.replays = false;
      return this.open(text);
    }
    const link = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    const anchor = make("a", { href: link, download: "nainjaune.jsonl" });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(link), 1000);
  }
}

/** Returns a button over a card of the picture, whose place is given as in the painter's `OwnCard`. */
function cardButton([action, x, y, width, height, degrees], text, onclick, [wide, high]) {
  const button = make("button", { type: "button", class: "move on-card", "data-action": action, "aria-label": text, title: text, onclick });
  Object.assign(button.style, {
    left: `${(100 * x) / wide}%`, top: `${(100 * y) / high}%`, width: `${(100 * width) / wide}%`, height: `${(100 * height) / high}%`,
    transform: `rotate(${degrees}deg)`,
  });
  return button;
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

/** Returns a text with the red suits in elements of their own. */
function suits(text) {
  return text.split(/((?:[0-9AJQKVDRT]{1,2})?[♥♦])/u).map((part) => (/[♥♦]/u.test(part) ? make("span", { class: "red" }, part) : part));
}
