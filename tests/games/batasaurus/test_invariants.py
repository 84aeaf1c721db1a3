"""Tables that the rules do not allow, one for each invariant."""

from __future__ import annotations

from typing import Any

import pytest

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.games.batasaurus.state import Phase
from nainjaune_env.registry import make_setup

SETUP = make_setup("batasaurus", players=3)


def opening() -> Any:
    """A table before any ply."""
    return Batch(SETUP, 1, seed=1).tables.copy()


def reached(phase: Phase, hidden: bool = False) -> Any:
    """A table in the middle of a trick or battle, with a card face down or not."""
    batch, draws = Batch(SETUP, 64, seed=1, autoreset=False), streams(2, 64)
    for _ in range(40):
        batch.step(batch.sample(draws))
        rows = batch.tables
        fits = (rows["phase"] == phase) & (rows["seat"] != rows["leader"]) & ((rows["hidden"] > 0).any(axis=1) == hidden)
        if (fits & ~batch.done).any():
            return rows[fits & ~batch.done][:1].copy()
    raise AssertionError("no such table was reached")


def trick() -> Any:
    return reached(Phase.TRICK)


def battle() -> Any:
    return reached(Phase.BATTLE, hidden=True)


def change(name: str, at: Any, value: Any) -> Any:
    def changed(row: Any) -> None:
        row[name][(0, *at) if isinstance(at, tuple) else (0, at)] = value

    return changed


def not_to_act(row: Any) -> None:
    outside = [seat for seat in range(3) if not int(row["battling"][0]) >> seat & 1]
    row["seat"] = outside[0] if outside else (row["leader"] + 1) % 3


def another_first_leader(row: Any) -> None:
    row["first"] = (row["leader"] + 1) % 3


def nothing_left(row: Any) -> None:
    seat = int(row["seat"][0])
    row["slots"][0, seat] = row["held"][0, seat] = row["cards"][0, seat] = 0


def face_down_in_its_slot(row: Any) -> None:
    seat = int(row["hidden"][0].argmax())
    for slot in range(12):
        if int(row["slots"][0, seat]) >> slot & 1:
            row["hidden"][0, seat] = row["layout"][0, seat, slot]


CHANGES = [
    (opening, change("layout", (0, 0), 0), "each of the values 1 to 12 once (B1.1)"),
    (opening, change("layout", (0, 0), 255), "each of the values 1 to 12 once (B1.1)"),
    (opening, change("layout", (3, 0), 1), "0 from seat 3 on"),
    (opening, change("slots", 0, -1), "sets of 12 bits (B1.2)"),
    (opening, change("slots", 0, 0), "the number of cards in each seat's slots"),
    (opening, change("held", 1, 1), "the values in slots and face down"),
    (opening, change("cards", 2, 13), "the number of cards in each seat's slots"),
    (opening, change("pile", 0, -1), "0 to 36 cards"),
    (opening, change("pile", 0, 1), "36 cards in all (B1.2)"),
    (opening, change("at_stake", (), 37), "0 to 36 cards"),
    (opening, change("shown", 0, 13), "values from 1 to 12, or 0 (B1.2)"),
    (opening, change("shown", 0, 5), "a card shown that left its slot (B2.1)"),
    (opening, change("hidden", 0, 5), "a card face down that left its slot (B2.3)"),
    (opening, change("battling", (), 8), "a set of the 3 seats"),
    (opening, change("battling", (), 3), "battling seats in a battle (B2.3)"),
    (opening, change("phase", (), 3), "one of the phases [0, 1, 2] (B4)"),
    (opening, change("tricks", (), 0), "a trick from 1 to 13"),
    (opening, change("first", (), 3), "a seat from 0 to 2; its field 'first' is 3."),
    (opening, change("leader", (), -1), "a seat from 0 to 2; its field 'leader' is -1."),
    (opening, change("stage", (), Stage.ROUND_OVER), "a match of one round (B3.1)"),
    (opening, change("stage", (), Stage.MATCH_OVER), "memorising before the first trick (B4.2)"),
    (trick, change("phase", (), Phase.MEMORISING), "a card of each seat so far (B2.1)"),
    (opening, another_first_leader, "memorising before the first trick (B4.2)"),
    (trick, change("stage", (), Stage.MATCH_OVER), "the end when a seat has no card left (B3.1)"),
    (trick, change("shown", slice(None), 0), "a card of each seat so far (B2.1)"),
    (trick, change("at_stake", (), 0), "the cards of this trick (B2.2)"),
    (trick, change("tricks", (), 12), "a card of each seat in each trick before (B2.1)"),
    (trick, nothing_left, "cards of the seats still to play (B3.1)"),
    (battle, not_to_act, "(B2.3)"),
    (battle, change("phase", (), Phase.TRICK), "battling seats in a battle (B2.3)"),
    (battle, change("at_stake", (), 1), "the cards of this trick (B2.2)"),
    (battle, face_down_in_its_slot, "a card face down that left its slot (B2.3)"),
]


@pytest.mark.parametrize(("begin", "spoil", "sentence"), CHANGES, ids=range(len(CHANGES)))
def test_a_table_that_the_rules_do_not_allow_is_refused(begin: Any, spoil: Any, sentence: str) -> None:
    row = begin()
    batch = Batch(SETUP, 2, seed=3)
    batch.set_tables(0, row)
    spoil(row)
    with pytest.raises(DealError) as refused:
        batch.set_tables(1, row)
    assert str(refused.value).startswith("This table cannot occur: expected ")
    assert sentence in str(refused.value)


def test_sorted_layouts_stay_sorted() -> None:
    setup = make_setup("batasaurus", memory="perfect")
    row = Batch(setup, 1).tables.copy()
    row["layout"][0, 0, :2] = [2, 1]
    with pytest.raises(DealError, match=r"expected each of the values 1 to 12 in order \(B4\.1\)"):
        setup.check_tables(row)
