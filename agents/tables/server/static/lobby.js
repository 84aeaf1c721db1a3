// The form for a new table, and the host's list of tables with the invitations that this browser keeps.

import { choice, fill, labelled, make } from "./dom.js";
import { storage } from "./storage.js";

const MAX_KEPT = 20;

/** Returns the form, folded, and the list of tables; `send(type, values)` sends a message. */
export function moreOf(games, texts, send) {
  const form = make("form", { class: "card", onsubmit: submit });
  const state = { game: games[0], seats: [] };
  chooseGame(games[0].name);
  return [make("details", { class: "more" }, make("summary", {}, texts.more), make("h2", {}, texts.new_table), form), make("div", { id: "made" })];

  function chooseGame(name) {
    state.game = games.find((game) => game.name === name);
    choosePreset(state.game.preset);
  }

  function choosePreset(name) {
    state.preset = state.game.presets.find((preset) => preset.name === name);
    const { players } = state.preset;
    state.players = players.includes(state.game.players) ? state.game.players : players[0];
    draw();
  }

  function draw() {
    const { game, preset } = state;
    state.knobs = game.knobs.map((knob) => [knob, knobField(knob, preset.knobs[knob.name], texts)]);
    state.length = choice(
      [...(preset.match ? [["match", texts.match]] : []), ["rounds", texts.rounds]],
      preset.match ? "match" : "rounds",
      () => (state.rounds.disabled = state.length.value === "match"),
    );
    state.rounds = make("input", { type: "number", min: 1, max: 100, value: 1, required: true, disabled: preset.match });
    state.seed = make("input", { inputmode: "numeric", pattern: "[0-9]{0,20}", autocomplete: "off" });
    state.pace = make("input", { type: "number", min: 0, max: 10, step: 0.1, value: 0.6, required: true });
    state.every = choice([["", texts.default], ["yes", texts.yes], ["no", texts.no]], "");
    state.advice = choice([["", texts.default], ["yes", texts.yes], ["no", texts.no]], "");
    state.absence = make("input", { type: "number", min: 5, max: 3600, placeholder: texts.never });
    form.replaceChildren(
      labelled(texts.game, choice(games.map((each) => [each.name, each.title]), game.name, (event) => chooseGame(event.target.value)), null, "game"),
      labelled(texts.preset, choice(game.presets.map((each) => [each.name, each.name]), preset.name,
        (event) => choosePreset(event.target.value)), english(preset.source), "preset"),
      labelled(texts.players, choice(preset.players.map((count) => [count, count]), state.players, (event) => {
        state.players = Number(event.target.value);
        drawSeats();
      }), null, "players"),
      make("fieldset", { id: "seats" }),
      labelled(texts.length, state.length, null, "length"),
      labelled(texts.number_of_rounds, state.rounds, null, "rounds"),
      make("details", {}, make("summary", {}, texts.knobs),
        state.knobs.map(([knob, field]) => labelled(knob.name, field, english(knob.meaning), `knob-${knob.name}`))),
      make("details", {}, make("summary", {}, `${texts.seed}, ${texts.pace}`),
        labelled(texts.seed, state.seed, texts.seed_hint, "seed"), labelled(texts.pace, state.pace, null, "pace"),
        labelled(texts.every_ply, state.every, null, "every_ply"), labelled(texts.allow_advice, state.advice, texts.advice_hint, "advice"),
        texts.absence === "" ? null : labelled(texts.absence, state.absence, texts.absence_hint, "absence")),
      make("p", { class: "problem", role: "alert" }),
      make("button", { id: "start", type: "submit", class: "main" }, texts.start),
    );
    drawSeats();
  }

  function drawSeats() {
    const names = state.game.agents.map((name) => make("option", { value: name }));
    const known = (texts.opponents[state.game.name] ?? []).filter(({ level }) => level !== "strong"); // a network plays under some rules only
    const usual = [...new Set([state.game.agent, ...known.map(({ agent }) => agent)])]; // no two alike as long as there are others
    state.seats = Array.from({ length: state.players }, (_, seat) => seatField(seat, usual[Math.max(seat - 1, 0) % usual.length], texts));
    form.querySelector("#seats").replaceChildren(
      make("legend", {}, texts.players), make("datalist", { id: "agents" }, names), ...state.seats.map((seat) => seat.element),
      make("small", {}, texts.agent_hint),
    );
  }

  function submit(event) {
    event.preventDefault();
    refuseForm("");
    allowStart(false); // until the server answers: its agents may take some time to load
    const { game, preset } = state;
    const changed = state.knobs.map(([knob, field]) => [knob.name, knobValue(knob, field)]);
    send("new", { table: {
      game: game.name,
      preset: preset.name,
      players: state.players,
      knobs: Object.fromEntries(changed.filter(([name, value]) => value !== preset.knobs[name])),
      seats: state.seats.map((seat) => seat.value()),
      rounds: state.length.value === "match" ? null : Number(state.rounds.value),
      seed: state.seed.value || null,
      pace: Number(state.pace.value),
      every_ply: state.every.value === "" ? null : state.every.value === "yes",
      advice: state.advice.value === "" ? null : state.advice.value === "yes",
      absence: state.absence.value === "" ? null : Number(state.absence.value),
    } });
  }
}

