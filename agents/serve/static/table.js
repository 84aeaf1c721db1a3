// A table as the server sends it: the picture of its painter, the words, the legal moves.

import { fill, make } from "./dom.js";
import { WatchPanel } from "./watch.js";

export class TablePage {
  /** Shows a table in `main`; `send(type, values)` sends a message, and `open(text)` opens records as a replay. */
  constructor(main, texts, send, open) {
    this.open = open;
    this.texts = texts;
    this.send = send;
    this.view = null;
    this.announced = 0;
    this.byKeyboard = false;
    this.parts = {
      title: make("h1"),
      turn: make("p", { class: "turn" }),
      picture: make("img", { class: "picture", alt: texts.picture }),
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
    const { parts } = this;
    main.replaceChildren(
      parts.title,
      make("div", { class: "table" },
        make("div", {}, parts.turn, parts.picture, parts.noPicture, parts.problem, parts.moves,
          make("p", { class: "buttons" }, parts.next, parts.record, parts.replay), parts.settled, parts.standings, parts.watch),
        make("aside", {}, make("h2", {}, texts.events), parts.events,
          make("details", { ontoggle: () => send("rules") }, make("summary", {}, texts.rules), parts.rules))),
    );
  }

  /** Shows what the server has sent. */
  show(view) {
    const { parts, texts } = this;
    const first = this.view === null;
    this.view = view;
    const names = view.names.map((name, seat) => (seat === view.seat ? `${name} (${texts.you})` : name));
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
    if (!parts.next.hidden && this.byKeyboard) parts.next.focus();
  }

  turn(view, names) {
    if (view.over) return this.texts.match_over;
    if (view.round_over) return this.texts.round_over;
    return view.moves.length ? this.texts.your_turn : fill(this.texts.turn_of, { name: names[view.turn] });
  }

  showPicture(svg) {
    const { picture, noPicture } = this.parts;
    picture.hidden = svg === null;
    noPicture.textContent = svg === null ? this.texts.no_picture : "";
    if (svg === null || svg === this.svg) return;
    this.svg = svg;
    const link = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    const old = picture.src;
    picture.onload = () => old && URL.revokeObjectURL(old);
    picture.src = link;
    picture.alt = new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("title")?.textContent ?? this.texts.picture;
  }

  showMoves(moves) {
    const { number } = this.view;
    const buttons = moves.map(([action, text]) =>
      make("button", { type: "button", class: text.length > 14 ? "move long" : "move", "data-action": action, onclick: (event) => this.play(event, number, action) },
        ...suits(text)));
    this.parts.moves.replaceChildren(...buttons);
    this.parts.moves.hidden = !buttons.length;
    if (buttons.length && this.byKeyboard) buttons[0].focus();
  }

  play(event, number, action) {
    this.byKeyboard = event.detail === 0; // a click without a pointer
    for (const button of this.parts.moves.children) button.disabled = true;
    this.send("play", { number, action });
  }

  arrow(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = [...this.parts.moves.children];
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    event.preventDefault();
    next?.focus();
  }

  showEvents(view, names) {
    const lines = [...view.begun.map((text) => make("li", { class: "deal" }, text)), ...eventLines(view, names)
      .map(([seat, text]) => make("li", {}, seat === null ? null : make("b", {}, `${names[seat]}: `), ...suits(text)))];
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
    const said = eventLines({ events: fresh }, names).map(([seat, text]) => (seat === null ? text : `${names[seat]}: ${text}`));
    const parts = [...(first ? view.begun : []), ...(first ? said.slice(-3) : said), ...view.settled, this.parts.turn.textContent];
    if (view.number > this.announced || first) document.getElementById("live").replaceChildren(...parts.map((text) => make("p", {}, text)));
    this.announced = view.number;
  }

  refused(text) {
    this.parts.problem.textContent = text;
    if (this.view) this.showMoves(this.view.moves);
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

/** Returns the events as [seat or null, text]; those of a seat that follow each other are one line. */
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
