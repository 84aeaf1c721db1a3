"""Compares players of other libraries' games over duplicate deals, and by the mean returns of as many separate games.

For each game of PettingZoo and OpenSpiel there are a hero and a field. The edge over --deals duplicate deals takes one game for
each seat of the hero and one of the field alone. Raw returns are those of the hero in as many games, each on a deal of its own,
with the hero in each seat in turn: in games for zero they have the same mean. `times` is how many times as many separate games an
interval of the edge's width takes. `rate` is the processor time of a bare loop over the same games, with the same players, over
that of the edge: the two are timed in turn, --repeats times, and the median counts.

--coverage instead counts how many of so many 95 % intervals over 300 deals each contain the exact value, in OpenSpiel's Leduc and
three-handed Kuhn poker, of policies after 1 and 30 iterations of CFR.

  python benchmarks/any_game.py --markdown          about four minutes; the page is docs/any_game.md
  python benchmarks/any_game.py --coverage 1000     about ten minutes
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pettingzoo
import pyspiel
from figures import ROOT, Spread, add_output_options, in_a_sentence, publish, table, where_and_when, write
from matplotlib.figure import Figure
from numpy.typing import NDArray
from open_spiel.python.algorithms import cfr, expected_game_score
from plots import OURS, save

from nainjaune_agents import edge
from nainjaune_agents.measure.any_game.foreign_game import ForeignGame
from nainjaune_agents.measure.any_game.game_table import game_of
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.report.format_ci import mean_ci
from nainjaune_agents.measure.stats.differences import Differences

PLOT = ROOT / "docs" / "images" / "any_game.svg"
PAGE = ROOT / "docs" / "any_game.md"
CALL, RAISE, FOLD, CHECK = range(4)
"""The actions of PettingZoo's poker games."""
KNOCK, DISCARDS = 55, 52
"""Of OpenSpiel's gin rummy: the action that knocks, and as many first actions that discard a card."""


def bold(observation: Any, mask: Any) -> int:
    """Raises where that is legal, and else calls."""
    return next(action for action in (RAISE, CALL, CHECK) if mask[action])


def leduc_by_card(observation: Any, mask: Any) -> int:
    """Raises with a king or a pair, checks, calls with a queen, and folds a jack."""
    card = int(observation[:3].argmax())
    strong = card == 2 or observation[3 + card]
    wishes = (RAISE, CALL) if strong else (CHECK, CALL) if card else (CHECK, FOLD)
    return next(action for action in (*wishes, CHECK, FOLD) if mask[action])


def texas_by_pair(observation: Any, mask: Any) -> int:
    """Raises with a rank that is there twice, and else checks or calls."""
    ranks = observation[:52].reshape(4, 13).sum(axis=0)
    wishes = (RAISE, CALL, CHECK) if ranks.max() > 1 else (CHECK, CALL)
    return next(action for action in (*wishes, FOLD) if mask[action])


def gin_by_rank(observation: Any, mask: Any) -> int:
    """Knocks where that is legal, discards a card of the highest rank, and else takes the last legal action."""
    if mask[KNOCK]:
        return KNOCK
    legal = np.flatnonzero(mask)
    discards = legal[legal < DISCARDS]
    return int(max(discards, key=lambda card: card % 13) if len(discards) > 1 else legal[-1])


def gin_by_suit(observation: Any, mask: Any) -> int:
    """The same with a discard of the last suit."""
    legal = np.flatnonzero(mask)
    discards = legal[legal < DISCARDS]
    return KNOCK if mask[KNOCK] else int(discards[-1] if len(discards) > 1 else legal[-1])


def solved(game: Any, iterations: int) -> Any:
    """Returns the average policy of CFR after so many iterations."""
    solver = cfr.CFRSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return solver.average_policy()


def poker(name: str) -> Any:
    """Returns an environment of PettingZoo."""
    return pettingzoo.make("aec", f"classic/{name}")


