"""The articles of RULES.md, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.signal_lamps.kernel import LOOK
from nainjaune_env.registry import make_setup
from tests.support.contract import payoffs, single
from tests.support.games import games_with

SETUP = make_setup("signal_lamps")


def play(batch: Batch, actions: list[int]) -> None:
    """These actions in turn at a single table."""
    for action in actions:
        batch.step([action])


def at_naming(setup: Setup, seed: int) -> Batch:
    """A table whose seats have looked and idled."""
    batch = single(setup, seed)
    for _ in range(2 * (1 + setup.rules.idle)):  # type: ignore[attr-defined]
        batch.step([legal_actions(int(batch.legal[0]))[0]])
    return batch


def test_l1_1_either_seat_begins_and_the_seats_take_turns() -> None:
    batch = Batch(SETUP, 1000, seed=1, skip_forced=False)
    first = batch.seat
    assert 420 < first.sum() < 580
    batch.step(batch.sample(streams(1, 1000)))
    assert (batch.seat == 1 - first).all()


def test_l1_2_each_symbol_is_as_likely() -> None:
    shown = Batch(SETUP, 4000, seed=2).tables["symbol"]
    assert (np.abs(np.bincount(shown.ravel()) - 2000) < 5 * (8000 * 3 / 16) ** 0.5).all()
    assert np.abs((shown[:, 0] == shown[:, 1]).mean() - 1 / 4) < 0.04


def test_l2_1_a_seat_sees_its_symbol_once() -> None:
    batch = Batch(SETUP, 300, seed=3, autoreset=False)
    looks = np.zeros((300, 2), np.int64)
    while not batch.done.all():
        lamps = batch.layout.view(batch.observation, "lamps")
        for i in np.flatnonzero(~batch.done):
            seat, looking = int(batch.seat[i]), int(batch.legal[i]) == 1 << LOOK
            looks[i, seat] += looking
            symbol = int(batch.tables["symbol"][i, seat]) if looking else 0
            assert lamps[i].tolist() == [symbol == lamp + 1 for lamp in range(3)]
        batch.step(batch.sample(streams(3, 300)))
    assert (looks == 1).all()


@pytest.mark.parametrize("idle", [0, 1, 4])
def test_l2_2_idle_plies_have_no_effect_and_every_other_one_a_choice(idle: int) -> None:
    batch = single(make_setup("signal_lamps", idle=idle), 4)
    play(batch, [LOOK, LOOK])
    choices = []
    for _ in range(2 * idle):
        choices.append(legal_actions(int(batch.legal[0])))
        batch.step([choices[-1][-1]])
        assert payoffs(batch) == [0, 0]
    assert choices[::2] == choices[1::2] == [[0, 1] if k % 2 else [0] for k in range(1, idle + 1)]
    assert legal_actions(int(batch.legal[0])) == [0, 1, 2, 3]


@pytest.mark.parametrize("right", [(True, True), (True, False), (False, True), (False, False)])
def test_l2_3_who_names_the_own_symbol_wins_1(right: tuple[bool, bool]) -> None:
    batch = at_naming(SETUP, 5)
    symbols: Any = batch.tables["symbol"][0].copy()
    for _ in range(2):
        seat = int(batch.seat[0])
        batch.step([(int(symbols[seat]) + (0 if right[seat] else 1)) % 4])
    assert payoffs(batch) == [int(won) for won in right]


def test_l3_1_a_round_is_over_when_both_have_named() -> None:
    batch = at_naming(SETUP, 6)
    play(batch, [0])
    assert not batch.done[0]
    play(batch, [0])
    assert batch.done[0]


@pytest.mark.parametrize("rounds", [1, 3])
def test_l3_2_a_match_has_that_many_rounds(rounds: int) -> None:
    batch = single(make_setup("signal_lamps", rounds=rounds), 7, episode="match")
    draws = streams(7, 1)
    while not batch.done[0]:
        batch.step(batch.sample(draws))
    assert batch.deals[0] == rounds
    assert batch.tables["stage"][0] == Stage.MATCH_OVER


def test_the_game_offers_no_hook() -> None:
    """It is there to prove that none is needed."""
    for hook in ("transcriber", "chance", "render_text", "pictures", "speaker", "seat_words", "measures", "advice", "features"):
        assert "signal_lamps" not in games_with(hook)
