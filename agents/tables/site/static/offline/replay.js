// A recorded match as the page shows it: scenes of every position from every seat, and the rounds in words.

import { Rules } from "./live_table.js";
import { format, SeatNames } from "./text.js";

const MAX_NAME = 100;

/** Returns the data of a record, which is verified first: throws a `RangeError` with a sentence. `words` are the page's own. */
export function replayData(kind, record, language, words) {
  const replay = kind.module.replay(record);
  try {
    return dataOf(kind, replay, language, words);
  } finally {
    replay.free();
  }
}

function dataOf(kind, replay, language, words) {
  const { record, session } = replay;
  const given = record.agents.map((name) => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name));
  const { names } = new SeatNames(kind.texts[language].words, given, null);
  const seats = [null, ...names.keys()];
  const rules = new Rules(kind, session, record);
  const numbers = new Map(); // of the values of scenes, as JSON; most come many times
  const numbered = (value) => {
    const text = JSON.stringify(value);
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text);
  };
  const views = seats.map((seat) => ({
    name: seat === null ? words.all : format(words.seat, { seat, name: names[seat] }),
    pictures: [],
  }));
  const rounds = [];
  const decisions = [];
  const texts = [];
  let fields = [];
  for (let number = 1; number <= replay.rounds; number += 1) {
    const first = views[0].pictures.length;
    let match = null;
    let choice = false;
    for (const move of replay.round(number)) {
      const { table, events } = session;
      if (move === null) match = new kind.Match(rules, table, events);
      else match.ply(events);
      if (choice) decisions.push(views[0].pictures.length - 1);
      choice = session.legal.length > 0 && match.needsDecision(table, session.legal);
      for (const [view, seat] of seats.entries()) {
        const scene = match.scene(seat === null ? table : session.view(seat), seat);
        fields = Object.keys(scene);
        views[view].pictures.push(Object.values(scene).map(numbered));
      }
    }
    rounds.push({ first, pictures: views[0].pictures.length - first });
    texts.push(account(new kind.Speaker(match, kind.texts[language], 0, given, null), session.table).join("\n"));
  }
  const title = `${kind.setup.title} · ${record.preset} · ${names.join(", ")}`;
  const parts = [...numbers.keys()].map((text) => JSON.parse(text));
  return { title, drawing: kind.name, names, fields, parts, views, rounds, decisions, texts, words };
}

/** Returns a round in lines: the deal, what each seat said in turn, and the end. */
function account(speaker, table) {
  const { words, seats } = speaker;
  const lines = [];
  let last;
  for (const [seat, text] of speaker.heard.flat()) {
    if (seat !== null && seat === last) lines.push(`${lines.pop()} ${text}`);
    else lines.push(seat === null ? text : `${seats.names[seat]}${words.colon}${text}`);
    last = seat;
  }
  return [...speaker.begun(), "", ...lines, "", ...speaker.settled(table)];
}
