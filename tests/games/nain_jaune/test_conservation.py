"""Cards and chips are conserved (N4.5), and a pot has a limit (N4.7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.nain_jaune import SPEC
from nainjaune_env.games.nain_jaune.actions import action_of
from nainjaune_env.games.nain_jaune.records.setup_table import setup_table
from nainjaune_env.games.nain_jaune.state import POT_LIMIT
from tests.support.contract import any_setup

from .both import deal, plain, play


def chips(batch: Batch) -> Any:
    """Stacks and pots in all, per table."""
    return batch.tables["stack"].sum(axis=1) + batch.tables["pot"].sum(axis=1)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(setup=any_setup().filter(lambda s: s.game is SPEC), seed=st.integers(0, 2**64 - 1), pots=st.data())
def test_n4_5_conservation_under_any_knobs_and_pots(setup: Any, seed: int, pots: st.DataObject) -> None:
    given_pots = pots.draw(st.lists(st.integers(0, POT_LIMIT), min_size=5, max_size=5))
    batch = Batch(setup, 4, seed=seed, start={"pots": given_pots}, skip_forced=False, autoreset=False)
    start = (setup.rules.starting_stack or 0) * setup.players + sum(given_pots)
    draws = streams(seed, 4)
    while not batch.done.all():
        setup.check_tables(batch.tables)
        assert (chips(batch) == start).all()
        assert (batch.tables["pot"] >= 0).all()
        assert (batch.tables["pot"] <= POT_LIMIT).all()
        batch.step(batch.sample(draws))
    assert (chips(batch) == start).all()
    stacks = batch.tables["stack"][:, : setup.players]
    assert np.array_equal(batch.tables["before"][:, : setup.players] + last_payoffs(batch), stacks)


def last_payoffs(batch: Batch) -> Any:
    out = np.zeros((batch.num_tables, batch.num_players), np.int32)
    for i, table in enumerate(batch.tables):
        batch.game.kernel.payoffs(table, batch.setup.kernel_rules, out[i])
    return out.astype(np.int64)


# ---------------------------------------------------------------- N4.7 the pot limit

FULL = [POT_LIMIT] * 5
NO_OPERA = "0:Ac 0:2c 0:3c 0:- 0:Jh 0:Qh 0:Ks"
HANDS = {0: "Ac 2c 3c Jh Qh Ks", 1: "7d"}
FOURS = "4s 4h 4d 4c"


def kernel_only(setup: Any, hands: list[list[str]], moves: str, **start: Any) -> Any:
    """The twin knows no limit: moves on the kernel alone; gives the table."""
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    batch.set_tables(0, setup_table(setup, hands, dealer=setup.players - 1, **start))
    for step in moves.split():
        seat, _, move = step.partition(":")
        while int(batch.seat[0]) != int(seat):
            batch.step([action_of("-")])
        batch.step([action_of(move)])
    return batch.tables[0]


def test_n4_7_antes_beyond_the_limit_are_not_paid() -> None:
    # the first three pots are full; in the K♥'s there is room for 5, in the nain jaune's for all 40
    table = kernel_only(plain(8), deal(8, HANDS, FOURS), "", pots=[*FULL[:3], POT_LIMIT - 5, 0])
    assert table.pot.tolist() == [*FULL[:4], 40]
    # seat 0 antes 4 of the 5 and seat 1 the last one; each 5 for the nain jaune
    assert table.stack.tolist() == [-9, -6, -5, -5, -5, -5, -5, -5]


def test_n4_7_a_stranded_card_fills_its_pot_and_no_more() -> None:
    setup = plain(8, stranded="twice_pot")
    table = kernel_only(setup, deal(8, HANDS, FOURS), NO_OPERA, pots=[0, 0, 0, 0, POT_LIMIT - 140])
    # after antes of 40 there is room for 100
    assert table.pot[4] == POT_LIMIT
    assert table.stack[1] == -15 - 6 - 100
    assert table.defaults == 0


def test_n4_7_what_is_not_owed_is_no_default() -> None:
    setup = plain(8, stranded="twice_pot", starting_stack=60)
    table = kernel_only(setup, deal(8, HANDS, FOURS), NO_OPERA, pots=[0, 0, 0, 0, POT_LIMIT - 70])
    # after 40 of antes there is room for 30; of 60 - 15 - 6 = 39 chips 9 are left
    assert (table.pot[4], table.stack[1], table.defaults >> 1 & 1) == (POT_LIMIT, 9, 0)


def test_n4_7_a_silent_play_fills_its_pot_and_no_more() -> None:
    setup = plain(8, announce="explicit", unannounced=1_000_000)
    table = kernel_only(setup, deal(8, {0: "7d"}), "0:7d~", pots=[0, 0, 0, 0, 960])
    assert (table.pot[4], table.stack[0]) == (POT_LIMIT, -15 - (POT_LIMIT - 1000))


def test_n4_7_the_largest_win_fits_the_rewards() -> None:
    run = "8c 9c Ts Js Qh Ks"
    batch = Batch(plain(8, stake=1_000_000), 1, start={"pots": FULL}, skip_forced=False, autoreset=False)
    batch.set_tables(0, setup_table(batch.setup, deal(8, {0: run}), dealer=7, pots=FULL))
    for card in run.split():
        batch.step([action_of(card)])
    assert batch.reward[0].tolist() == [5 * POT_LIMIT + 42] + [-6] * 7


def test_n4_7_below_the_limit_nothing_changes() -> None:
    end = play(plain(8, stranded="twice_pot"), deal(8, HANDS, FOURS), NO_OPERA, pots=[0, 0, 0, 0, 10_000_000])
    assert end.pots[4] == 3 * 10_000_040
