// The page: the token in its address says what is shown. What stands behind # never leaves the browser but in messages.

import { Board } from "./board.js";
import { Connection } from "./connection.js";
import { make } from "./dom.js";
import { fetchUntilThere } from "./fetching.js";
import { allowPlay, firstScreen } from "./first_screen.js";
import { allowStart, keepMade, keptLinks, moreOf, refuseForm, showTables } from "./lobby.js";
import { showReplay, unpack } from "./replay.js";
import { storage } from "./storage.js";
import { unreadableCard } from "./unreadable.js";
import { TablePage } from "./table.js";
import { openRecords, saveFile, takeDrops, uploadCard } from "./uploads.js";

const STUDY = new Set(["advice", "progress", "review", "position"]);
const main = document.getElementById("main");
const language = document.getElementById("language");
const loaded = new Map(); // texts by language
let texts = {};
let page = null;
let visit = new AbortController(); // is aborted when the page begins anew: with another link, or in another language
const notice = document.getElementById("notice");
let shown = ""; // the token whose page is shown
let database = { works: true, unreadable: [] }; // what the connection says of what it stores
let form = false; // whether the form is shown
let fresh = false; // whether a table was made, and the list of tables has not come yet
let atOnce = false; // whether the table that is being made is to be shown at once

const connection = new Connection(heard, (state) => {
  document.body.dataset.connection = state;
  showState();
  if (state === "connected") page?.reconnected();
});

function showState() {
  document.getElementById("status").textContent = texts[document.body.dataset.connection] ?? "";
}

/** Shows whether the browser stores what it is given, and what it has stored that cannot be read. */
function showStored() {
  if (!texts.title) return; // the texts are not there yet
  const refused = storage.works && database.works ? null : make("p", { class: "hint" }, texts.no_storage);
  const card = unreadableCard(storage, database.unreadable, texts, send);
  const place = document.getElementById("stored");
  const hasFocus = place.contains(document.activeElement); // of a button that is gone now
  place.replaceChildren(...[refused, card].filter(Boolean));
  if (hasFocus) (place.querySelector("button") ?? main).focus();
}

function heard(message) {
  if (message.type === "preparing") {
    notice.textContent = texts.preparing;
    return;
  }
  if (notice.textContent === texts.preparing) notice.textContent = "";
  if (message.type === "view") {
    page ??= tablePage();
    page.show(message);
  } else if (message.type === "host") {
    connection.home = shown;
    showHome();
    if (!form) return send("catalogue");
    allowStart(true); // after a reconnection: what has been filled in stays, and a table that was asked for may not come
    allowPlay();
    atOnce = false;
    send("tables");
  } else if (message.type === "catalogue") {
    form = true;
    const upload = uploadCard(texts, openFile, unreadable);
    main.replaceChildren(firstScreen(message.games, texts, startAtOnce, upload), ...moreOf(message.games, texts, send));
    send("tables");
  } else if (message.type === "made") {
    keepMade(message);
    if (!form) return; // it has been left since
    if (atOnce) return (location.hash = message.links[0].token);
    allowStart(true);
    fresh = true;
    send("tables");
  } else if (message.type === "tables") {
    showTables(message.tables, texts, send);
    if (fresh) document.getElementById("made").scrollIntoView();
    fresh = false;
  } else if (STUDY.has(message.type)) page?.study(message);
  else if (message.type === "stored") {
    database = { ...database, ...message };
    showStored();
  } else if (message.type === "forgotten") begin();
  else if (message.type === "rules") page?.showRules(message.text);
  else if (message.type === "record") page?.download(message.text);
  else if (message.type === "opened") location.hash = message.token;
  else if (message.type === "rematch") notice.replaceChildren(make("a", { href: `#${message.token}` }, texts.rematch_wanted));
  else if (message.type === "replay") replay(message);
  else if (message.type === "film") {
    notice.textContent = texts.film_done;
    saveFile(message.data, "nainjaune.gif", "image/gif");
  } else if (message.type === "refused" && ["replay", "film"].includes(message.of)) notice.textContent = message.text;
  else if (message.type === "refused") refused(message.text);
}

