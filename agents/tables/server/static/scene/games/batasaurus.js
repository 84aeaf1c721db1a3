// Batasaurus: the players' dinosaurs, the trick in the middle with its battles, the last trick, and the reader's slots.

import { fill, make } from "../../dom.js";
import { othersFrom, seatPanel } from "../seats.js";
import { svg } from "../svg.js";

const FACE_DOWN = 0;
const BATTLE = 2; // the phase
const TIERS = [["#e4efd0", "#7ba05b"], ["#fbe7b5", "#d39b2f"], ["#f6cdb6", "#c0562f"]];
const INK = "#1d2430";
const FONT = "system-ui, 'DejaVu Sans', sans-serif";

export class Drawing {
  static ARTWORK = ["back", "battle", ...Array.from({ length: 12 }, (_, k) => `dinosaur_${k + 1}`)];
  PAUSE = 950; // so that the last card of a trick is seen before the trick is taken

  constructor(stage, artwork, { words, labels }, texts) {
    Object.assign(this, { stage, words, labels, texts });
    const { sprite } = stage;
    words.dinosaurs.forEach((name, k) => sprite.add(`card-${k + 1}`, "0 0 60 84", this.face(artwork, k + 1, name)));
    sprite.add("card-0", artwork.viewBox("back"), artwork.parts("back"));
    sprite.add("battle", artwork.viewBox("battle"), artwork.parts("battle"));
  }

  face(artwork, value, name) {
    const [paper, frame] = TIERS[Math.floor((value - 1) / 4)];
    const text = (x, y, size, anchor, content, more = {}) => svg("text", { x, y, "font-size": size, "font-weight": "bold", "font-family": FONT, "text-anchor": anchor, fill: INK, ...more }, content);
    const long = name.length > 10 ? { textLength: 52, lengthAdjust: "spacingAndGlyphs" } : {};
    return [
      svg("rect", { x: 0.5, y: 0.5, width: 59, height: 83, rx: 6, fill: "#fffdf6", stroke: "#33312c" }),
      svg("rect", { x: 3, y: 3, width: 54, height: 78, rx: 4, fill: paper, stroke: frame, "stroke-width": 1.6 }),
      text(7, 19, 15, "start", String(value)), artwork.at(`dinosaur_${value}`, 4.5, 27, 0.51),
      svg("path", { d: "M8 57.6H52", stroke: frame, "stroke-width": 1.2 }), text(30, 72, 8.2, "middle", name, long),
    ];
  }

  /** Returns the end of a trick, which is over in the next scene already: all its cards, on gold that of the winner. */
  between(last, scene) {
    if (last === null || scene.last === null) return null;
    const isOver = scene.at_turn === null && last.at_turn !== null;
    if (scene.trick === last.trick && !isOver) return null;
    const { shown, leader, gains } = scene.last;
    const ahead = gains.flatMap((cards, seat) => (cards ? [seat] : []));
    const slots = scene.viewer === last.viewer ? scene.slots : last.slots;
    return {
      ...scene, viewer: last.viewer, slots, trick: last.trick, shown, leader, ahead, committed: shown.map(() => null), at_turn: null,
      last: last.last, phase: last.phase, winners: [],
    };
  }

  name(value) {
    return value === FACE_DOWN ? this.texts.face_down : this.words.card.replace("{name}", this.words.dinosaurs[value - 1]).replace("{value}", value);
  }

  draw(scene, last, about) {
    const { stage } = this;
    const bottom = scene.viewer ?? about.seat ?? 0;
    this.gone = this.emptied(scene, last);
    stage.felt.replaceChildren(
      make("div", { class: "seats", "data-count": scene.players - 1 }, othersFrom(bottom, scene.players).map((seat) => this.panel(scene, seat, about))),
      make("div", { class: "middle tricks" }, this.trick(scene, about), this.lastTrick(scene.last, about)),
      about.status,
      make("div", { class: "own" }, this.panel(scene, bottom, about), this.hand(scene, bottom, about)),
    );
  }

  /** Returns by seat the slot that has become empty, where the reader sees it. */
  emptied(scene, last) {
    return scene.slots.map((slots, seat) => slots?.findIndex((value, slot) => value === null && last?.slots[seat]?.[slot] != null) ?? -1);
  }

