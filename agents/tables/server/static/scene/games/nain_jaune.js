// Nain Jaune: the tray of five pots, the run, the players around it, and the reader's hand.

import { fill, make } from "../../dom.js";
import { change, mark, othersFrom, seatPanel } from "../seats.js";
import { svg } from "../svg.js";

const RANKS = "A23456789TJQK";
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const POT_CARDS = ["Td", "Jc", "Qs", "Kh", "7d"];
const GOLD = "#d9a404";
const COLOURS = { s: "#1d2430", h: "#d0342c", d: "#d0342c", c: "#1d2430" };
const CHIPS = [["100", "#6b4fa0", "#ffffff"], ["20", "#c0392b", "#ffffff"], ["5", "#2874a6", "#ffffff"], ["1", "#f2c230", "#7d5a00"]];
const MOST_PIECES = 9;

export class Drawing {
  static ARTWORK = ["back", "dwarf", "suit_s", "suit_h", "suit_d", "suit_c", "court_J", "court_Q", "court_K", "clockwise"];
  PAUSE = 0;

  constructor(stage, artwork, { words, labels }, texts) {
    Object.assign(this, { stage, artwork, words, labels, texts });
    const { sprite } = stage;
    for (const suit of "shdc") for (const rank of RANKS) sprite.add(rank + suit, "0 0 60 84", this.face(rank, suit));
    sprite.add("back", artwork.viewBox("back"), artwork.parts("back"));
    sprite.add("dwarf", artwork.viewBox("dwarf"), artwork.parts("dwarf", "behind"),
      svg("g", { transform: "translate(-49 -116) rotate(-9) translate(-17 -24) scale(.58)" }, this.face("7", "d")), artwork.parts("dwarf", "before"));
    sprite.add("clockwise", artwork.viewBox("clockwise"), artwork.parts("clockwise"));
    for (const [value, fill, ring] of CHIPS) sprite.add(`chip-${value}`, "0 0 20 20", disc(fill, ring));
    sprite.add("chip", "0 0 20 20", disc("#f2c230", "#7d5a00"));
  }

  /** Returns the face of a card, 60 by 84; pot cards have a golden frame. */
  face(rank, suit) {
    const { artwork } = this;
    const sign = this.words.rank_signs[RANKS.indexOf(rank)];
    const card = rank + suit;
    const wide = sign.length > 1 ? { textLength: 20, lengthAdjust: "spacingAndGlyphs" } : {};
    return [
      svg("rect", { x: 0.5, y: 0.5, width: 59, height: 83, rx: 6.5, fill: "#fffdf8", stroke: "#3b3f46" }),
      ...(POT_CARDS.includes(card) ? [svg("rect", { x: 2.6, y: 2.6, width: 54.8, height: 78.8, rx: 4.5, fill: "none", stroke: GOLD, "stroke-width": 3 })] : []),
      svg("text", { x: 12.5, y: 21, "text-anchor": "middle", "font-family": "Georgia, 'DejaVu Serif', serif", "font-weight": "bold", "font-size": sign.length > 1 ? 19 : 22, fill: COLOURS[suit], ...wide }, sign),
      artwork.at(`suit_${suit}`, 12.5, 34, 0.75),
      ...this.middle(rank, suit),
    ];
  }

  middle(rank, suit) {
    const { artwork } = this;
    if (rank + suit === "7d") return [artwork.at("dwarf", 37, 77, 1 / 3, "behind"), artwork.at("dwarf", 37, 77, 1 / 3, "before")];
    if ("KQJ".includes(rank)) return [artwork.at(`court_${rank}`, 38, 38, 0.95), artwork.at(`suit_${suit}`, 38, 62, 1.35)];
    return [artwork.at(`suit_${suit}`, 39, 59, 1.55)];
  }

  sign(card) {
    return this.words.rank_signs[RANKS.indexOf(card[0])] + SUITS[card[1]];
  }

  between() {
    return null;
  }

  draw(scene, last, about) {
    const { stage } = this;
    const bottom = scene.viewer ?? about.seat ?? 0;
    const others = othersFrom(bottom, scene.players, scene.direction === "clockwise");
    const fresh = last === null || last.round !== scene.round;
    stage.felt.replaceChildren(
      make("div", { class: "seats", "data-count": others.length }, others.map((seat) => this.panel(scene, seat, about))),
      make("div", { class: "middle" }, this.pots(scene, about), this.run(scene, about)),
      about.status,
      make("div", { class: "own" }, this.panel(scene, bottom, about), this.hand(scene, bottom, about, fresh)),
    );
    if (last !== null) this.sendChips(scene, last, fresh);
  }

  panel(scene, seat, about) {
    const { stage, words } = this;
    const { texts } = about;
    const over = scene.winner !== null;
    const own = seat === (scene.viewer ?? about.seat ?? 0);
    const hand = scene.hands[seat];
    const open = !own && hand !== null && hand.length > 0;
    return seatPanel(stage, seat, about, {
      turn: seat === scene.at_turn,
      crown: seat === scene.winner,
      beside: [
        seat === scene.dealer ? mark("dealer", "D", texts.dealer) : null,
        over ? change(scene.payoffs[seat], texts) : null,
      ],
      below: [
        make("span", { class: "stack", role: "img", "aria-label": `${scene.stacks[seat]} ${words.chips[1]}`, title: words.chips[1] }, stage.sprite.show("chip", "small-chip"), String(scene.stacks[seat]).replace("-", "−")),
        hand === null ? this.closed(scene.sizes[seat]) : null,
        open ? make("span", { class: "open-hand" }, hand.map((card) => stage.tableCard(card, card, this.sign(card), { from: `seat-${seat}` }))) : null,
      ],
      said: scene.call !== null && scene.call[0] === seat ? this.said(scene.call) : null,
    });
  }

