// Your edge: what a person has won beyond the reference player with the same cards, over rounds, with its 95 % interval.

import { LiveTable } from "./live_table.js";
import { agentsAction, reference } from "./players.js";

export const MIN_ROUNDS = 10;
const NORMAL = 1.959963984540054; // the quantile of 97.5 %

/** Returns that quantile of Student's t with `degrees` of freedom, at least 9: Cornish and Fisher's expansion, exact to 0.0001. */
export function studentQuantile(degrees) {
  const z = NORMAL;
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160,
  ];
  return terms.reduce((sum, term, power) => sum + term / degrees ** (power + 1), z);
}

/** Returns the mean of differences and half the width of its interval, which is null under MIN_ROUNDS. */
export function summary(differences) {
  const count = differences.length;
  const mean = differences.reduce((sum, one) => sum + one, 0) / count;
  if (count < MIN_ROUNDS) return { rounds: count, mean, half: null, least: MIN_ROUNDS };
  const variance = differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1);
  return { rounds: count, mean, half: studentQuantile(count - 1) * Math.sqrt(variance / count) };
}

/** Plays the round that is over once more with the reference player in `seat`; returns its name and what both have won. */
export function compare(live, seat) {
  const { kind, settings } = live;
  const name = reference(kind, settings);
  const agents = settings.agents.map((agent, other) => (other === seat ? name : agent));
  const again = new LiveTable(kind, { ...settings, agents });
  again.replay(live.plies.slice(0, live.first - 1));
  while (!again.roundOver) again.apply(agentsAction(again));
  const [yours, others] = [live, again].map((each) => each.match.payoffs(each.table)[seat]);
  again.close();
  return { name, yours, reference: others };
}