  panel(scene, seat, about) {
    const { stage, labels } = this;
    const own = seat === (scene.viewer ?? about.seat ?? 0);
    const slots = scene.slots[seat];
    const { sprite } = stage;
    const count = scene.cards[seat];
    return seatPanel(stage, seat, about, {
      turn: seat === scene.at_turn,
      crown: scene.winners.includes(seat),
      beside: [seat === scene.leader && scene.at_turn !== null ? make("span", { class: "leads" }, `⚑ ${labels.leads}`) : null],
      below: [
        make("span", { class: "stack", title: labels.pile }, sprite.show("card-0", "small-card"), `${labels.pile} ${scene.piles[seat]}`),
        own && slots ? null : make("span", { class: "closed-hand", role: "img", "aria-label": `${count} ${this.words.cards[1]}`, title: `${count} ${this.words.cards[1]}` },
          ...(slots ? [make("span", { class: "open-hand" }, slots.map((value) => (value === null ? null : sprite.show(`card-${value}`))))]
            : [make("span", { class: "backs" }, Array.from({ length: Math.min(count, 6) }, () => sprite.show("card-0"))), make("b", {}, String(count))])),
        this.unshown(scene, seat),
      ],
    });
  }

  /** Returns the values that a seat has not shown yet; those it has shown are pale. */
  unshown(scene, seat) {
    const values = Array.from({ length: scene.dinosaurs }, (_, k) => k + 1);
    const left = scene.unshown[seat];
    return make("span", { class: "unshown", role: "img", "aria-label": `${this.labels.unshown}: ${left.join(", ")}`, title: this.labels.unshown },
      values.map((value) => make("span", { "data-tier": Math.floor((value - 1) / 4), "data-shown": left.includes(value) ? null : "yes" }, String(value))));
  }

  trick(scene, about) {
    const { stage } = this;
    const laid = Array.from({ length: scene.players }, (_, k) => (scene.leader + k) % scene.players).filter((seat) => scene.shown[seat].length || scene.committed[seat] !== null);
    if (scene.winners.length) {
      return make("div", { class: "trick" }, scene.winners.map((seat) => make("span", { class: "victor" }, stage.face(about.faces[seat]), make("b", {}, about.names[seat]))));
    }
    if (!laid.length) return make("div", { class: "trick" }, make("span", { class: "quiet" }, this.labels.no_card));
    return make("div", { class: "trick", role: "group", "aria-label": this.labels.trick }, laid.map((seat) => this.heap(scene, seat, about)),
      scene.phase === BATTLE ? make("span", { class: "battle" }, stage.sprite.show("battle"), make("b", {}, this.labels.battle)) : null);
  }

  heap(scene, seat, about) {
    const { stage } = this;
    const cards = [...scene.shown[seat], ...(scene.committed[seat] === null ? [] : [scene.committed[seat]])];
    const winner = scene.ahead.length === 1 ? scene.ahead[0] : null;
    const top = scene.shown[seat].length - 1;
    return make("span", { class: "heap" }, make("span", { class: "heap-cards" }, cards.map((value, k) => {
      const from = this.gone[seat] >= 0 ? `slot-${seat}-${this.gone[seat]}` : `seat-${seat}`;
      const card = stage.tableCard(`trick-${scene.trick}-${seat}-${k}`, `card-${value}`, `${this.name(value)}, ${about.names[seat]}`, { from, to: winner === null ? null : `seat-${winner}` });
      card.classList.toggle("ahead", k === top && scene.ahead.includes(seat));
      return card;
    })), make("span", { class: "laid-by", "aria-hidden": "true" }, stage.face(about.faces[seat])));
  }

  lastTrick(last, about) {
    if (last === null) return make("div", { class: "last-trick", hidden: true });
    const { stage, labels, words } = this;
    const order = last.shown.map((_, k) => (last.leader + k) % last.shown.length);
    return make("div", { class: "last-trick", role: "group", "aria-label": labels.last }, make("span", { class: "quiet" }, labels.last), order.map((seat) => make("span", { class: "last-row" },
      make("span", { class: "tiny-face", role: "img", "aria-label": about.names[seat] }, stage.face(about.faces[seat])),
      last.shown[seat].map((value) => make("span", { class: "tiny-card", role: "img", "aria-label": this.name(value) }, stage.sprite.show(`card-${value}`))),
      last.gains[seat] ? make("b", { role: "img", "aria-label": `+${last.gains[seat]} ${words.cards[1]}` }, `+${last.gains[seat]}`) : null)));
  }

  hand(scene, bottom, about) {
    const { hand } = about;
    const slots = scene.slots[bottom] ?? [];
    hand.style.setProperty("--n", Math.max(slots.length, 1));
    hand.dataset.wanted = about.moves.size ? "yes" : "";
    hand.replaceChildren(...slots.map((value, slot) => make("span", { class: "slot" }, make("span", { class: "slot-number", "aria-hidden": "true" }, String(slot)),
      value === null ? make("span", { class: "empty-slot" })
        : this.stage.handCard(`slot-${bottom}-${slot}`, `card-${value}`, fill(this.texts.slot, { slot, card: this.name(value) }), about.moves.get(slot), about))));
    return hand;
  }
}
