"""Advice: what it is made from, what it is not made from, and that its intervals are what they say."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.measure.stats.intervals import Z_95
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.advice import Advice, Adviser
from nainjaune_agents.study.advice.adviser import COARSE, FIRST, FIRST_SHOWN, HOPELESS, MAX_DEALS
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import ConfigError, DealError, IllegalActionError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.contract import helper
from tests.support.positions import small, turns
from tests.test_agent import untrained

DJECO = make_setup("nain_jaune", "djeco", 3)
PERFECT = make_setup("batasaurus", None, 3, memory="perfect")
both = pytest.mark.parametrize("setup", [DJECO, PERFECT], ids=["djeco", "batasaurus"])


def adviser(setup: Setup, name: str = "lowest", threads: int = 1) -> Adviser:
    agent = load_agent(name if setup is not PERFECT else "mirror", setup)
    return Adviser(setup, lambda: [agent] * setup.players, threads=threads)


def bits(advice: Advice) -> bytes:
    parts = (advice.best, advice.deals, advice.mean, advice.error, advice.behind, advice.behind_error)
    return b"".join(part.tobytes() for part in parts)


def positions(setup: Setup, seed: int, tables: int = 5) -> NDArray[Any]:
    """Tables in the middle of rounds, all of them known."""
    return [decisions._batch.tables[decisions.index].copy() for decisions in turns(setup, seed, tables=tables, steps=4)][-1]


@both
def test_what_is_hidden_moves_no_figure(setup: Setup) -> None:
    """The same position but for the cards that the seat to act cannot know: the same advice, to the last bit."""
    mixer = random.Random(1)
    tables = positions(setup, 7)
    mixed = np.array([helper(setup).reshuffle(setup, row, int(row.seat), mixer) for row in tables])
    assert mixed.tobytes() != tables.tobytes()
    wiped = tables.copy()
    batch = Batch(setup, len(tables))
    batch.set_tables(np.arange(len(tables)), tables)
    wiped[:] = batch.redacted()
    for agent in (load_agent("random", setup), untrained(setup)):
        player = Adviser(setup, lambda agent=agent: [agent] * setup.players)  # type: ignore[misc]
        advice = [player.advise(each, np.random.default_rng(3), deals=20) for each in (tables, mixed, wiped)]
        assert bits(advice[0]) == bits(advice[1]) == bits(advice[2])


@both
def test_how_many_threads_and_positions_there_are_makes_no_difference(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = positions(setup, 8)
    whole = adviser(setup).advise(tables, RowStreams(streams(1, 5), np.arange(5)), error=1.0)
    assert bits(adviser(setup, threads=3).advise(tables, RowStreams(streams(1, 5), np.arange(5)), error=1.0)) == bits(whole)
    monkeypatch.setattr("nainjaune_agents.study.advice.adviser.GROUP", 2)
    monkeypatch.setattr("nainjaune_agents.players.search.rollouts.ROWS", 300)
    done: list[int] = []
    again = adviser(setup).advise(tables, RowStreams(streams(1, 5), np.arange(5)), error=1.0, progress=done.append)
    assert bits(again) == bits(whole)
    assert done == [2, 2, 1]
    for k in range(5):
        alone = adviser(setup).advise(tables[k : k + 1], RowStreams(streams(1, 5)[k : k + 1], np.arange(1)), error=1.0)
        assert alone.mean.tobytes() == whole.mean[k : k + 1].tobytes()


def test_an_error_that_is_asked_for_is_reached() -> None:
    tables = positions(DJECO, 10)
    advice = adviser(DJECO).advise(tables, np.random.default_rng(1), error=0.5)
    for k in range(len(tables)):
        best, deals = int(advice.best[k]), advice.deals[k]
        assert 1.96 * advice.error[k, best, 0] <= 0.51
        assert deals.max() == deals[best]
        for action in np.flatnonzero(deals):
            behind, noise = advice.behind[k, action, 0], advice.behind_error[k, action, 0]
            if 1.96 * noise > 0.51:
                assert behind > HOPELESS * noise
                assert 1.96 * advice.error[k, action, 0] <= 0.51 * COARSE
    thorough = adviser(DJECO).advise(tables, np.random.default_rng(1), error=0.5, every=True)
    assert (1.96 * thorough.error[..., 0][thorough.deals > 0] <= 0.51).all()
    assert thorough.deals.sum() > advice.deals.sum()


def test_only_what_is_asked_about_is_tried() -> None:
    tables = positions(DJECO, 12)
    decisions = next(turns(DJECO, 1, tables=len(tables), steps=1))
    decisions._batch.set_tables(decisions.index, tables)
    words = np.array([1 << legal_actions(int(word))[-1] for word in decisions.legal])
    advice = adviser(DJECO).advise(tables, np.random.default_rng(1), deals=30, tried=words)
    assert ((advice.deals > 0) == (words[:, None] >> np.arange(24) & 1)).all()
    assert (1 << advice.best).tolist() == words.tolist()
    assert not advice.behind[advice.deals > 0].any()


def test_columns_by_name() -> None:
    advice = adviser(small(), "tally").advise(positions(small(), 1), np.random.default_rng(1), deals=10)
    assert advice.named("payoff", advice.mean).shape == (5, 24, 1)
    assert advice.named("captured", advice.mean).shape == (5, 24, 5)
    chips = advice.named("chips", advice.mean).sum(axis=-1)
    assert chips == pytest.approx(advice.mean[..., 0], nan_ok=True)


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"deals": 5, "error": 0.1},
        *({"deals": deals} for deals in (1, 2.5, 200.5, float("nan"), True, "9")),
        {"error": 0.0},
        {"error": float("nan")},
    ],
)
def test_numbers_that_make_no_sense(numbers: Any) -> None:
    with pytest.raises(ConfigError, match="either deals, a whole number, at least 2, or an error above 0"):
        adviser(DJECO).advise(positions(DJECO, 1), np.random.default_rng(1), **numbers)


def test_what_cannot_be_advised_on() -> None:
    tables = positions(DJECO, 1)
    with pytest.raises(IllegalActionError, match="Expected at least one action to try at each table, and only legal ones"):
        adviser(DJECO).advise(tables, np.random.default_rng(1), deals=2, tried=np.zeros(5, np.int64))
    with pytest.raises(DealError, match="a row of Nain Jaune tables"):
        adviser(DJECO).advise(positions(PERFECT, 1), np.random.default_rng(1), deals=2)
    over = tables.copy()
    over["stage"] = 1
    with pytest.raises(DealError, match="at one of them the round is over"):
        adviser(DJECO).advise(over, np.random.default_rng(1), deals=2)
    with pytest.raises(ConfigError, match="at least 1 thread"):
        adviser(DJECO, threads=0)


@both
def test_advice_that_gets_sharper(setup: Setup) -> None:
    """It ends as narrow as asked for, and hidden cards move no figure of any step."""
    table = positions(setup, 7)[:1]
    player = adviser(setup, "tally")
    steps = list(player.sharpen(table, np.random.default_rng(3), error=0.1))
    deals = [int(advice.deals.max()) for advice in steps]
    assert deals[0] == FIRST_SHOWN
    assert deals == sorted(set(deals))
    assert deals[-1] >= FIRST
    best = steps[-1].best[0]
    assert Z_95 * steps[-1].error[0, best, 0] <= 0.1 or deals[-1] == MAX_DEALS
    mixed = np.array([helper(setup).reshuffle(setup, table[0], int(table["seat"][0]), random.Random(1))])
    assert mixed.tobytes() != table.tobytes()
    assert list(map(bits, player.sharpen(mixed, np.random.default_rng(3), error=0.1))) == list(map(bits, steps))
    with pytest.raises(ConfigError, match="an error above 0"):
        next(player.sharpen(table, np.random.default_rng(1), error=0.0))


def test_threads_may_share_an_adviser() -> None:
    """More of them than it has threads of its own wait for one another."""
    table, player = positions(DJECO, 7)[:1], adviser(DJECO)
    alone = bits(player.advise(table, np.random.default_rng(3), deals=300))
    with ThreadPoolExecutor(4) as threads:
        advices = [threads.submit(player.advise, table, np.random.default_rng(3), deals=300) for _ in range(8)]
    assert {bits(each.result()) for each in advices} == {alone}