  /** Returns the backs of a hand that the reader does not see. */
  closed(count) {
    const { sprite } = this.stage;
    return make("span", { class: "closed-hand", role: "img", "aria-label": `${count} ${this.words.cards[1]}`, title: `${count} ${this.words.cards[1]}` },
      make("span", { class: "backs" }, Array.from({ length: Math.min(count, 5) }, () => sprite.show("back"))), make("b", {}, String(count)));
  }

  said([, kind, number]) {
    const { words } = this;
    return kind === "capture" ? words.takes[number] : kind === "king" ? words.king : words.without.replace("{rank}", words.rank_names[number - 1]);
  }

  pots(scene, about) {
    return make("div", { class: "pots", role: "group", "aria-label": this.words.pots_after }, [0, 1, 4, 2, 3].map((pot) => this.pot(scene, pot, about)));
  }

  pot(scene, pot, about) {
    const { stage } = this;
    const { sprite } = stage;
    const captor = scene.captors[pot];
    const label = `${this.sign(POT_CARDS[pot])}: ${scene.pots[pot]} ${this.words.chips[1]}${captor === null ? "" : `, → ${about.names[captor]}`}`;
    return make("div", { class: "pot", "data-middle": pot === 4 ? "yes" : null, role: "img", "aria-label": label, title: label },
      make("span", { class: "pot-card" }, sprite.show(pot === 4 ? "dwarf" : POT_CARDS[pot])),
      stage.anchor(`pot-${pot}`, make("span", { class: "pot-chips" }, make("b", {}, String(scene.pots[pot])),
        captor === null ? this.pile(scene.pots[pot]) : make("span", { class: "captor" }, "→ ", stage.face(about.faces[captor])))));
  }

  /** Returns a pile of chips worth `amount`, the greatest at the bottom. */
  pile(amount) {
    const { sprite } = this.stage;
    const pieces = [];
    let left = amount;
    for (const [value] of CHIPS) {
      for (; left >= Number(value) && pieces.length < MOST_PIECES; left -= Number(value)) pieces.push(sprite.show(`chip-${value}`));
    }
    return make("span", { class: "pile" }, pieces);
  }

  run(scene, about) {
    const { stage } = this;
    if (scene.run === null) return make("div", { class: "run" });
    if (!scene.run.length) return make("div", { class: "run" }, make("span", { class: "quiet" }, this.labels.no_run));
    const strip = make("div", { class: "run", role: "group", "aria-label": this.texts.run }, scene.run.map(([seat, card]) => make("span", { class: "laid" },
      stage.tableCard(card, card, `${this.sign(card)}, ${about.names[seat]}`, { from: `seat-${seat}` }), make("span", { class: "laid-by", "aria-hidden": "true" }, stage.face(about.faces[seat])))), this.wanted(scene));
    strip.style.setProperty("--n", Math.max(scene.run.length + 1, 5));
    return strip;
  }

  /** Returns the place of the next card, with the rank that is wanted. */
  wanted({ required, winner }) {
    if (!required || winner !== null) return null;
    const sign = this.words.rank_signs[required - 1];
    const label = fill(this.texts.wanted, { rank: this.words.rank_names[required - 1] });
    return make("span", { class: "wanted", role: "img", "aria-label": label, title: label }, sign);
  }

  hand(scene, bottom, about, fresh) {
    const cards = scene.hands[bottom] ?? [];
    const { hand } = about;
    hand.style.setProperty("--n", Math.max(cards.length, 1));
    hand.replaceChildren(...cards.map((card) => this.stage.handCard(card, card, this.sign(card), about.moves.get(card), about, { from: fresh ? `seat-${scene.dealer}` : `seat-${bottom}` })));
    hand.dataset.wanted = about.moves.size ? "yes" : "";
    return hand;
  }

  /** Lets chips fly: antes into the pots, pots to who took them, payments at the end. */
  sendChips(scene, last, fresh) {
    const { stage } = this;
    if (fresh) {
      for (let seat = 0; seat < scene.players; seat += 1) scene.pots.forEach((_, pot) => stage.send(`seat-${seat}`, `pot-${pot}`, 1));
      return;
    }
    const net = scene.stacks.map((chips, seat) => chips - last.stacks[seat]);
    scene.pots.forEach((chips, pot) => {
      const taken = last.pots[pot] - chips;
      const captor = scene.captors[pot] ?? scene.winner;
      if (taken > 0 && captor !== null) {
        stage.send(`pot-${pot}`, `seat-${captor}`, taken);
        net[captor] -= taken;
      } else if (taken < 0) {
        const payer = net.findIndex((amount) => amount < 0);
        if (payer >= 0) stage.send(`seat-${payer}`, `pot-${pot}`, -taken);
      }
    });
    if (scene.winner === null) return;
    net.forEach((amount, seat) => seat !== scene.winner && stage.send(`seat-${seat}`, `seat-${scene.winner}`, -amount));
  }
}

/** Returns a chip, 20 by 20. */
const disc = (fill, ring) => [
  svg("circle", { cx: 10, cy: 10, r: 9.3, fill, stroke: "#1d2430", "stroke-width": 1 }),
  svg("circle", { cx: 10, cy: 10, r: 6, fill: "none", stroke: ring, "stroke-width": 1.6, "stroke-dasharray": "3 2.2" }),
];
