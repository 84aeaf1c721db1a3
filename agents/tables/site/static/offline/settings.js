// The settings of a table, as the page sends them.

import { isSeatable, offered } from "./players.js";
import { format } from "./text.js";

const MAX_SEED = (1n << 64n) - 1n;

/** A message that is not right, with a sentence for whoever reads the page. */
export class SettingsError extends Error {}

/** Returns a random seed. */
export const randomSeed = () => (crypto.getRandomValues(new BigUint64Array(1))[0] >> 1n).toString();

/** Returns the settings of a table that the page has sent; `texts` are the sentences of refusals. */
export function readSettings(given, kinds, texts) {
  const refuse = (name, values = {}) => {
    throw new SettingsError(format(texts[name], values));
  };
  const kind = kinds.find(({ name }) => name === given.game) ?? refuse("no_game", { game: given.game });
  const preset = kind.setup.presets.find(({ name }) => name === given.preset) ?? refuse("no_preset", { preset: given.preset });
  if (!preset.players.includes(given.players)) refuse("no_players", { preset: preset.name, players: given.players });
  const values = checkedKnobs(kind, given);
  const seed = given.seed ?? randomSeed();
  if (!/^\d{1,20}$/.test(seed) || BigInt(seed) > MAX_SEED) refuse("no_seed", { most: MAX_SEED });
  const rules = { game: kind.name, preset: preset.name, players: given.players, knobs: given.knobs };
  const possible = offered(kind, rules);
  const agents = given.seats.map(({ agent }) => agent ?? null);
  for (const agent of agents) {
    if (agent !== null && !isSeatable(kind, rules, agent)) refuse("no_agent", { agent, agents: possible.join(", ") });
  }
  const persons = agents.filter((agent) => agent === null).length;
  if (persons > 1) refuse("one_person");
  const names = given.seats.map(({ agent, person, name }, seat) => ((name ?? person ?? "").trim() || agent || `person ${seat}`));
  const everyPly = given.every_ply ?? false;
  return { ...rules, names, agents, rounds: given.rounds, seed, pace: given.pace, every_ply: everyPly, advice: persons === 1 && given.advice !== false && !kind.Match.mustRemember(values) };
}

/** Returns the values of all knobs, of which the page has sent some. */
function checkedKnobs(kind, { preset, players, knobs, rounds }) {
  try {
    const session = kind.module.session({ preset, players, knobs, options: { whole_match: rounds === null ? 1 : 0 } });
    session.free();
    return session.rules;
  } catch (error) {
    throw error instanceof RangeError ? new SettingsError(error.message) : error;
  }
}
