"""How often intervals over few deals contain the mean: real differences, played once, from which samples are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.base.task import FRESH, Start, Task
from nainjaune_agents.measure.arena.duplicate import Duplicate
from nainjaune_agents.measure.arena.tournament import tournament
from nainjaune_agents.measure.arena.versus import versus
from nainjaune_agents.measure.stats.differences import CALIBRATED_COUNT, MIN_COUNT, TOO_SHORT, Differences
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup

POTS: Start = {"pots": [60, 60]}
PAIRS = [("tally", "lowest"), ("closer", "tally"), ("zoo:strong", "closer")]


def duplicate(preset: str, pair: tuple[str, str], start: Start) -> Duplicate:
    setup = make_setup(None, preset, 4)
    return Duplicate(setup, [load_agent(name, setup) for name in pair], seed=4242, task=Task(start=start))


def missed(population: NDArray[np.float64], size: int, samples: int) -> float:
    """Returns the share of samples with an interval that do not contain the mean of the population; 0 without intervals."""
    drawn = population[np.random.default_rng(size).integers(len(population), size=(samples, size))]
    half = np.array([Differences.of(values).half_width for values in drawn])
    off, shown = np.abs(drawn.mean(axis=1) - population.mean()), ~np.isnan(half)
    return float((off > half)[shown].mean()) if shown.any() else 0.0


def check(preset: str, pair: tuple[str, str], deals: int, samples: int) -> None:
    """At most 7 % of fresh rounds' intervals miss, by 2.6 standard errors (the binomial's 99.5 % point)."""
    played = duplicate(preset, pair, FRESH)
    parts = [played.play(0, 1, at, played.chunk)[1] for at in range(0, deals, played.chunk)]
    population = np.concatenate(parts).astype(np.float64)
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
    played = duplicate("tableau", PAIRS[1], POTS)
    for count in (100, CALIBRATED_COUNT):
        edge = played.edge(0, 1, count)
        assert math.isnan(edge.ci95) == (count < CALIBRATED_COUNT)
        assert all(math.isnan(seat.half_width) for seat in edge.by_seat) or count == CALIBRATED_COUNT
    compared = versus(played.setup, played.agents, deals=100, seed=1, task=played.task)
    assert compared.to_dict()["ci95"] is None
    assert TOO_SHORT in compared.notes
    result = tournament(played.setup, played.agents, deals=100, seed=1, task=played.task)
    assert np.isnan([*(edge.ci95 for edge in result.edges), result.advantage(*PAIRS[1]).half_width]).all()
