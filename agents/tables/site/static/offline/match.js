// What the matches of all games have in common: the events of the current round, row by row, and what is said of them.

import { PUBLIC } from "../wasm/index.js";
import { EventTexts } from "./event_texts.js";
import { counted, SeatNames } from "./text.js";

/** The current round of a match, followed ply by ply. Figures are the kernel's: tables and rows of the module. */
export class Match {
  /** `rules` are `Rules` of live_table.js, `table` has just been dealt, and `opening` are the rows of the deal. */
  constructor(rules, table, opening) {
    Object.assign(this, { rules, opening });
    this.plies = []; // the rows of each
  }

  /** Notes the rows of a ply. */
  ply(rows) {
    this.plies.push(rows);
  }
}

/** What is said of a round to the listener in `seat`, null a spectator, and to the reader `you`, in one language. */
export class Speaker {
  constructor(match, { words, phrases, told }, seat, names, you) {
    const { events, session } = match.rules;
    Object.assign(this, { match, words, phrases, told });
    this.seats = new SeatNames(words, names, you);
    const texts = new EventTexts({ kinds: events, told, words, seats: this.seats, spellings: this.spellings, listener: seat });
    this.heard = match.plies.map((rows) => texts.tell(session.hide(rows, seat ?? PUBLIC))); // by ply: seats or null, and texts
    this.settlement = texts.settlement;
  }

  /** The noun of amounts, one and many. */
  get noun() {
    return this.words[this.match.rules.unit];
  }

  get unit() {
    return this.noun[1];
  }

  amount(number) {
    return counted(this.words, number, this.noun);
  }
}
