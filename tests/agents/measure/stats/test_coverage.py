"""How often intervals over few deals contain the mean: real differences, played once, from which samples are drawn."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.base.task import FRESH, Start, Task
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Cell, Measurement, make_plan
from nainjaune_agents.measure.stats.differences import CALIBRATED_COUNT, MIN_COUNT, TOO_SHORT, Differences
from nainjaune_agents.measure.stats.sequential import anytime_half_width
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup

POTS: Start = {"pots": [60, 60]}
PAIRS = [("tally", "lowest"), ("closer", "tally"), ("zoo:strong", "closer")]


def source(preset: str, start: Start) -> OwnGame:
    return OwnGame(make_setup(None, preset, 4), 4242, Task(start=start))


def population_of(preset: str, pair: tuple[str, str], deals: int) -> NDArray[np.float64]:
    """The gains of the first of a ``pair`` in fields of the second on each of some fresh deals."""
    game = source(preset, FRESH)
    agents = [load_agent(name, game.setup) for name in pair]
    blocks = Measurement(make_plan(game, agents, deals, one_way=True), agents).blocks()
    gains = [block.rows[Cell(0, 1)].values - block.rows[Cell(1, 1)].values for block in blocks]
    means: NDArray[np.float64] = np.concatenate(gains).sum(axis=1) / 16  # over seats, and payoffs over seats
    return means


def missed(population: NDArray[np.float64], size: int, samples: int) -> float:
    """Returns the share of samples with an interval that do not contain the mean of the population; 0 without intervals."""
    drawn = population[np.random.default_rng(size).integers(len(population), size=(samples, size))]
    half = np.array([Differences.of(values).half_width for values in drawn])
    off, shown = np.abs(drawn.mean(axis=1) - population.mean()), ~np.isnan(half)
    return float((off > half)[shown].mean()) if shown.any() else 0.0


def check(preset: str, pair: tuple[str, str], deals: int, samples: int) -> None:
    """At most 7 % of fresh rounds' intervals miss, by 2.6 standard errors (the binomial's 99.5 % point)."""
    population = population_of(preset, pair, deals)
    for size in (MIN_COUNT, 50, 100, 200):
        assert missed(population, size, samples) < 0.07 + 2.6 * math.sqrt(0.07 * 0.93 / samples), size


def test_intervals_of_fresh_rounds_cover() -> None:
    check("tableau", PAIRS[0], 12_000, 800)  # Student's t misses most often there


@pytest.mark.long
@pytest.mark.parametrize("preset", ["djeco", "classic", "skip", "tableau"])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_intervals_of_fresh_rounds_cover_everywhere(preset: str, pair: tuple[str, str]) -> None:
    check(preset, pair, 60_000, 4000)


def test_with_given_pots_there_is_no_interval_over_few_deals() -> None:
    """Of 100 deals Student's t misses a quarter of the time, for samples lack the deals that take the pots."""
    game = source("tableau", POTS)
    pair = [load_agent(name, game.setup) for name in PAIRS[1]]
    for count in (100, CALIBRATED_COUNT):
        table = cross_table(game.setup, pair, deals=count, seed=1, task=game.task)
        shown = [*(edge.moments for edge in table.edges), table.advantage(*PAIRS[1]), *(mean for _, mean in table.ranking)]
        assert [math.isnan(stats.half_width) for stats in shown] == [count < CALIBRATED_COUNT] * 5
        assert (TOO_SHORT in table.notes) == (count < CALIBRATED_COUNT)


class Bars(NamedTuple):
    plain: float
    anytime: float


def coverage(population: NDArray[np.float64], runs: int) -> Bars:
    """The shares of runs of 3,000 deals whose plain interval over the first 300 and all of whose any-time ones have the mean."""
    mean, plain, anytime = float(population.mean()), 0, 0
    looks = (256, 300, 512, 768, 1024, 1536, 2048, 3000)
    for sample in population[np.random.default_rng(7).integers(len(population), size=(runs, looks[-1]))]:
        seen = {count: Differences.of(sample[:count]) for count in looks}
        plain += abs(seen[300].mean - mean) <= seen[300].half_width
        anytime += all(abs(stats.mean - mean) <= anytime_half_width(stats) for stats in seen.values())
    return Bars(plain / runs, anytime / runs)


@pytest.mark.parametrize(("preset", "pair"), [("tableau", PAIRS[0]), ("djeco", PAIRS[1])])
def test_plain_intervals_cover_at_300_deals_and_anytime_ones_at_all_looks(preset: str, pair: tuple[str, str]) -> None:
    """Bars of 93 to 97 %, and of 95 % for the any-time ones."""
    bars = coverage(population_of(preset, pair, 12_000), 2000)
    assert 0.93 <= bars.plain <= 0.97
    assert bars.anytime >= 0.95
