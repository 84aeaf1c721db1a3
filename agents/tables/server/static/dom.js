// Elements. Whatever people have typed becomes text, never markup.

/** Returns an element; properties that begin with "on" are listeners, null and false are left out. */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== null && value !== false && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

/** Returns a value as text, a number with its thousands apart. */
const shown = (value) => (typeof value === "number" ? value.toLocaleString(document.documentElement.lang) : String(value));

/** Returns a text with what stands in braces filled in. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? shown(values[name]) : whole));
}

/** Returns the names of a view, the reader's own marked. */
export function shownNames(view, texts) {
  return view.names.map((name, seat) => (seat === view.seat ? `${name} (${texts.you})` : name));
}

/** Returns an image for `showSvg`; its last picture is given up with `signal`. */
export function svgImage(description, signal) {
  const image = make("img", { class: "picture", alt: description });
  signal.addEventListener("abort", () => URL.revokeObjectURL(image.src));
  return image;
}

/** Shows a picture, whose title becomes its description, `otherwise` where it has none; returns the root of the picture. */
export function showSvg(image, svg, otherwise) {
  const link = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const old = image.src;
  image.src = link;
  URL.revokeObjectURL(old); // at once: where pictures come faster than they load, the old one never does
  const { documentElement } = new DOMParser().parseFromString(svg, "image/svg+xml");
  image.alt = documentElement.querySelector("title")?.textContent ?? otherwise;
  return documentElement;
}

/** Returns a label above a field, which gets a name if one is given. */
export function labelled(text, field, hint = null, name = null) {
  if (name) field.name = name;
  return make("label", { class: "field" }, make("span", {}, text), field, hint && make("small", {}, hint));
}

/** Returns a select with options as [value, text]. */
export function choice(options, chosen, onchange = () => {}) {
  const field = make("select", { onchange }, options.map(([value, text]) => make("option", { value }, text)));
  field.value = chosen;
  return field;
}
