// The review of a seat's decisions at a table where everything is played: what each has cost, as `serve`'s reviewing.py has it.

import { LiveTable } from "./live_table.js";
import { PURPOSE } from "./players.js";
import { stateOf } from "./random.js";
import { intervals } from "./wording.js";

const CHOOSING = 512; // determinizations in which the best move of a decision is found
const MEASURING = 2000; // others in which it is compared with the move played
const FALSE_DISCOVERIES = 0.05;
const CHOOSES = PURPOSE + 1n; // purposes of generators
const MEASURES = PURPOSE + 2n;

/** Returns the table with its first plies, at which every seat is a person's. */
export function tableAt(kind, settings, plies) {
  const live = new LiveTable(kind, { ...settings, agents: settings.agents.map(() => null), every_ply: true });
  live.replay(plies);
  return live;
}

/** Yields messages on the progress of the review of a seat's decisions, and at last one with the review. */
export function* reviewSteps(kind, settings, plies, seat, language) {
  const numbers = decisionsOf(kind, settings, plies, seat);
  const live = tableAt(kind, settings, []);
  const reviewed = [];
  try {
    for (const [done, number] of numbers.entries()) {
      yield { type: "progress", seat, done, of: numbers.length };
      live.replay(plies.slice(live.number, number));
      reviewed.push(decisionAt(live, plies[number], language));
    }
    yield reviewOf(live, seat, withMistakes(reviewed), language);
  } finally {
    live.close();
  }
}

/** Returns the number of plies before each decision of a seat. */
function decisionsOf(kind, settings, plies, seat) {
  const live = tableAt(kind, settings, []);
  const numbers = [];
  for (const [number, action] of plies.entries()) {
    if (!live.roundOver && live.seat === seat && live.legal.length > 1) numbers.push(number);
    live.replay([action]);
  }
  live.close();
  return numbers;
}

/** Returns a decision with its cost: the best move's payoff minus that of the move played, in determinizations of its own. */
function decisionAt(live, played, language) {
  const { session, table, number, match } = live;
  const speaker = live.speaker(live.seat, language, live.seat);
  const choosing = session.advise({ state: stateOf(0n, CHOOSES, number) });
  for (const _ of choosing.sharpen({ error: 0, most: CHOOSING }));
  const best = choosing.values[0].action;
  return {
    number,
    round: live.rounds + 1,
    move: number - live.first + 2,
    kind: live.kind.texts[language].advice.kinds[match.kindOf(table, live.legal)],
    played: speaker.echo(played, table),
    best: speaker.echo(best, table),
    same: best === played,
    ...(best === played ? { regret: 0, error: 0 } : costOf(session, best, played, number)),
  };
}

function costOf(session, best, played, number) {
  const measuring = session.advise({ state: stateOf(0n, MEASURES, number) });
  measuring.add(MEASURING, [best, played]);
  const [first, second] = measuring.values;
  return { regret: first.action === best ? second.behind : -second.behind, error: second.behindError };
}

/** Returns the decisions with `mistake`, by Benjamini and Hochberg's step-up procedure over all of them. */
function withMistakes(decisions) {
  const ordered = decisions.map(({ regret, error }, place) => [pValue(regret, error), place]).sort(([one], [other]) => one - other);
  const last = ordered.findLastIndex(([value], rank) => value <= (FALSE_DISCOVERIES * (rank + 1)) / decisions.length);
  const mistakes = new Set(ordered.slice(0, last + 1).map(([, place]) => place));
  return decisions.map((decision, place) => ({ ...decision, mistake: mistakes.has(place) }));
}

/** Returns the one-sided p-value of a regret. */
function pValue(regret, error) {
  if (regret <= 0) return 1;
  return error > 0 ? upperTail(regret / error) : 0;
}

/** Returns the probability above `z` >= 0 of the normal distribution (Abramowitz and Stegun 26.2.17, exact to 7.5e-8). */
function upperTail(z) {
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}

function reviewOf(live, seat, decisions, language) {
  const interval = intervals(language);
  const cost = (regret, error) => interval(regret, error).replace(/^\+/, "");
  const total = decisions.reduce((sum, { regret }) => sum + regret, 0);
  return {
    type: "review",
    seat,
    unit: live.speaker(seat, language, seat).unit,
    model: live.kind.module.description.yardstick,
    deals: MEASURING,
    total: cost(total, Math.hypot(...decisions.map(({ error }) => error))),
    mistakes: decisions.filter(({ mistake }) => mistake).length,
    decisions: [...decisions].sort((one, other) => other.regret - one.regret)
      .map(({ regret, error, ...decision }) => ({ ...decision, cost: cost(regret, error), reason: null })),
  };
}
