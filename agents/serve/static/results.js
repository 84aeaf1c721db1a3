// The results of the matches that were played in this browser, which keeps them and sends them nowhere.

import { fill, make } from "./dom.js";
import { storage } from "./storage.js";

const KEPT = "nainjaune-results";
const MOST = 200;

/** Returns the results, the newest last; none where the browser keeps nothing or something else. */
export function keptResults() {
  try {
    const kept = JSON.parse(storage.get(KEPT));
    return Array.isArray(kept) ? kept.filter((each) => typeof each?.game === "string" && Number.isInteger(each.place)) : [];
  } catch {
    return [];
  }
}

/** Keeps the result of a match that is over, once. */
export function keepResult(view) {
  if (view.seat === null) return;
  const link = view.link ?? location.hash.slice(1); // on the static site the deal of the day has one link for every day
  const others = keptResults().filter((each) => each.link !== link);
  const result = { link, game: view.game, preset: view.preset, place: view.standings[view.seat], players: view.names.length, total: view.totals[view.seat], at: Date.now() };
  const known = keptResults().find((each) => each.link === link);
  storage.set(KEPT, JSON.stringify([...others, { ...result, at: known?.at ?? result.at }].slice(-MOST)));
}

/** Returns a card with the results; null if there are none. */
export function resultsCard(texts) {
  const results = keptResults();
  if (!results.length) return null;
  const won = results.filter((each) => each.place === 1).length;
  const date = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" });
  const rows = results.slice(-8).reverse().map((each) => make("tr", {}, make("td", {}, date.format(each.at)), make("td", {}, `${each.game} · ${each.preset}`),
    make("td", {}, `${each.place}. / ${each.players}`), make("td", {}, each.total)));
  return make("section", { class: "card results" }, make("h2", {}, texts.results), make("p", {}, fill(texts.results_sum, { matches: results.length, won })),
    make("table", {}, make("thead", {}, make("tr", {}, [texts.date, texts.game, texts.place, texts.total].map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows)));
}