def by_cfr(name: str, *iterations: int) -> tuple[Any, ...]:
    """Returns a game of OpenSpiel and its policies after these numbers of iterations."""
    game = pyspiel.load_game(name)
    return game, *(solved(game, number) for number in iterations)


class Case(NamedTuple):
    """A game, and two of its players."""

    library: str
    game: str
    players: str
    make: Callable[[], tuple[Any, ...]]
    """Makes the environment or game, the hero and the field."""


CASES = (
    Case("PettingZoo", "Leduc", "by card / bold", lambda: (poker("leduc_holdem-v4"), leduc_by_card, bold)),
    Case("PettingZoo", "Texas hold'em", "by pair / bold", lambda: (poker("texas_holdem-v4"), texas_by_pair, bold)),
    Case("OpenSpiel", "Kuhn, 3 seats", "CFR 30 / CFR 1", partial(by_cfr, "kuhn_poker(players=3)", 30, 1)),
    Case("OpenSpiel", "Leduc", "CFR 30 / CFR 10", partial(by_cfr, "leduc_poker", 30, 10)),
    Case("OpenSpiel", "gin rummy", "by rank / by suit", lambda: (pyspiel.load_game("gin_rummy"), gin_by_rank, gin_by_suit)),
)


def raw_returns(game: ForeignGame, hero: Any, field: Any, games: int) -> NDArray[np.float64]:
    """Returns the hero's returns in games on deals of their own, in each seat in turn, ``(games,)``."""
    players, n = [game.seated(policy, "it") for policy in (hero, field)], game.seats
    values = []
    for number in range(games):
        seating = np.array([[int(seat != number % n) for seat in range(n)]])
        values.append(game.play(players, seating, (1 << 30) + number, 1, field=1).payoff[0, 0, number % n])
    return np.array(values) / game.scale


def bare_aec(env: Any, players: Sequence[Any], numbers: Sequence[int]) -> None:
    """Plays games as PettingZoo's documentation does."""
    at = dict(zip(env.possible_agents, players, strict=True))
    for number in numbers:
        env.reset(seed=number)
        returns = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            returns[agent] += reward
            over = terminated or truncated
            env.step(None if over else at[agent](observation["observation"], observation["action_mask"]))


def bare_open_spiel(game: Any, players: Sequence[Any], numbers: Sequence[int]) -> None:
    """Plays games as OpenSpiel's examples do, with policies by state or by tensor and mask."""
    by_state = hasattr(players[0], "action_probabilities")
    actions = game.num_distinct_actions()
    for number in numbers:
        rng, state = random.Random(number), game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                choices, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(choices, weights)[0])
                continue
            player = players[state.current_player()]
            if by_state:
                probabilities = player.action_probabilities(state)
                action = rng.choices([*probabilities], [*probabilities.values()])[0]
            else:
                mask = np.zeros(actions, np.int8)
                mask[state.legal_actions()] = 1
                action = player(np.array(state.observation_tensor(state.current_player()), np.float32), mask)
            state.apply_action(action)
        state.returns()


def seconds(play: Callable[[], object]) -> float:
    """Returns the processor time that a call takes."""
    start = time.process_time()
    play()
    return time.process_time() - start


def measured(case: Case, deals: int, repeats: int) -> dict[str, Any]:
    """Measures a case."""
    env, hero, field = case.make()
    game = game_of(env, 0)
    games = deals * (game.seats + 1)
    result = edge(hero, field, deals, env=env, progress=False)
    raw = Differences.of(raw_returns(game, hero, field, games))
    bare = bare_open_spiel if case.library == "OpenSpiel" else bare_aec
    tables = [[hero if seat == at else field for seat in range(game.seats)] for at in range(game.seats + 1)]
    numbers = game._numbers(0, deals)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(seconds(lambda: edge(hero, field, deals, env=env, progress=False)))
        theirs.append(seconds(lambda: [bare(env, table, numbers) for table in tables]))
    return {
        "library": case.library, "game": case.game, "players": case.players, "seats": game.seats, "deals": deals, "games": games,
        "edge": [result.mean, result.ci95], "raw": [raw.mean, raw.half_width],
        "times": (raw.half_width / result.ci95) ** 2, "luck_removed": result.result.luck_removed(*result.result.agents),
        "seconds": {"ours": ours, "bare": theirs},
    }  # fmt: skip


