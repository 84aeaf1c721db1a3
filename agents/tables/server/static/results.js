// The results of the matches that were played in this browser, which keeps them and sends them nowhere.

import { fill, make } from "./dom.js";
import { storage } from "./storage.js";

const MOST = 200;

/** Keeps the result of a match that is over, once. */
export function keepResult(view) {
  if (view.seat === null) return;
  const link = view.link ?? location.hash.slice(1); // on the static site the deal of the day has one link for every day
  const known = storage.get("results");
  const others = known.filter((each) => each.link !== link);
  const result = { link, game: view.game, preset: view.preset, place: view.standings[view.seat], players: view.names.length, total: view.totals[view.seat], at: known.find((each) => each.link === link)?.at ?? Date.now() };
  storage.set("results", [...others, result].slice(-MOST)); // the newest last
}

/** Returns a card with the results; null if there are none. */
export function resultsCard(texts) {
  const results = storage.get("results");
  if (!results.length) return null;
  const won = results.filter((each) => each.place === 1).length;
  const date = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" });
  const rows = results.slice(-8).reverse().map((each) => make("tr", {}, make("td", {}, date.format(each.at)), make("td", {}, `${each.game} · ${each.preset}`),
    make("td", {}, `${each.place}. / ${each.players}`), make("td", {}, each.total)));
  return make("section", { class: "card results" }, make("h2", {}, texts.results), make("p", {}, fill(texts.results_sum, { matches: results.length, won })),
    make("table", {}, make("thead", {}, make("tr", {}, [texts.date, texts.game, texts.place, texts.total].map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows)));
}
