// Elements of SVG, and the drawings of a game: its artwork files, composed once into symbols that every card shows.

import { fetchUntilThere } from "../fetching.js";

const SPACE = "http://www.w3.org/2000/svg";

/** Returns an element of SVG; null and undefined attributes are left out. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat());
  return element;
}

/** Returns a picture, hidden from screen readers: what it shows is said by a label. */
export const picture = (viewBox, className, ...children) =>
  svg("svg", { viewBox, class: className, "aria-hidden": "true", focusable: "false" }, ...children);

/** The artwork files of a game, each loaded once. */
export class Artwork {
  constructor(game) {
    this.folder = new URL(`../artwork/${game}/`, import.meta.url);
    this.roots = new Map();
  }

  /** Loads files; returns whether they are there before `signal` comes. */
  async load(names, signal) {
    await Promise.all(names.map(async (name) => {
      const answer = await fetchUntilThere(new URL(`${name}.svg`, this.folder), signal);
      if (answer !== null) this.roots.set(name, new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement);
    }));
    return names.every((name) => this.roots.has(name));
  }

  viewBox(name) {
    return this.roots.get(name).getAttribute("viewBox");
  }

  /** Returns copies of the elements of a file; with `layer` those of the group with this id. */
  parts(name, layer = null) {
    const root = this.roots.get(name);
    const from = layer === null ? root : [...root.children].find((child) => child.id === layer);
    return [...from.children].map((child) => {
      const copy = document.importNode(child, true);
      copy.removeAttribute("id");
      return copy;
    });
  }

  /** Returns the elements of a file in a group at `x`, `y`. */
  at(name, x, y, scale, layer = null) {
    return svg("g", { transform: `translate(${x} ${y}) scale(${scale})` }, this.parts(name, layer));
  }
}

/** Symbols of a page, by id. */
export class Sprite {
  /** `owner` is a part of all ids. */
  constructor(owner) {
    this.owner = owner;
    this.element = svg("svg", { class: "sprite", "aria-hidden": "true", focusable: "false" });
    this.boxes = new Map();
  }

  add(name, viewBox, ...children) {
    const [, , width, height] = viewBox.split(" ");
    this.boxes.set(name, `0 0 ${width} ${height}`);
    this.element.append(svg("symbol", { id: `${this.owner}-${name}`, viewBox }, ...children));
  }

  /** Returns a picture of a symbol. */
  show(name, className = "") {
    return picture(this.boxes.get(name), `symbol ${className}`, this.use(name));
  }

  use(name) {
    return svg("use", { href: `#${this.owner}-${name}` });
  }
}
