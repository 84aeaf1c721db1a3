// What this browser has stored that cannot be read: each item by its name, why, and a button that deletes it.

import { fill, make } from "./dom.js";

/** Returns a card with the items of `storage` and the `groups` of the connection, { title, problems, store, ids }; null if there are none. */
export function unreadableCard(storage, groups, texts, send) {
  const titles = { language: texts.language, name: texts.your_name, sound: texts.sound, host: texts.host_link, results: texts.results, tables: texts.invitations };
  const here = storage.unreadable().map(({ name, problems }) => line(titles[name], problems, texts, () => storage.forget(name)));
  const lines = [...here, ...groups.map(({ title, problems, store, ids }) => line(title, problems, texts, () => send("forget", { store, ids })))];
  return lines.length ? make("section", { class: "card" }, make("h2", {}, texts.unreadable), make("p", { class: "hint" }, texts.unreadable_hint), make("ul", { class: "links" }, lines)) : null;
}

function line(title, problems, texts, forget) {
  const [{ field = [], reason, expected, limits, came }] = problems;
  const why = reason ?? fill(texts.unreadable_why, { expected: fill(texts[`expected_${expected}`], limits), came: came ?? texts.none });
  const count = problems.length > 1 ? ` (${problems.length})` : "";
  return make("li", {}, make("span", {}, make("b", {}, `${[title, ...field].join(" · ")}${count}`), `${texts.colon}${why}`),
    make("button", { type: "button", "aria-label": fill(texts.forget_of, { title }), onclick: forget }, texts.forget));
}
