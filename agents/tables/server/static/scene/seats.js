// The panel of a player, which both games share: face, name, marks, and what they have.

import { fill, make } from "../dom.js";

/** Returns the other seats in the order in which they sit, from the reader's left on. */
export function othersFrom(bottom, players, clockwise = true) {
  const others = Array.from({ length: players - 1 }, (_, k) => (bottom + k + 1) % players);
  return clockwise ? others : others.reverse();
}

/** Returns a sign with its meaning for screen readers and as a tooltip. */
export const mark = (className, text, label) => make("span", { class: `mark ${className}`, role: "img", "aria-label": label, title: label }, text);

/** Returns a panel of `seat`; `more` are elements beside and below the name, `said` is what the player says now. */
export function seatPanel(stage, seat, about, { turn, crown = false, beside = [], below = [], said = null }) {
  const { names, texts, levels } = about;
  const remark = remarkText(about.said[seat] ?? null, texts);
  const face = stage.anchor(`seat-${seat}`, make("span", { class: "face" }, stage.face(about.faces[seat])));
  const level = levels[seat] ? make("span", { class: "level", title: levels[seat].style }, levels[seat].title) : null;
  return make("section", { class: "seat-panel", "data-turn": turn ? "yes" : null, "data-own": seat === about.seat ? "yes" : null, "aria-label": names[seat] },
    face,
    make("div", { class: "who" },
      make("p", { class: "name" }, make("b", {}, names[seat]), crown ? mark("crown", "♛", texts.winner) : null, ...beside),
      make("div", { class: "has" }, level, ...below),
      remark && make("p", { class: "remark", title: remark }, remark)),
    said === null ? null : make("span", { class: "bubble" }, said));
}

/** Returns what an agent said to its last decision, which may be anything: it is shown as text only. */
function remarkText(said, texts) {
  if (said === null) return null;
  const value = said.value?.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1, signDisplay: "exceptZero" }).replace("-", "−");
  const parts = [said.forfeited ? texts.forfeited : null, said.value === null ? null : fill(texts.expects, { value }), said.comment === null ? null : fill(texts.comment, said)];
  return parts.filter((part) => part !== null).join(" · ");
}

/** Returns the change of a round, as plus and minus. */
export const change = (amount, texts) => make("span", { class: "change", "data-sign": Math.sign(amount), "aria-label": fill(texts.change, { amount: signed(amount) }), role: "img" }, signed(amount));

export const signed = (amount) => `${amount > 0 ? "+" : ""}${amount}`.replace("-", "−");