/** Makes a table whose first seat, or that of spectators, is shown as soon as it is there. */
function startAtOnce(table) {
  atOnce = true;
  send("new", { table });
}

/** Sends a message with the token of the page. */
const send = (type, values) => connection.send(type, values);

/** Returns a page of the table that the link is of. */
function tablePage() {
  const { signal } = visit;
  const send = (type, values) => signal.aborted || connection.send(type, values); // none from a table that was left
  return new TablePage(main, texts, send, openFile, signal);
}

function refused(text) {
  const problem = document.getElementById("problem");
  if (page !== null) page.refused(text);
  else if (problem) {
    refuseForm(text);
    atOnce = false;
    if (form) {
      allowStart(true);
      allowPlay();
    }
  } else main.replaceChildren(...[make("h1", {}, texts.title), make("p", { id: "problem", role: "alert" }, text), keptLinks(texts)].filter(Boolean));
}

/** Shows a recorded match, which can also be filmed. */
async function replay(message) {
  const { signal } = visit;
  const prefix = shown;
  const data = typeof message.data === "string" ? await unpack(message.data) : message.data;
  if (signal.aborted) return;
  notice.textContent = "";
  showReplay(main, data, { prefix, signal, board: data.fields.length ? replayBoard(data, signal) : null, film: data.words.film === undefined ? null : (round, view) => {
    notice.textContent = texts.film_waits;
    connection.send("film", { round, view });
  } });
}

/** Returns a board that shows the scenes of a recorded match. */
function replayBoard({ drawing, fields, parts, views, names }, signal) {
  const board = new Board(texts, signal);
  const nothing = { drawing, names, agents: names.map(() => null), moves: [], playable: [], picture: null };
  return { element: board.element, show(seen, ply, jump) {
    const scene = Object.fromEntries(views[seen].pictures[ply].map((part, k) => [fields[k], parts[part]]));
    board.show({ ...nothing, scene, seat: seen === 0 ? null : seen - 1 }, () => {}, { jump });
  } };
}

const openFile = (text) => openRecords(text, notice, texts, send);
const unreadable = () => (notice.textContent = texts.no_text);

/** The link to the form, for the host alone. */
const showHome = () => (document.getElementById("home").hidden = connection.home === null);

const token = () => location.hash.slice(1).split("&")[0] || connection.home || "-";

/** Returns the texts of a language: from the server, as soon as it answers, or undefined where `signal` comes first. */
async function textsOf(name, signal) {
  if (!loaded.has(name)) {
    const answer = await fetchUntilThere(new URL(`texts-${name}.json`, import.meta.url), signal);
    if (answer === null) return undefined;
    loaded.set(name, await answer.json());
  }
  return loaded.get(name);
}

/** Leaves what is shown; another link leaves nothing of it, as its buttons are of another table. */
function leave() {
  visit.abort();
  visit = new AbortController();
  connection.leave();
  if (token() !== shown) main.replaceChildren();
  shown = token();
  page = null;
  form = false;
  atOnce = false;
  database = { ...database, unreadable: [] };
  notice.textContent = "";
  document.getElementById("live").replaceChildren();
}

async function begin() {
  leave();
  const { signal } = visit;
  const loaded = await textsOf(language.value, signal);
  if (signal.aborted) return;
  texts = loaded;
  showState();
  showStored();
  showHome();
  document.documentElement.lang = language.value;
  document.getElementById("language-label").textContent = texts.language;
  document.getElementById("home").setAttribute("aria-label", `nainjaune: ${texts.new_table}`);
  connection.greet({ token: shown, language: language.value });
}

language.value = storage.get("language") ?? (navigator.language.startsWith("fr") ? "fr" : "en");
language.addEventListener("change", () => {
  storage.set("language", language.value);
  begin();
});
window.addEventListener("hashchange", () => token() !== shown && begin()); // another position of a replay is the replay's
storage.changed = showStored;
takeDrops(openFile, unreadable);
begin();
