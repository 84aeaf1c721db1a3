// The players that take seats: heuristics of the module by name, and trained networks where the site has one for the rules.

import { stateOf } from "./random.js";

export const PURPOSE = 10n; // of the generators of decisions, as `Stream.SERVE`
export const STRONG = "zoo:strong";
const SEARCH = /^([^@]+)@search=(\d{1,3})$/; // a heuristic that plays each move out that many times

/** Returns the path of the network for a setup, or undefined; it plays the preset as it is. */
export const networkOf = (kind, { preset, players, knobs }) =>
  Object.keys(knobs).length ? undefined : kind.setup.networks[`${preset}-${players}`];

/** Returns the names of the players that can be seated at a table with these settings. */
export function offered(kind, settings) {
  return [...Object.keys(kind.module.description.agents), ...(networkOf(kind, settings) ? [STRONG] : [])];
}

/** Returns the player whom results are compared with: the strongest that the site has for these settings. */
export const reference = (kind, settings) => (networkOf(kind, settings) ? STRONG : kind.module.description.yardstick);

/** Loads the network for a table into its module, once; `load(path)` gives the bytes of a file. */
export async function loadNetwork(kind, settings, load) {
  const path = networkOf(kind, settings);
  kind.networks ??= {};
  if (path && !kind.networks[path]) kind.networks[path] = kind.module.network(await load(path));
}

/** Returns whether a player can be seated: one of those offered, or a heuristic of these that searches. */
export function isSeatable(kind, settings, name) {
  const players = offered(kind, settings);
  return players.includes(name) || (players.includes(SEARCH.exec(name)?.[1]) && SEARCH.exec(name)[1] !== STRONG);
}

/** Returns the action of a player by name; the generator of a decision depends on its number alone. */
export function decide({ session, settings, kind, number }, name) {
  const state = stateOf(BigInt(settings.seed), PURPOSE, number);
  const search = SEARCH.exec(name);
  if (search === null) return session.decide(name === STRONG ? kind.networks[networkOf(kind, settings)] : name, state);
  const advice = session.advise({ player: search[1], state });
  advice.add(Number(search[2]));
  return advice.values[0].action;
}

/** Returns the ply of the seat to act, which is not a person's to choose: an agent's, or the one of a forced ply. */
export function agentsAction(live) {
  return live.needsDecision ? decide(live, live.settings.agents[live.seat]) : live.legal[0];
}