def covered(name: str, samples: int, size: int = 300) -> dict[str, Any]:
    """Counts the intervals over ``size`` deals that contain the exact gain."""
    source, field, hero = by_cfr(name, 1, 30)
    game, n = game_of(source, 1), source.num_players()
    state = source.new_initial_state()
    value = partial(expected_game_score.policy_value, state)
    exact = np.mean([value([hero if seat == at else field for seat in range(n)])[at] for at in range(n)])
    exact -= np.mean(value([field] * n))
    players = [game.seated(policy, "it") for policy in (hero, field)]
    hits, shown = 0, 0
    for sample in range(samples):
        stats = Differences.of(FieldAlone(game, players[1], size, first=sample * size).gains(players[0]))
        shown += not np.isnan(stats.half_width)
        hits += abs(stats.mean - exact) <= stats.half_width
    return {"game": name, "samples": samples, "deals": size, "exact": float(exact), "intervals": shown, "contain": int(hits)}


def report(results: dict[str, Any]) -> str:
    """Returns the table, and where and when it was measured."""
    rows = []
    for case in results["cases"]:
        rate = Spread.of_ratios(case["seconds"]["bare"], case["seconds"]["ours"])
        rows.append([
            case["library"], case["game"], case["players"], f"{case['deals']:,}", mean_ci(*case["edge"]), mean_ci(*case["raw"]),
            f"{case['times']:.1f}", f"{rate.median:.2f} ({rate.least:.2f}–{rate.most:.2f})",
        ])  # fmt: skip
    head = ["library", "game", "hero / field", "deals", "edge", "raw returns of as many games", "times", "rate"]
    return "\n\n".join([table(head, rows), in_a_sentence(results["about"])])


def draw(results: dict[str, Any], path: Path) -> None:
    """Draws both intervals of each game, in half-widths of raw returns."""
    chart = Figure(figsize=(8.5, 0.9 + 0.62 * len(results["cases"])), layout="constrained")
    axes = chart.add_subplot()
    for at, case in enumerate(results["cases"]):
        unit = case["raw"][1]
        kinds = (("duplicate deals", "edge", OURS[1], -0.13), ("raw returns of as many games", "raw", "#999999", 0.13))
        for label, kind, colour, off in kinds:
            mean, half = (value / unit for value in case[kind])
            axes.errorbar(mean, at + off, xerr=half, fmt="o", ms=4, color=colour, capsize=3, label=label if not at else None)
    axes.axvline(0, color="#999999", lw=0.8)
    axes.set_yticks(range(len(results["cases"])), [f"{case['game']} ({case['library']})" for case in results["cases"]])
    axes.invert_yaxis()
    axes.set_xlabel("hero over field, in half-widths of the 95 % interval of raw returns")
    axes.spines[["top", "right"]].set_visible(False)
    save(chart, axes, path)


def main(words: list[str] | None = None) -> None:
    """Measures, writes the figures, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=1000, help="duplicate deals of a game (1000)")
    parser.add_argument("--repeats", type=int, default=7, help="alternations of the two loops (7)")
    parser.add_argument("--coverage", type=int, metavar="SAMPLES", help="count covering intervals of so many samples instead")
    add_output_options(parser, "any_game", PLOT)
    parser.set_defaults(page=PAGE)
    options = parser.parse_args(words)
    if options.coverage:
        for name in ("leduc_poker", "kuhn_poker(players=3)"):
            print(covered(name, options.coverage))
        return
    about = where_and_when("pettingzoo", "rlcard", "open_spiel")
    results = {"about": about, "cases": [measured(case, options.deals, options.repeats) for case in CASES]}
    write(options.json, results)
    publish(options, "any_game", report(results), partial(draw, results), PLOT)


if __name__ == "__main__":
    main()
