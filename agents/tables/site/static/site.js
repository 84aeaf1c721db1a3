// What the static site adds to the page: the deal of the day, your edge, and what makes it work without a network.

import { site } from "./connection.js";
import { fill, make } from "./dom.js";
import { storage } from "./storage.js";

const place = document.getElementById("site");
let texts = null; // by language
let hello = null;

const words = () => texts[hello.language].page;

site.addEventListener("greet", async ({ detail }) => {
  hello = detail;
  place.replaceChildren();
  texts ??= await loadTexts();
  place.setAttribute("aria-label", words().label);
  if (hello.token === "-") showHome([]);
});
site.addEventListener("edges", async ({ detail }) => {
  texts ??= await loadTexts();
  showHome(detail.edges);
});
site.addEventListener("guide", async ({ detail }) => {
  texts ??= await loadTexts();
  place.replaceChildren(make("section", { class: "card", id: "guide", role: "status" }, detail.lines.map((line) => make("p", {}, line))));
});
site.addEventListener("puzzle", async ({ detail }) => {
  texts ??= await loadTexts();
  showPuzzle(detail);
});
site.addEventListener("round", async ({ detail }) => {
  texts ??= await loadTexts();
  showRound(detail);
});

async function loadTexts() {
  return (await (await fetch(new URL("offline/site.json", import.meta.url))).json()).texts;
}

/** Shows what can be begun with one click, and the edges so far. */
function showHome(edges) {
  const said = words();
  const start = (token, name) => make("a", { class: "begin", href: `#${token}` }, name);
  place.replaceChildren(
    make("p", { class: "buttons" }, start("day", said.day), start("learn", said.learn), start("puzzles", said.puzzles)),
    ...(edges.length ? [make("section", { class: "card", id: "edge" }, make("h2", {}, said.edge), make("ul", { class: "plain" },
      edges.map((edge) => make("li", {}, `${fill(said.edge_of, edge)}${said.colon}${edgeText(edge)}`))))] : []),
  );
}

/** Returns an edge with its interval in words. */
function edgeText({ rounds, mean, half, least }) {
  const said = words();
  if (half === null) return fill(said.not_yet, { rounds, least });
  const shown = (number) => number.toLocaleString(hello.language, { maximumFractionDigits: 2, signDisplay: "exceptZero" });
  const width = half.toLocaleString(hello.language, { maximumFractionDigits: 2 });
  return fill(said.edge_text, { mean: shown(mean), half: width, rounds });
}

/** Shows beside the table what the reader and the reference player have won with the same cards. */
function showRound({ name, yours, reference, counts, edge, day }) {
  const said = words();
  const lines = [fill(said.same_cards, { yours, reference, name }), counts ? null : said.not_counted, edge ? `${said.edge}${said.colon}${edgeText(edge)}` : null];
  document.getElementById("edge")?.remove();
  document.querySelector(".table > aside").prepend(make("section", { class: "card", id: "edge" }, make("h2", {}, said.compared),
    ...lines.filter((line) => line !== null).map((line) => make("p", {}, line)), ...(day ? [shareButton(fill(said.share_text, { day, yours, reference }))] : [])));
}

/** Shows what a puzzle asks, or how good the guess was. */
function showPuzzle({ number, of, solved, theme, answer }) {
  const said = words();
  const text = answer === null ? said.puzzle_ask : fill(answer.right ? said.puzzle_right : said.puzzle_wrong, answer);
  place.replaceChildren(make("section", { class: "card", id: "puzzle", role: "status" }, make("h2", {}, fill(said.puzzle, { number, of, theme })), make("p", {}, text),
    make("p", { class: "hint" }, fill(said.puzzles_solved, { solved, of })),
    make("p", { class: "buttons" }, make("a", { class: "begin", href: `#puzzle-${(number % of) + 1}` }, said.puzzle_next))));
  if (answer !== null) place.scrollIntoView({ block: "nearest" }); // a phone shows the hand at the time
}

/** Returns a button that copies a text with the address of the site. */
function shareButton(text) {
  const state = make("span", { role: "status" });
  const shared = `${text}\n${location.origin}${location.pathname}#day`;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(shared);
      state.textContent = words().copied;
    } catch {
      state.textContent = shared; // a page without https may not write to the clipboard
    }
  };
  return make("p", { class: "buttons" }, make("button", { type: "button", id: "share", onclick: copy }, words().share), state);
}

if ("serviceWorker" in navigator) navigator.serviceWorker.register(new URL("service_worker.js", import.meta.url)).catch(() => storage.refused()); // as it stores the site
