// A position on the page: the table that its game draws, the reader's cards and other moves as buttons. A game that the page does
// not draw has a picture instead.

import { make, shownNames, showSvg, svgImage } from "./dom.js";
import { loadStage } from "./scene/stage.js";

export class Board {
  /** Shows itself in `element` until `signal`. */
  constructor(texts, signal) {
    this.texts = texts;
    this.signal = signal;
    this.stage = null;
    this.loading = null; // the game whose stage is loading, or is loaded
    this.byKeyboard = false;
    const onkeydown = (event) => this.arrow(event);
    this.status = make("p", { class: "turn" });
    this.hand = make("div", { class: "cards", role: "group", "aria-label": texts.cards, onkeydown });
    this.moves = make("div", { id: "moves", class: "moves", role: "group", "aria-label": texts.moves, onkeydown });
    this.picture = svgImage(texts.picture, signal);
    this.turn = make("div", { class: "turn-row" }, this.status, this.moves);
    this.element = make("div", { class: "board" });
  }

  /**
   * Shows the position of a view, with buttons that call `play(action, text)`. With `jump` nothing travels from the last one;
   * with `quiet` no button takes the focus.
   */
  show(view, play, { jump = false, quiet = false } = {}) {
    this.view = view;
    const click = (event, action) => {
      this.byKeyboard = event.detail === 0; // a click without a pointer
      this.disable();
      play(action, view.moves.find(([each]) => each === action)[1]);
    };
    const said = new Map(view.moves);
    const onCards = new Map(view.picture === null ? view.playable.map(([action, card]) => [card, { action, text: said.get(action) }]) : []);
    const actions = new Set([...onCards.values()].map((move) => move.action));
    const drawn = () => !quiet && this.byKeyboard && view.moves.length && this.buttons()[0]?.focus();
    this.showMoves(view.moves.filter(([action]) => !actions.has(action)), click);
    if (view.picture !== null) return this.showPicture(view.picture, drawn);
    const about = {
      names: shownNames(view, this.texts), faces: view.names, levels: view.agents.map((agent, seat) => (view.absent?.includes(seat) ? { title: this.texts.away, style: "" } : this.level(view.drawing, agent))), seat: view.seat, said: view.said ?? [],
      texts: this.texts, moves: onCards, play: click, status: this.turn, hand: this.hand, drawn,
    };
    if (this.stage !== null && this.loading === view.drawing) return this.stage.show(view.scene, about, { jump });
    this.next = () => this.stage.show(view.scene, about, { jump: true });
    if (this.loading !== view.drawing) this.load(view.drawing);
  }

  async load(game) {
    this.loading = game;
    const stage = await loadStage(game, this.texts, this.signal);
    if (stage === null || this.signal.aborted || this.loading !== game) return;
    this.stage = stage;
    this.element.replaceChildren(stage.element);
    this.next();
  }

  showPicture(svg, drawn) {
    this.element.replaceChildren(this.picture, this.turn);
    if (svg !== this.svg) showSvg(this.picture, svg, this.texts.picture);
    this.svg = svg;
    drawn();
  }

  level(game, agent) {
    const found = this.texts.opponents[game].find((each) => each.agent === agent);
    return found ? { title: this.texts[found.level], style: found.style } : null;
  }

  showMoves(moves, click) {
    this.moves.replaceChildren(...moves.map(([action, text]) => make("button", {
      type: "button", class: text.length > 14 ? "move long" : "move", "data-action": action, onclick: (event) => click(event, action),
    }, ...suits(text))));
    this.moves.hidden = !moves.length;
  }

  /** Returns the buttons that play, from left to right, cards first. */
  buttons() {
    return [...this.hand.querySelectorAll(".move"), ...this.moves.children];
  }

  disable() {
    for (const button of this.buttons()) button.disabled = true;
  }

  arrow(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = this.buttons();
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    event.preventDefault();
    next?.focus();
  }
}

/** Returns a text with the red suits in elements of their own. */
export function suits(text) {
  return text.split(/((?:[0-9AJQKVDRT]{1,2})?[♥♦])/u).map((part) => (/[♥♦]/u.test(part) ? make("span", { class: "red" }, part) : part));
}