/** Says what is wrong with a table that was asked for, beside the form and beside the game to be played at once. */
export function refuseForm(text) {
  for (const problem of document.querySelectorAll("#problem, form .problem")) problem.textContent = text;
}

/** Enables or disables the button that makes a table. */
export function allowStart(allowed) {
  document.getElementById("start").disabled = !allowed;
}

/** Marks a text of the package that has no translation, for screen readers. */
const english = (text) => make("span", { lang: "en" }, text);

function seatField(seat, agent, texts) {
  const person = make("input", { maxlength: 40, autocomplete: "off", "aria-label": fill(texts.name_in_seat, { seat }), placeholder: texts.name });
  const other = make("input", { list: "agents", value: agent, required: true, "aria-label": fill(texts.agent_in_seat, { seat }) });
  const who = choice([["person", texts.person], ["agent", texts.agent]], seat === 0 ? "person" : "agent", update);
  who.setAttribute("aria-label", fill(texts.who, { seat }));
  function update() {
    person.hidden = who.value !== "person";
    other.hidden = other.disabled = who.value === "person";
  }
  update();
  return {
    element: make("div", { class: "seat" }, make("span", {}, fill(texts.seat, { seat })), who, person, other),
    value: () => (who.value === "person" ? { person: person.value.trim() || texts.guest } : { agent: other.value }),
  };
}

function knobField(knob, value, texts) {
  if (knob.kind === "word") return choice(knob.choices.map((word) => [word, word]), value);
  if (knob.kind === "flag") return choice([["yes", texts.yes], ["no", texts.no]], value ? "yes" : "no");
  const field = make("input", { type: "number", min: knob.low, max: knob.high, required: !knob.optional });
  if (knob.optional) field.placeholder = texts.none;
  field.value = value === null ? "" : value;
  return field;
}

function knobValue(knob, field) {
  if (knob.kind === "word") return field.value;
  if (knob.kind === "flag") return field.value === "yes";
  return field.value === "" ? null : Number(field.value);
}

/** Keeps the links to a table that was made, in this browser alone. */
export function keepMade({ table, title, links }) {
  const others = storage.get("tables").filter((kept) => kept.table !== table);
  storage.set("tables", [{ table, title, links }, ...others].slice(0, MAX_KEPT));
}

/** Shows all tables of the server, for the host, with the links that this browser keeps; `send(type, values)` sends a message. */
export function showTables(tables, texts, send) {
  const kept = new Map(storage.get("tables").map((each) => [each.table, each.links]));
  const date = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  const shown = tables.map(({ table, title, made, names, further, links = kept.get(table) }) => make("section", { class: "card" },
    make("h3", {}, title), make("p", { class: "hint" }, `${date.format(1000 * made)} · ${names.join(", ")}${further ? ` · ${texts.further}` : ""}`),
    linkList(links ?? [], texts),
    make("p", { class: "buttons" },
      links ? null : make("button", { type: "button", onclick: () => send("invite", { table }) }, texts.invite),
      make("button", { type: "button", onclick: () => confirm(texts.sure) && send("delete", { table }) }, texts.delete))));
  const list = document.getElementById("made");
  list.replaceChildren(...(shown.length ? [make("h2", {}, texts.tables), ...shown] : []));
  list.dataset.tables = shown.length;
}

/** Returns a list of the links that this browser keeps, for a page whose own link is not valid; null if it keeps none. */
export function keptLinks(texts) {
  const tables = storage.get("tables");
  return tables.length ? make("div", {}, make("h2", {}, texts.invitations), tables.map(({ title, links }) =>
    make("section", { class: "card" }, make("h3", {}, title), linkList(links, texts)))) : null;
}

function linkList(links, texts) {
  return make("ul", { class: "links" }, links.map((link) => {
    const name = link.seat === null ? texts.spectators : fill(texts.invitation_for, link);
    const state = make("span", { role: "status" });
    const copy = texts.copy === "" ? null : make("button", { type: "button", onclick: () => copyLink(link.token, state, texts) }, fill(texts.copy, { name }));
    const go = make("a", { href: `#${link.token}` }, link.seat === null ? texts.watch : fill(texts.to_table, link));
    return make("li", {}, make("span", {}, name), go, copy, state);
  }));
}

async function copyLink(token, state, texts) {
  const link = `${location.href.split("#")[0]}#${token}`;
  try {
    await navigator.clipboard.writeText(link);
    state.textContent = texts.copied;
  } catch {
    state.textContent = link; // a page that is not from this machine may not write to the clipboard without https
  }
}
