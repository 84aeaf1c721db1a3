// A table drawn from scenes. The drawing of the game lays the pieces of a scene out; whatever has moved since the last one
// travels there, by transforms alone.

import { make } from "../dom.js";
import { avatar } from "./avatars.js";
import { DRAWINGS } from "./drawings.js";
import { sounds } from "./sounds.js";
import { Artwork, Sprite } from "./svg.js";

const TRAVEL = 380; // milliseconds
const EASE = "cubic-bezier(.2, .75, .25, 1)";
const STAGGER = 45;
const MOST_CHIPS = 7;
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Returns the stage of a game that the page draws, as soon as its artwork is loaded, or null where `signal` comes first; `texts`
 * are the page's.
 */
export async function loadStage(game, texts, signal) {
  const Drawing = DRAWINGS[game];
  const artwork = new Artwork(game);
  if (!(await artwork.load(Drawing.ARTWORK, signal))) return null;
  const sprite = new Sprite(game);
  const stage = new Stage(sprite);
  stage.drawing = new Drawing(stage, artwork, texts.games[game], texts);
  stage.element.dataset.game = game;
  return stage;
}

export class Stage {
  constructor(sprite) {
    this.sprite = sprite;
    this.pieces = new Map(); // elements that travel, by key
    this.anchors = new Map(); // elements that others travel from or to, by name
    this.faces = new Map();
    this.flights = []; // chips to be sent once all is laid out
    this.scene = null;
    this.shownAt = -Infinity;
    this.felt = make("div", { class: "felt" });
    this.element = make("div", { class: "stage" }, sprite.element, this.felt);
  }

  /**
   * Shows a scene. `about` has the `names`, `faces` and `levels` of the players, the reader's `seat`, the elements `status` (with
   * further moves) and `hand`, `moves` as a map from a card to its action and text, `play(event, action)`, and `drawn()`, which is called at the end.
   * With `jump` nothing travels.
   */
  show(scene, about, { jump = false } = {}) {
    clearTimeout(this.waiting);
    const before = this.drawing.between(this.scene, scene);
    if (before === null || jump || STILL.matches) return this.draw(scene, about, jump);
    this.draw(before, { ...about, moves: new Map(), drawn() {} }, false);
    this.waiting = setTimeout(() => this.draw(scene, about, false), this.drawing.PAUSE);
  }

  draw(scene, about, jump) {
    const now = performance.now();
    const pause = now - this.shownAt;
    this.shownAt = now;
    const travel = jump || STILL.matches || document.hidden || this.scene === null || pause < 60 ? 0 : Math.min(TRAVEL, 0.8 * pause);
    const places = travel ? this.places() : new Map();
    const last = this.pieces;
    this.pieces = new Map();
    this.last = last;
    this.flights = [];
    this.drawing.draw(scene, this.scene, about);
    this.scene = scene;
    for (const element of last.values()) element.getAnimations().forEach((each) => each.cancel());
    if (travel) this.travel(places, last, travel);
    about.drawn();
  }

  places() {
    return new Map([...this.pieces].map(([key, element]) => [key, element.getBoundingClientRect()]));
  }

  /** Lets pieces travel from where they were to where they are, chips fly, and pieces that are gone leave. */
  travel(places, last, duration) {
    const targets = this.places();
    const ends = new Map([...this.anchors].map(([name, element]) => [name, element.getBoundingClientRect()]));
    let number = 0;
    for (const [key, element] of this.pieces) {
      const from = places.get(key) ?? places.get(element.from) ?? ends.get(element.from);
      const to = targets.get(key);
      if (!from || !to.width || !from.width) continue;
      const fresh = !places.has(key);
      const shift = transformOf(from, to);
      if (shift === null) continue;
      const delay = fresh && duration === TRAVEL ? Math.min(STAGGER * number++, 500) : 0; // none where positions follow fast
      element.animate([{ transform: shift, ...(fresh && { opacity: 0.4 }) }, { transform: "none", opacity: 1 }], { duration, delay, easing: EASE, fill: "backwards" });
      if (fresh && number < 4) sounds.play("card");
    }
    for (const [key, element] of last) {
      if (!this.pieces.has(key) && places.get(key)?.width) this.leave(element, places.get(key), ends.get(element.to), duration);
    }
    this.flights.forEach(([from, to, chips]) => this.fly(ends.get(from), ends.get(to), chips, duration));
  }

