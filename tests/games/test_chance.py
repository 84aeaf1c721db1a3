"""What a game says of chance: the same openings as a batch deals, each as likely, and bounds that no round leaves."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.study.exact.tree import collect_openings
from nainjaune_env.core.spec import Chance, Setup, list_openings
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.contract import CHOICES, all_setups, any_setup, payoffs, single

UNSEEN = ("rng", "deck")
"""Fields that say what later rounds will be dealt, and nothing of this one."""
MICRO: list[Any] = [
    pytest.param(make_setup(game, preset, 2, **knobs), deals, id=f"{game} {knobs}")
    for game, preset, knobs, deals in (
        ("nain_jaune", "djeco", {"ranks": 4, "suits": 1, "hand": 2}, 2 * 6),
        ("nain_jaune", "skip", {"ranks": 5, "suits": 2, "hand": 4}, 2 * math.comb(10, 4) * math.comb(6, 4)),
        ("nain_jaune", "djeco", {"ranks": 6, "suits": 2, "hand": 5}, 2 * math.comb(12, 5) * math.comb(7, 5)),
        ("batasaurus", "batasaurus", {"dinosaurs": 3}, 2 * 6 * 6),
        ("batasaurus", "batasaurus", {"dinosaurs": 4, "memory": "perfect"}, 2),
    )
]


def chance_of(setup: Setup) -> Chance:
    assert setup.game.chance is not None
    return setup.game.chance


def assert_like(setup: Setup, one: Any, two: Any) -> None:
    """No seat can tell the two tables apart."""
    batch = Batch(setup, 2, skip_forced=False)
    batch.set_tables([0, 1], np.array([one, two], setup.game.table))
    assert batch.legal[0] == batch.legal[1]
    for seat in range(setup.players):
        shown = batch.observe(seat)
        np.testing.assert_array_equal(shown[0], shown[1])


def same_but_unseen(one: Any, two: Any) -> bool:
    return all(np.array_equal(one[name], two[name]) for name in one.dtype.names if name not in UNSEEN)


@pytest.mark.parametrize("setup", [*all_setups("chance"), *(pytest.param(p.values[0], id=f"micro {p.id}") for p in MICRO)])
def test_draws_make_the_table_that_a_batch_dealt(setup: Setup) -> None:
    chance = chance_of(setup)
    for table in Batch(setup, 20, seed=3, skip_forced=False).tables:
        drawn = chance.draws(setup, table)
        assert len(drawn) == chance.extent(setup).draws
        for k, outcome in enumerate(drawn):
            allowed = chance.outcomes(setup, drawn[:k])
            assert chance.outcomes(setup, drawn[:k], chance.outcomes(setup, drawn[: k - 1]) if k else ()) == allowed
            assert outcome in allowed == sorted(set(allowed))
            assert len({chance.name(setup, drawn[:k], other) for other in allowed}) == len(allowed)
        assert chance.outcomes(setup, drawn) == []
        made = chance.opening(setup, drawn)
        assert same_but_unseen(made, table)
        assert made["rng"] == 0
        again = chance.canonical(setup, drawn)
        assert chance.canonical(setup, again) == again
        assert chance.describe(setup, again) == chance.describe(setup, drawn)
        assert_like(setup, chance.opening(setup, again), table)


@pytest.mark.slow
@pytest.mark.parametrize(("setup", "deals"), MICRO)
def test_openings_are_all_there_are_and_as_likely(setup: Setup, deals: int) -> None:
    chance = chance_of(setup)
    listed = list(chance.openings(setup))
    ways = dict(listed)
    assert len(ways) == len(listed) == len({chance.describe(setup, drawn) for drawn in ways})
    assert all(chance.canonical(setup, drawn) == drawn for drawn in ways)
    assert chance.extent(setup).openings == len(listed)
    assert list_openings(chance, setup, len(listed)) == listed
    assert list_openings(chance, setup, len(listed) - 1) is None
    assert sum(ways.values()) == deals
    tables = Batch(setup, 8_000, seed=4, skip_forced=False, observe=False).tables
    met = Counter(chance.canonical(setup, chance.draws(setup, table)) for table in tables)
    assert met.keys() <= ways.keys()
    # lumped together until each lump is large enough for its square to be trusted
    lumps, expected, got = [], 0.0, 0
    for drawn, number in sorted(ways.items()):
        expected, got = expected + len(tables) * number / deals, got + met[drawn]
        if expected > 50:
            lumps.append((expected, got))
            expected, got = 0.0, 0
    chi2 = sum((got - expected) ** 2 / expected for expected, got in lumps)
    free = len(lumps) - 1
    assert chi2 < free + 5 * math.sqrt(2 * free)


@pytest.mark.parametrize(
    "setup", [make_setup("nain_jaune", players=2), make_setup("nain_jaune", "classic", 8), make_setup("batasaurus")]
)
def test_a_list_of_openings_that_is_too_long_is_refused_before_it_is_made(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = chance_of(setup)
    monkeypatch.setattr(chance, "openings", lambda setup: pytest.fail("listed"))
    assert list_openings(chance, setup, 100_000) is None


@pytest.mark.parametrize("setup", [p.values[0] for p in MICRO if p.values[0].game.name == "batasaurus"])
def test_openings_are_those_that_drawing_deals_collects(setup: Setup) -> None:
    collected, chance = collect_openings(setup), chance_of(setup)
    listed = list(chance.openings(setup))
    assert {row.tobytes() for row in collected.tables} == {chance.opening(setup, drawn).tobytes() for drawn, _ in listed}
    assert {ways for _, ways in listed} == {1}


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(setup=any_setup("chance"), seed=st.integers(0, 2**64 - 1), choice=st.sampled_from(sorted(CHOICES)))
def test_no_round_is_longer_or_pays_more_than_its_extent(setup: Setup, seed: int, choice: str) -> None:
    extent = chance_of(setup).extent(setup)
    batch = single(setup, seed=seed, observe=False)
    rng, plies = random.Random(seed), 0
    while batch.legal[0]:
        batch.step([CHOICES[choice]([a for a in range(63) if batch.legal[0] >> a & 1], rng)])
        plies += 1
    assert plies <= extent.plies
    assert extent.least <= min(payoffs(batch)) <= max(payoffs(batch)) <= extent.most
