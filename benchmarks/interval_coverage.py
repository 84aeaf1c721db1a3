"""Measures how often 95 % intervals over deals contain the true edge: samples of few deals, drawn from very many.

The edge over all --population deals counts as the true one. From these deals samples are drawn with replacement, and each gets
four intervals: Student's t, the nominal one (``stats/differences.py``), Hall's (1992), which corrects Student's t for the
skewness of the sample, as wide on both sides as on the wider one, and the printed one. A row says how many samples have a nominal
interval and, of these, how many contain the true edge by each of the first three; how many have a printed interval and, of these,
how many contain the true edge; how many times as wide as the nominal one it is (median); and how many are called rough.

  python benchmarks/interval_coverage.py                    about three minutes
  python benchmarks/interval_coverage.py --preset skip --pots 60 --agents closer tally
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.base.task import Task
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.differences import Differences
from nainjaune_agents.measure.stats.intervals import t_95
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup
from nainjaune_env.core.errors import NainJauneError

CASES = [
    (preset, pots, pair)
    for preset in ("djeco", "classic", "skip", "tableau")
    for pots in (None, 60)
    for pair in (("zoo:strong", "closer"), ("closer", "tally"), ("tally", "lowest"))
]
"""Preset, chips in each pot before the antes, hero and field."""


def gains(
    preset: str | None, players: int | None, pots: int | None, pair: tuple[str, str], deals: int, seed: int
) -> NDArray[np.float64]:
    """Returns the hero's gain on each of ``deals`` deals, in the game's unit."""
    setup = make_setup(None, preset, players)
    task = Task(start="fresh" if pots is None else {"pots": [pots, pots]})
    hero, field = (load_agent(name, setup) for name in pair)
    set_torch_threads(1)
    return FieldAlone(OwnGame(setup, seed, task), field, deals).gains(hero)


def halls(values: NDArray[np.float64]) -> float:
    """Returns the half-width of the interval by Hall's transformation: the distance from the mean to its farther end."""
    count, deviations = len(values), values - values.mean()
    spread = np.sqrt((deviations**2).mean())
    if spread == 0:
        return 0.0
    skewness = (deviations**3).mean() / spread**3
    skewness = skewness if abs(skewness) > 1e-6 else 1e-6  # the transformation divides by it
    ends = np.array([-1, 1]) * t_95(count - 1) / np.sqrt(count)
    moved = 3 / skewness * (np.cbrt(1 + skewness * (ends - skewness / (6 * count))) - 1)
    return float(np.abs(moved).max() * values.std(ddof=1))


def row(population: NDArray[np.float64], heavy: bool, size: int, samples: int, rng: np.random.Generator) -> list[str]:
    """Returns the cells for ``samples`` samples of ``size`` deals; ``heavy`` as in :class:`Differences`."""
    nominal, printed, wider = [], [], []
    for _ in range(samples):
        values = population[rng.integers(len(population), size=size)]
        stats, off = Differences.of(values), abs(values.mean() - population.mean())
        stats.heavy = heavy
        if not np.isnan(stats.nominal_half_width):
            student = t_95(size - 1) * np.sqrt(stats.variance / size)
            nominal.append([off <= student, off <= stats.nominal_half_width, off <= halls(values)])
        if not np.isnan(stats.half_width):
            printed.append([off <= stats.half_width, stats.rough])
            wider.append(stats.half_width / stats.nominal_half_width if stats.nominal_half_width else 1)
    of_nominal = np.mean(nominal, axis=0) if nominal else np.full(3, np.nan)
    covered, rough = np.mean(printed, axis=0) if printed else np.full(2, np.nan)
    calibrated = [contains for contains, rough in printed if not rough]
    of_calibrated = np.mean(calibrated) if calibrated else np.nan
    shares = [len(nominal) / samples, *of_nominal, len(printed) / samples, covered, rough, of_calibrated]
    cells = [f"{100 * share:.1f} %" if share == share else "–" for share in shares]
    return [*cells[:-2], f"{np.median(wider):.2f}" if wider else "–", *cells[-2:]]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", help="measure this preset only, with --agents")
    parser.add_argument("--players", type=int, default=4, help="seats (default: %(default)s)")
    parser.add_argument("--pots", type=int, help="chips in each pot before the antes")
    parser.add_argument("--agents", nargs=2, metavar=("HERO", "FIELD"), default=["closer", "tally"])
    parser.add_argument("--population", type=int, default=40_000, help="deals to draw from (default: %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 50, 100, 200, 300, 1000], help="deals of a sample")
    parser.add_argument("--samples", type=int, default=2000, help="samples of each size (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=777)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Plays, draws and prints the table."""
    options = parse(arguments)
    cases = CASES if options.preset is None else [(options.preset, options.pots, tuple(options.agents))]
    rng = np.random.default_rng(options.seed)
    print(f"{options.players} seats, {options.population:,} deals of seed {options.seed}, {options.samples:,} samples\n")
    print(
        "| | pots | hero, field | skewness | deals | nominal | Student's t | of nominal | Hall's | printed | of printed "
        "| wider | rough | of the others |"
    )
    print("|---|---:|---" + "|---:" * 11 + "|")
    for preset, pots, pair in cases:
        try:
            population = gains(preset, options.players, pots, pair, options.population, options.seed)
        except NainJauneError as error:
            sys.exit(str(error))
        skewness = ((population - population.mean()) ** 3).mean() / population.std() ** 3
        for size in options.sizes:
            cells = [preset, str(pots or ""), ", ".join(f"`{name}`" for name in pair), f"{skewness:.1f}", f"{size:,}"]
            print(
                "|",
                " | ".join([f"`{cells[0]}`", *cells[1:], *row(population, pots is not None, size, options.samples, rng)]),
                "|",
                flush=True,
            )


if __name__ == "__main__":
    main()
