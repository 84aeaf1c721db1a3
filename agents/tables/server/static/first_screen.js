// The first screen of the host: a game at once against three opponents; everything else is below it.

import { choice, fill, labelled, make } from "./dom.js";
import { resultsCard } from "./results.js";
import { avatar } from "./scene/avatars.js";
import { storage } from "./storage.js";

const LEVELS = ["easy", "good", "strong"];
const PACE = 0.6; // seconds before each ply of an opponent

/**
 * Returns the cards to play and to watch at once; `start(table)` makes a table. `games` are those of the catalogue; further cards
 * of the first screen are `others`.
 */
export function firstScreen(games, texts, start, ...others) {
  const playable = games.filter((game) => texts.opponents[game.name]);
  const state = { game: playable[0], seated: [] };
  const opponents = make("div", { class: "opponents" });
  const name = make("input", { maxlength: 40, autocomplete: "nickname", value: storage.get("name"), placeholder: texts.guest });
  const strength = choice([["mixed", texts.mixed], ...LEVELS.map((level) => [level, texts[level]])], "mixed", () => seat(strength.value));
  const title = make("h1");
  const go = make("button", { type: "button", class: "main large", id: "play", onclick: play }, texts.play);
  const known = () => texts.opponents[state.game.name];

  /** Seats opponents of a level, or one of each, no two alike as long as there are others. */
  function seat(level) {
    const wanted = state.game.players - 1;
    const list = level === "mixed" ? LEVELS.map((each) => known().find((one) => one.level === each)) : known().filter((one) => one.level === level);
    state.seated = Array.from({ length: wanted }, (_, k) => (level === "mixed" ? list[wanted === 1 ? 1 : k % list.length] : list[k % list.length]));
    draw();
  }

  function draw() {
    title.textContent = fill(texts.play_game, { game: state.game.title });
    opponents.replaceChildren(...state.seated.map((one, k) => make("div", { class: "opponent" }, avatar(one.name),
      make("div", {}, make("p", { class: "name" }, make("b", {}, one.name), make("span", { class: "level" }, texts[one.level])), make("p", { class: "style" }, one.style)), pick(one, k))));
  }

  function pick(one, k) {
    const field = choice(known().map((each, number) => [number, `${each.name} · ${texts[each.level]}`]), known().indexOf(one), () => {
      state.seated[k] = known()[field.value];
      draw();
      opponents.querySelectorAll("select")[k].focus();
    });
    field.setAttribute("aria-label", fill(texts.opponent, { number: k + 1 }));
    return field;
  }

  const agent = (one) => ({ agent: one.agent, name: one.name });

  function play() {
    storage.set("name", name.value.trim());
    go.disabled = true; // until the server answers: opponents may take some time to load
    start(table([{ person: name.value.trim() || texts.guest }, ...state.seated.map(agent)]));
  }

  function watch() {
    const others = known().filter((one) => !state.seated.includes(one));
    start(table([...state.seated, others.find((one) => one.level === "good") ?? others[0] ?? state.seated[0]].map(agent)));
  }

  function table(seats) {
    const { game } = state;
    const preset = game.presets.find((each) => each.name === game.preset);
    return { game: game.name, preset: preset.name, players: game.players, knobs: {}, seats, rounds: preset.match ? null : 1, seed: null, pace: PACE, every_ply: null, advice: null, absence: null };
  }

  const switches = make("div", { class: "switches", role: "group", "aria-label": texts.game }, playable.map((game) => make("button", { type: "button", "aria-pressed": String(game === state.game), onclick: (event) => {
    state.game = game;
    for (const each of switches.children) each.setAttribute("aria-pressed", String(each === event.currentTarget));
    strength.value = "mixed";
    seat("mixed");
  } }, game.title)));
  seat("mixed");
  return make("div", { class: "first" },
    make("section", { class: "hero" }, make("div", { class: "bar" }, title, switches),
      make("div", { class: "bar start" }, labelled(texts.your_name, name, null, "name"), labelled(texts.strength, strength, null, "strength"), go),
      make("p", { id: "problem", role: "alert" }), opponents),
    make("div", { class: "beside" },
      make("section", { class: "card" }, make("h2", {}, texts.watch), make("p", { class: "hint" }, texts.watch_hint), make("button", { type: "button", id: "watch", onclick: watch }, texts.watch)),
      ...others, resultsCard(texts)));
}

/** Lets a game be started again after an answer. */
export function allowPlay() {
  const go = document.getElementById("play");
  if (go) go.disabled = false;
}
