// A table at which only agents play: its speed, and the edge that grows while one watches.

import { fill, make } from "./dom.js";

const SPEEDS = [10_000, 5_000, 2_000, 1_000, 600, 300, 100, 0];
/** Milliseconds of pause before a ply, by the position of the slider. */

export class WatchPanel {
  /** Shows itself in `section`; `send(type, values)` sends a message. */
  constructor(section, texts, send) {
    this.texts = texts;
    this.wanted = null; // what the last message asked for, until it is shown: the next one builds on it, not on an older view
    this.set = (milliseconds, paused) => {
      this.wanted = { milliseconds, paused };
      send("speed", this.wanted);
    };
    this.slider = make("input", { type: "range", min: 0, max: SPEEDS.length - 1, "aria-label": texts.speed, oninput: () => this.set(SPEEDS[this.slider.value], this.now().paused) });
    this.pause = make("button", { type: "button", onclick: () => this.set(this.now().milliseconds, !this.now().paused) });
    this.edges = make("div");
    section.append(make("h2", {}, texts.watching), make("p", { class: "bar" }, make("span", {}, texts.speed), this.slider, this.pause), this.edges);
  }

  /** Returns the speed as it is, or will be once the last message is answered. */
  now() {
    return this.wanted ?? this.watch;
  }

  /** Notes that the last message has changed nothing. */
  forget() {
    this.wanted = null;
  }

  /** Shows what the server has sent. */
  show(watch) {
    const { texts } = this;
    this.watch = watch;
    if (watch.milliseconds === this.wanted?.milliseconds && watch.paused === this.wanted.paused) this.wanted = null;
    this.pause.textContent = watch.paused ? texts.go_on : texts.pause;
    if (document.activeElement !== this.slider) this.slider.value = SPEEDS.findIndex((each) => each <= watch.milliseconds);
    this.slider.setAttribute("aria-valuetext", fill(texts.seconds_a_ply, { seconds: watch.milliseconds / 1000 }));
    const rows = watch.edges.map(([hero, field, edge]) => make("li", {}, fill(texts.edge, { hero, field }), " ", make("b", {}, edge)));
    this.edges.replaceChildren(...(rows.length ? [make("ul", { class: "plain" }, rows),
      make("p", { class: "hint" }, fill(texts.edge_hint, { deals: watch.deals, unit: watch.unit }), watch.rough ? ` ${texts.edge_rough}` : "")] : []));
  }
}
