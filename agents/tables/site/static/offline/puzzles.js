// Puzzles: recorded positions at which one move clearly leads. The reader guesses first.

import { parseRecord } from "../wasm/record.js";
import { LiveTable, Rules } from "./live_table.js";

/** A recorded position as a table at which its seat to act is a person's. */
export class PuzzleTable extends LiveTable {
  /** `puzzle` is { round, move, values, record }, as `nainjaune puzzles` writes it; `reader` is the person's name, `names` are those of agents. */
  constructor(kind, { round, move, values, record }, reader, names) {
    const { preset, players, agents } = record;
    const settings = { game: kind.name, preset, players, knobs: {}, names: agents, rounds: 1, seed: "0", every_ply: false, advice: false };
    super(kind, { ...settings, agents });
    super.close();
    this.values = values;
    this.replay = kind.module.replay(parseRecord(JSON.stringify(record)));
    this.session = this.replay.session;
    this.rules = new Rules(kind, this.session, settings);
    const moves = this.replay.round(round);
    for (let made = 0; made < move; made += 1) {
      const { value } = moves.next();
      const { events } = this.session;
      this.table = this.session.table;
      if (value === null) this.match = new kind.Match(this.rules, this.table, events);
      else this.match.ply(events);
    }
    const seated = (mine, others) => agents.map((name, seat) => (seat === this.seat ? mine : others(name)));
    this.settings = { ...settings, names: seated(reader, (name) => names[name] ?? name), agents: seated(null, (name) => name) };
  }

  close() {
    this.replay.free();
  }

  /** Returns how good an action is: the names of it and of the best move, and by how much it is behind. */
  judge(action, language) {
    const speaker = this.speaker(this.seat, language, this.seat);
    const [[best, most], [, second]] = this.values;
    const given = this.values.find(([each]) => each === action)[1];
    const number = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    const name = (each) => speaker.echo(each, this.table);
    return { right: action === best, best: name(best), chosen: name(action), behind: number.format(most - given), lead: number.format(most - second), unit: speaker.unit };
  }
}
