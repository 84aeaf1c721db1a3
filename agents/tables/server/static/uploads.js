// Files with records: chosen, or dropped anywhere on the page; the server verifies a match of them and answers with its link.

import { fill, make } from "./dom.js";

const MOST = 250_000;
/** Characters of a record, some fewer than the server takes in a message. */

/** Returns a card with a field for a file; `open(text)` is called with the text of a file that is chosen. */
export function uploadCard(texts, open, failed) {
  const field = make("input", { type: "file", class: "unseen", accept: ".jsonl", "aria-label": texts.replay_file, onchange: () => read(field.files[0], open, failed) });
  const button = make("label", { class: "file" }, texts.replay_choose, field); // a browser words the button of its own in the language of the system
  return make("section", { class: "card" }, make("h2", {}, texts.replay), make("p", { class: "hint" }, texts.replay_hint), button);
}

/** Lets files be dropped on the page. */
export function takeDrops(open, failed) {
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) read(event.dataTransfer.files[0], open, failed);
  });
}

async function read(file, open, failed) {
  try {
    open(await file.text());
  } catch {
    failed();
  }
}

/** Sends the match of a file, or lets one of several be chosen in `notice`. */
export function openRecords(text, notice, texts, send) {
  const records = text.split("\n").filter((line) => line.trim());
  if (records.length < 2) return sendRecord(records[0] ?? "", notice, texts, send);
  const number = make("input", { type: "number", min: 1, max: records.length, value: 1, required: true });
  const submit = (event) => {
    event.preventDefault();
    sendRecord(records[Number(number.value) - 1], notice, texts, send);
  };
  notice.replaceChildren(make("form", { class: "buttons", onsubmit: submit },
    make("label", {}, fill(texts.replay_match, { count: records.length }), " ", number), make("button", { class: "main" }, texts.replay_open)));
  number.focus();
}

function sendRecord(record, notice, texts, send) {
  const large = record.length > MOST;
  notice.textContent = large ? fill(texts.too_large, { most: MOST }) : texts.replay_waits;
  if (!large) send("replay", { record });
}

/** Saves a file that came as base64. */
export function saveFile(packed, name, type) {
  const link = URL.createObjectURL(new Blob([Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))], { type }));
  make("a", { href: link, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(link), 1000);
}