  /** Lets a copy of a piece that is gone travel to where it goes, or fade. */
  leave(element, from, to, duration) {
    const ghost = make("div", { class: "ghost", "aria-hidden": "true" }, element.querySelector("svg")?.cloneNode(true) ?? "");
    this.place(ghost, from);
    const end = to ? `translate(${centre(to).x - centre(from).x}px, ${centre(to).y - centre(from).y}px) scale(.3)` : "scale(.9)";
    ghost.animate([{ opacity: 1 }, { opacity: to ? 0.8 : 0, transform: end }], { duration: to ? duration * 1.3 : duration, easing: EASE, fill: "forwards" })
      .finished.then(() => ghost.remove(), () => ghost.remove());
  }

  /** Lets chips fly from one place to another. */
  fly(from, to, chips, duration) {
    if (!from || !to || !from.width || !to.width) return;
    for (let k = 0; k < Math.min(chips, MOST_CHIPS); k += 1) {
      const chip = make("span", { class: "flying", "aria-hidden": "true" }, this.sprite.show("chip"));
      const start = centre(from), end = centre(to);
      this.place(chip, { left: start.x - 9, top: start.y - 9, width: 18, height: 18 });
      const shift = [end.x - start.x + 3 * (k % 3) - 3, end.y - start.y - 2 * k];
      chip.animate(
        [{ transform: "none", opacity: 0 }, { opacity: 1, offset: 0.15 }, { transform: `translate(${shift[0]}px, ${shift[1]}px)`, opacity: 1 }],
        { duration: 1.3 * duration, delay: 55 * k, easing: "ease-in-out", fill: "both" },
      ).finished.then(() => chip.remove(), () => chip.remove());
    }
    sounds.play("chip");
  }

  place(element, rect) {
    const own = this.element.getBoundingClientRect();
    Object.assign(element.style, { left: `${rect.left - own.left}px`, top: `${rect.top - own.top}px`, width: `${rect.width}px`, height: `${rect.height}px` });
    this.element.append(element);
  }

  // ------------------------------------------------------------------ for drawings

  /** Returns a piece that travels: that of the last scene with this key, or a new one, which comes from `from`. When gone it goes to `to`. */
  piece(key, name, className, { from = null, to = null } = {}) {
    const known = this.last.get(key);
    const element = known?.localName === name ? known : make(name, name === "button" ? { type: "button" } : { role: "img" });
    element.className = className;
    Object.assign(element, { from, to });
    this.pieces.set(key, element);
    return element;
  }

  /** Notes an element that pieces come from and go to; returns it. */
  anchor(name, element) {
    this.anchors.set(name, element);
    return element;
  }

  /** Sends chips from one anchor to another. */
  send(from, to, chips) {
    if (chips > 0) this.flights.push([from, to, chips]);
  }

  /** Returns the face of a player. */
  face(name) {
    if (!this.faces.has(name)) this.faces.set(name, avatar(name));
    return this.faces.get(name).cloneNode(true);
  }

  /** Returns a card of the hand: a button, which plays it where a move does. */
  handCard(key, symbol, label, move, about, more = {}) {
    const card = this.piece(key, "button", move ? "piece move on-card" : "piece", more);
    if (card.dataset.symbol !== symbol) card.replaceChildren(this.sprite.show(symbol));
    card.dataset.symbol = symbol;
    card.disabled = !move;
    card.dataset.action = move ? move.action : "";
    card.title = "";
    card.setAttribute("aria-label", move ? move.text : label);
    card.onclick = move ? (event) => about.play(event, move.action) : null;
    return card;
  }

  /** Returns a card that nobody plays from there, such as one on the table. */
  tableCard(key, symbol, label, more = {}) {
    const card = this.piece(key, "div", "piece", more);
    if (card.dataset.symbol !== symbol) card.replaceChildren(this.sprite.show(symbol));
    card.dataset.symbol = symbol;
    card.setAttribute("aria-label", label);
    return card;
  }
}

const centre = (rect) => ({ x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 });

/** Returns the transform that puts an element at `to` where `from` is, or null where it is there already. */
function transformOf(from, to) {
  const [x, y] = [centre(from).x - centre(to).x, centre(from).y - centre(to).y];
  const scale = Math.max(0.3, Math.min(3, from.width / to.width));
  if (Math.abs(x) < 1 && Math.abs(y) < 1 && Math.abs(scale - 1) < 0.02) return null;
  return `translate(${x}px, ${y}px) scale(${scale})`;
}
