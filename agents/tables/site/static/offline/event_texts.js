// The events of a round as sentences, by the rules that nainjaune_env/core/event_texts.py states: both pass the same cases.

import { counted, format } from "./text.js";

const HIDDEN = -2;
const VARIANTS = {
  _own: (row, before, listener) => row.seat === listener,
  _hidden: (row) => Object.values(row).includes(HIDDEN),
  _short: (row) => row.paid < row.due,
  _none: (row) => row.paid === 0,
  _next: (row) => row.pile > 0,
  _after: (row, before) => row.seat === before?.seat,
};

/** Tells the events of a round, in order, to one listener. */
export class EventTexts {
  #before = null;
  /** The lines of the settlement. */
  settlement = [];

  /**
   * `kinds` by name as in the game's events.toml, the texts `told` and the `words` of a language, `spellings` of the game alone;
   * `listener` is a seat, null for other readers.
   */
  constructor({ kinds, told, words, seats, spellings = {}, listener = null }) {
    Object.assign(this, { kinds, told, seats, listener });
    this.spellings = {
      seat: (seat) => seats.called[seat],
      seats: (bits, row) => seats.listed(seatsIn(bits, row.other, seats.called.length)),
      number: (value) => value,
      count: (value) => counted(words, value, words.cards),
      ...spellings,
    };
  }

  /** Returns what is said and seen of the rows of a ply: seats, null for a line of its own, and texts. */
  tell(rows) {
    const heard = [];
    for (const row of rows) {
      const kind = this.kinds[row.kind];
      if (kind) this.#add(kind, row, this.#text(kind, row), heard);
      this.#before = row;
    }
    return heard;
  }

  #add({ said, joined, settlement }, { seat }, text, heard) {
    if (joined) heard.at(-1)[1] += ` ${text}`;
    else if (said) heard.push([seat, text]);
    else if (settlement) this.settlement.push(this.seats.sentence(text));
    else heard.push([null, this.seats.sentence(text)]);
  }

  #text({ spell }, row) {
    let key = row.kind;
    for (const [suffix, holds] of Object.entries(VARIANTS)) {
      if (key + suffix in this.told && holds(row, this.#before, this.listener)) key += suffix;
    }
    const text = this.told[key];
    const named = Object.entries(spell).filter(([column]) => text.includes(`{${column}}`) || text.includes(`{${column}:`));
    return format(text, Object.fromEntries(named.map(([column, how]) => [column, this.spellings[how](row[column], row)])));
  }
}

/** Returns the seats of a set in the order of play, from the seat `first` on; -1: from seat 0. */
export function seatsIn(bits, first, players) {
  const order = Array.from({ length: players }, (_, place) => (Math.max(first, 0) + place) % players);
  return order.filter((seat) => (bits >> seat) & 1);
}
