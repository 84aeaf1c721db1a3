"""Measures how often sequential tests and any-time intervals err: on deals drawn from very many, with the mean at a bound.

For each preset, start and pair of agents, --population deals are played both ways, as in nainjaune evaluate. Their mean advantage
counts as the true one. Each of --tests draws deals with replacement and looks at them every 256, up to --cap. It asks six
questions: for each distance of the bounds, whether the mean is at most itself or at least so much more (the truth at LOW), and
whether it is at most so much less or at least itself (the truth at HIGH). A row says how many any-time intervals missed the mean
at any look, and for each distance how many tests erred with the truth at LOW and at HIGH, how many were undecided, and the mean
number of deals, of both. Below stand the largest shares with their 95 % intervals (Wilson 1927).

  python benchmarks/sequential_errors.py --tests 2000               about 20 minutes
  python benchmarks/sequential_errors.py --preset tableau --start pots=60 --agents closer tally --no-outliers
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.base.task import Task, parse_start
from nainjaune_agents.measure.arena.openings import most_chips_at_start
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.rows import ROW
from nainjaune_agents.measure.stats.differences import Differences, Side
from nainjaune_agents.measure.stats.intervals import Z_95
from nainjaune_agents.measure.stats.sequential import SequentialTest, anytime_half_width
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.spec import Setup

PRESETS = ("djeco", "classic", "skip", "tableau")
STARTS = ("fresh", "pots=20", "pots=60", "carried")
PAIRS = (("closer", "tally"), ("tally", "lowest"))


@dataclass
class Question:
    """A test with the truth at one of its bounds, asked many times."""

    test: SequentialTest
    wrong: str
    """The outcome that is an error."""
    outcomes: list[str] = field(default_factory=list)
    deals: list[int] = field(default_factory=list)

    def ask(self, seen: Differences) -> bool:
        """Returns whether the test decides; keeps what it decides, and when."""
        outcome = self.test.outcome(seen)
        if outcome != "undecided":
            self.keep(outcome, seen.count)
        return outcome != "undecided"

    def keep(self, outcome: str, deals: int) -> None:
        """Keeps an outcome after so many deals."""
        self.outcomes.append(outcome)
        self.deals.append(deals)


def advantages(setup: Setup, task: Task, pair: list[str], deals: int, seed: int) -> NDArray[np.float64]:
    """Returns the advantage of the first agent of ``pair`` over the second on each of ``deals`` deals."""
    agents = [load_agent(name, setup) for name in pair]
    set_torch_threads(1)
    source = OwnGame(setup, seed, task)
    there, back = (FieldAlone(source, field, deals).gains(hero) for hero, field in (agents, agents[::-1]))
    return (there - back) / 2


def simulated(
    population: NDArray[np.float64], outlier: float, distances: list[float], tests: int, cap: int, rng: np.random.Generator
) -> tuple[int, list[Question]]:
    """Returns how many any-time intervals missed, and two questions for each distance: the truth at LOW, and at HIGH."""
    mean, missed = float(population.mean()), 0
    questions = []
    for distance in distances:
        questions.append(Question(SequentialTest(mean, mean + distance), "stronger"))
        questions.append(Question(SequentialTest(mean - distance, mean), "not stronger"))
    for _ in range(tests):
        asked, misses = questions, False
        for seen in looks(population, outlier, cap, rng):
            misses = misses or abs(seen.mean - mean) > anytime_half_width(seen)
            asked = [question for question in asked if not question.ask(seen)]
        for question in asked:
            question.keep("undecided", cap)
        missed += misses
    return missed, questions


def looks(population: NDArray[np.float64], outlier: float, cap: int, rng: np.random.Generator) -> Iterator[Differences]:
    """Yields the differences so far at each look of a test on ``cap`` deals drawn from ``population``."""
    drawn = population[rng.integers(len(population), size=(cap // ROW, ROW))]
    sides = []
    for sizes in (np.maximum(drawn, 0), np.maximum(-drawn, 0)):
        numbers, sums, squares = (sizes > 0).sum(axis=1), sizes.sum(axis=1), (sizes**2).sum(axis=1)
        sides.append(list(map(Side, *(part.cumsum().tolist() for part in (numbers, sums, squares)))))
    for number, (above, below) in enumerate(zip(*sides, strict=True), start=1):
        count = number * ROW
        mean = (above.sizes - below.sizes) / count
        yield Differences(count, mean, above.squares + below.squares - count * mean**2, (above, below), outlier=outlier)


def share(count: int, total: int) -> str:
    """Returns a share in per cent with Wilson's 95 % interval."""
    part, weight = count / total, Z_95**2 / total
    middle, half = part + weight / 2, math.sqrt(weight * (part * (1 - part) + weight / 4))
    low, high = ((middle + side * half) / (1 + weight) for side in (-1, 1))
    return f"{100 * part:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", nargs="+", default=PRESETS, help="presets (default: all)")
    parser.add_argument("--start", nargs="+", default=STARTS, help="starts (default: %(default)s)")
    parser.add_argument("--players", type=int, default=4, help="seats (default: %(default)s)")
    parser.add_argument("--agents", nargs=2, action="append", metavar=("A", "B"), help="a pair (default: two pairs)")
    parser.add_argument("--population", type=int, default=60_000, help="deals to draw from (default: %(default)s)")
    parser.add_argument("--distances", type=float, nargs="+", default=[0.05, 0.1, 0.2], help="from LOW to HIGH")
    parser.add_argument("--tests", type=int, default=1000, help="tests of each question (default: %(default)s)")
    parser.add_argument("--cap", type=int, default=100_000, help="most deals of a test (default: %(default)s)")
    parser.add_argument("--no-outliers", action="store_true", help="without the two values that count beside those seen")
    parser.add_argument("--seed", type=int, default=4242)
    options = parser.parse_args(arguments)
    if options.cap < ROW:
        parser.error(f"--cap is at least the {ROW} deals between two looks, not {options.cap}.")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Plays, draws and prints the table."""
    options = parse(arguments)
    rng = np.random.default_rng(options.seed)
    print(f"{options.players} seats, {options.population:,} deals of seed {options.seed}, {options.tests:,} tests\n")
    heads = [f"{distance:g} apart: at LOW, at HIGH | undecided | deals" for distance in options.distances]
    print("| | start | A, B | mean | skewness | any-time | " + " | ".join(heads) + " |")
    print("|---|---|---|---:|---:|---:" + "|---:" * 3 * len(heads) + "|")
    cases = [(preset, start, pair) for preset in options.preset for start in options.start for pair in options.agents or PAIRS]
    most_missed, most_wrong = 0, 0
    for preset, start, pair in cases:
        try:
            setup, task = make_setup(None, preset, options.players), Task(start=parse_start(start))
            population = advantages(setup, task, pair, options.population, options.seed)
        except NainJauneError as error:
            sys.exit(str(error))
        outlier = 0.0 if options.no_outliers else most_chips_at_start(setup, task) / 2
        missed, questions = simulated(population, outlier, options.distances, options.tests, options.cap, rng)
        skewness = ((population - population.mean()) ** 3).mean() / population.std() ** 3
        wrong = [question.outcomes.count(question.wrong) for question in questions]
        most_missed, most_wrong = max(most_missed, missed), max(most_wrong, *wrong)
        cells = [f"`{preset}`", start, ", ".join(f"`{name}`" for name in pair), f"{population.mean():+.3f}", f"{skewness:.1f}"]
        cells.append(f"{100 * missed / options.tests:.1f} %")
        for at in range(0, len(questions), 2):
            low, high = (f"{100 * count / options.tests:.1f}" for count in wrong[at : at + 2])
            both = questions[at : at + 2]
            undecided = np.mean([outcome == "undecided" for question in both for outcome in question.outcomes])
            deals = np.mean([question.deals for question in both])
            cells += [f"{low}, {high} %", f"{100 * undecided:.0f} %", f"{deals:,.0f}"]
        print("|", " | ".join(cells), "|", flush=True)
    print(f"\nLargest shares: of any-time intervals {share(most_missed, options.tests)} miss, ", end="")
    print(f"of tests {share(most_wrong, options.tests)} err.")


if __name__ == "__main__":
    main()
