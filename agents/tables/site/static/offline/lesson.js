// What a guided round says at each position of the learner.

import { format } from "./text.js";

/** Returns the sentences on a position; `guide` are the texts of the lesson. */
export function lesson(live, seat, guide, words) {
  if (live.roundOver) return [guide.over];
  if (!live.personsTurn || live.seat !== seat) return [live.decided.length ? guide.others : guide.begin];
  const { table, legal, match } = live;
  const { playable } = live.shown(seat, true);
  const required = table.required_rank;
  const turn = required === 0 ? guide.lead : format(guide.follow, { rank: words.rank_names[required - 1] });
  const takes = playable.some(([action]) => match.isPotCard(action));
  return [...(live.decided.length ? [] : [guide.goal]), turn, ...(takes ? [guide.pot] : []), ...(required && legal.length > playable.length ? [guide.pass] : [])];
}
