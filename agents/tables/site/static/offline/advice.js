// Advice on a position by playouts, from what its seat may know alone: messages that sharpen, as `serve`'s advising.py sends them.

import { LiveTable } from "./live_table.js";
import { PURPOSE } from "./players.js";
import { stateOf } from "./random.js";
import { format } from "./text.js";
import { intervals } from "./wording.js";

const ERROR = 0.1; // the search ends when the intervals of the best move's value and lead are as narrow, in the game's unit
const CLEAR = 1.96; // standard errors behind the best from which a move is clearly worse

/** Yields messages with advice after `plies` of a table, each sharper than the last. */
export function* adviceSteps(kind, settings, plies, language) {
  const live = new LiveTable(kind, settings);
  live.replay(plies);
  const seat = live.seat;
  const speaker = live.speaker(seat, language, seat);
  const texts = kind.texts[language].advising;
  const model = kind.module.description.yardstick;
  const advice = live.session.advise({ player: model, state: stateOf(0n, PURPOSE, live.number) });
  const interval = intervals(language);
  const message = (values, done) => {
    const [best] = values;
    const moves = values.map(({ action, mean, error, behind, behindError }) => ({
      action,
      name: speaker.echo(action, live.table),
      mark: action === best.action ? texts.best_mark : behind > CLEAR * behindError ? "" : texts.equal_mark,
      value: interval(mean, error),
      behind: action === best.action ? "—" : interval(-behind, behindError),
      reason: null,
    }));
    const unit = speaker.unit;
    const deals = Math.max(...values.map(({ count }) => count)).toLocaleString(language);
    const basis = speaker.seats.sentence(format(texts.basis, { unit, deals, model }));
    return { type: "advice", number: live.number, unit, moves, basis, done };
  };
  try {
    for (const values of advice.sharpen({ error: ERROR })) yield message(values, false);
    yield message(advice.values, true);
  } finally {
    live.close();
  }
}
