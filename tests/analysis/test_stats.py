"""What every game says there is to count, and counting it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.analysis.stat_hook import SHARE, columns, tally_dtype
from nainjaune_env.analysis.stats import tally
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game
from tests.support.contract import all_setups, any_setup
from tests.support.games import games_with, without
from tests.support.tallied import play_rounds

every_game = pytest.mark.parametrize("name", games_with("measures"))
every_setup = pytest.mark.parametrize("setup", all_setups("measures"))


@every_game
def test_measures_are_of_fields_that_there_are(name: str) -> None:
    measures = get_game(name).measures
    assert measures is not None
    assert len({measure.name for measure in measures.MEASURES}) == len(measures.MEASURES)
    for measure in measures.MEASURES:
        size = len(columns(measures.TALLY, measure.counts))
        assert len(measure.parts or [""]) == size
        assert len(set(measure.parts)) == len(measure.parts)
        assert measure.per is None or len(columns(measures.TALLY, measure.per)) in (1, size)
        assert measure.meaning.endswith(".")
        assert measure.title
    assert [measure.unit for measure in measures.MEASURES if measure.account] == [get_game(name).unit]


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(setup=any_setup("measures"), seed=st.integers(0, 2**32))
def test_an_account_adds_up_to_the_payoffs_under_any_knobs(setup: Setup, seed: int) -> None:
    rounds = play_rounds(setup, seed, 4, record=False)
    counted = rounds.counted()
    assert setup.game.measures is not None
    (account,) = (measure for measure in setup.game.measures.MEASURES if measure.account)
    assert rounds.field(account.counts, counted).sum(axis=2).tolist() == rounds.payoff.tolist()


@every_setup
def test_shares_are_shares(setup: Setup) -> None:
    """Seat by seat, never more of a thing than there could be."""
    rounds = play_rounds(setup, 3, 40, record=False)
    counted = rounds.counted()
    assert setup.game.measures is not None
    assert (counted.any(axis=(0, 1))).mean() > 0.5
    for measure in setup.game.measures.MEASURES:
        if measure.unit == SHARE:
            seen = rounds.field(measure.counts, counted)
            of = 1 if measure.per is None else rounds.field(measure.per, counted)
            of = of if np.ndim(of) == np.ndim(seen) or np.ndim(of) == 0 else of[..., None]
            assert (seen >= 0).all()
            assert (seen <= of).all(), measure.name


def test_seats_are_added_up_where_they_are_told_to() -> None:
    setup = all_setups("measures")[0].values[0]
    rounds = play_rounds(setup, 5, 30, record=False)
    counted, n = rounds.counted(), setup.players
    rows = np.random.default_rng(1).integers(-1, 4, (30, n))
    expected = np.array([counted[rows == row].sum(axis=0) for row in range(4)])
    before = rounds.deals.copy()
    assert tally(setup, rounds.deals, rounds.actions, rows, 4).tolist() == expected.tolist()
    order = np.random.default_rng(2).permutation(30)
    assert tally(setup, rounds.deals[order], rounds.actions, rows, 4, which=np.argsort(order)).tolist() == expected.tolist()
    assert rounds.deals.tobytes() == before.tobytes()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda given: {**given, "actions": given["actions"][:2]}, r"Round 0 is not finished by .* at most 2\.$"),
        (lambda given: {**given, "actions": given["actions"][:, :3]}, r"shape \(P, 6\), not int64 \(\d+, 3\)"),
        (lambda given: {**given, "actions": given["actions"] + 0.5}, r"whole numbers a step, .* not float64"),
        (
            lambda given: {**given, "actions": given["actions"] + 256},
            r"\(actions are 0 to \d+\) is not legal at decision 1 of round 0",
        ),
        (lambda given: {**given, "actions": np.where(given["actions"] > 0, 62, 63)}, r"^Action 6[23] \(actions"),
        (lambda given: {**given, "actions": -1 - given["actions"]}, r"^Action -\d+ \(actions"),
        (lambda given: {**given, "which": np.arange(6) - 1}, r"Deals are 0 to 5; got -1 to 4"),
        (lambda given: {**given, "which": np.arange(6) + 1}, r"Deals are 0 to 5; got 1 to 6"),
        (lambda given: {**given, "rows": given["rows"][:2]}, r"a row for each seat of each round"),
        (lambda given: {**given, "rows": given["rows"] + 1}, r"Rows are below 6, or negative .*; got 6"),
    ],
)
def test_what_does_not_fit_is_refused(spoil: Any, says: str) -> None:
    setup = all_setups("measures")[0].values[0]
    rounds = play_rounds(setup, 7, 6, record=False)
    rows = np.repeat(np.arange(6)[:, None], setup.players, axis=1)
    given = spoil({"actions": rounds.actions, "rows": rows})
    with pytest.raises(RecordError, match=says):
        tally(setup, rounds.deals, given["actions"], given["rows"], 6, which=given.get("which"))


def test_a_game_need_not_count_anything() -> None:
    setup = all_setups("measures")[0].values[0]
    rounds = play_rounds(setup, 7, 2, record=False)
    silent = without(setup, "measures")
    with pytest.raises(RecordError, match=f"{setup.game.title} has no statistics of play"):
        tally(silent, rounds.deals, rounds.actions, np.zeros((2, setup.players), np.int64), 1)


def test_fields_cannot_be_called_what_numpy_calls_its_own() -> None:
    with pytest.raises(ValueError, match="cannot be called 'size'"):
        tally_dtype(("cards", 1), ("size", 1))
    dtype = tally_dtype(("cards", 1), ("pots", 5), ("out", 1))
    assert [list(columns(dtype, name)) for name in ("cards", "pots", "out")] == [[0], [1, 2, 3, 4, 5], [6]]
