"""Positions as people write them: any position of any match can be written, and is read back as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.core.cards import card_number, card_set
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.research.advice import describe, plies, read, write
from nainjaune_env.games.nain_jaune.rules import POT_CARDS
from nainjaune_env.records.record import setup_of
from nainjaune_env.registry import make_setup
from tests.support.recorded import play, setups

DJECO = make_setup("nain_jaune", "djeco", 4)
HAND = "A 3 3 5 7♦ 8 9 V♣ D 10 10 2"


def wiped(setup: Setup, table: Any) -> Any:
    row = np.array([table])[0]
    kernel.redact(row, setup.kernel_rules, int(row.seat))
    return row


def kinds(row: Any) -> dict[str, Any]:
    """A wiped table with cards by what they are to the rules (N1.3): which of like ones it is does not come through the text.

    Nor does what a seat had before the round, or that it could not pay in full: no decision depends on it.
    """
    kept = {name: row[name].tolist() for name in row.dtype.names if name not in ("hand", "played", "before", "defaults")}
    pots = card_set(map(card_number, POT_CARDS))
    for name in ("hand", "played"):
        kept[name] = [[int(bits) & pots, [sum(int(bits & ~pots) >> rank + 13 * s & 1 for s in range(4)) for rank in range(13)]]
                      for bits in row[name].tolist()]  # fmt: skip
    return kept


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(setups("nain_jaune"), st.integers(0, 2**32))
def test_what_is_written_of_a_decision_is_read_back(setup: Setup, seed: int) -> None:
    for record in play(setup, seed):
        own = setup_of(record)
        for ply in list(plies(own, record))[:60]:
            before = wiped(own, ply.table)
            again = read(own, write(own, record, ply.part, ply.number))
            assert kinds(again) == kinds(before)
            assert int(kernel.legal(again, own.kernel_rules)) >> ply.action & 1


def test_a_hand_alone_leads_the_round() -> None:
    row = read(DJECO, {"hand": HAND})
    assert (int(row.seat), int(row.required_rank), int(row.dealer), int(row.rounds)) == (0, 0, 3, 1)
    assert row.pot.tolist() == [4, 8, 12, 16, 20]
    assert row.stack[:4].tolist() == [34] * 4
    assert row.cards[:4].tolist() == [12] * 4
    assert describe(DJECO, row, "fr")[1] == ("main", "A 2 3 3 5 7♦ 8 9 10 10 V♣ D")


def test_stops_and_passes_follow_from_the_cards() -> None:
    """Seat 2 stops after the 5, and seat 3 may have declined the 6: only of seat 2 is it proven that it has none (N2.4, N6).

    Where nobody may decline, all lacked the 4 that did not come after the 3.
    """
    row = read(DJECO, {"hand": HAND.replace("2", "6"), "moves": "2: 3 4 5"})
    assert (int(row.seat), int(row.required_rank), int(row.last)) == (0, 6, 2)
    assert row.void[:4].tolist() == [0, 0, 1 << 5, 0]
    never = read(make_setup("nain_jaune", "classic", 4), {"hand": HAND.replace("2", "7"), "moves": "2: 3 6"})
    assert never.void[:4].tolist() == [1 << 3, 1 << 3, 1 << 3 | 1 << 6, 1 << 3 | 1 << 6]


def test_a_blocked_run_gives_the_lead_back() -> None:
    said = {"moves": "0: 6 7 -", "pots": "1 2 3 4 5", "stacks": "9 8 7 6", "round": "3"}
    row = read(DJECO, {"hand": "A 3 3 5 7♦ 9 9 V♣ D 10", **said})
    assert (int(row.seat), int(row.required_rank), int(row.last), int(row.rounds)) == (0, 0, 0, 3)
    assert row.pot.tolist() == [1, 2, 3, 4, 5]
    assert row.stack[:4].tolist() == [9, 8, 7, 6]
    assert (row.stack - row.before)[:4].tolist() == [-15] * 4


def test_a_pot_that_was_taken_is_empty() -> None:
    row = read(DJECO, {"hand": HAND.replace("7♦", "R"), "moves": "3: 6 7♦"})
    assert row.pot.tolist() == [4, 8, 12, 16, 0]
    assert int(row.captor[4]) == 3
    assert int(row.stack[3]) == 34 + 20


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "A hand is its cards"),
        ({"hand": "A 3 -"}, "A hand is its cards"),
        ({"hand": "A 3 14"}, "'14' is no card"),
        ({"hand": "A 3"}, "each is dealt 12 cards; seat 0 holds 2 and has played 0"),
        ({"hand": HAND, "moves": "0: 4"}, "seat 0 holds 12 and has played 1"),
        ({"hand": HAND.replace("3 3", "7d 3")}, "The position has 7d, and there is none left"),
        ({"hand": "7 7 7 7 7♦ A A A A 2 2 2"}, "another 7 that is no pot's, and there is none left"),
        ({"hand": HAND, "moves": "3 4 5"}, "The moves begin with the number of a seat"),
        ({"hand": HAND, "moves": "4: 5"}, "'seat' is a whole number from 0 to 3, not '4'"),
        ({"hand": HAND, "moves": "3: 5"}, "There is nothing to choose: 6 is wanted, and seat 0 must pass: write what came"),
        ({"hand": HAND + " 6", "moves": "3: 5 0: 6"}, "each is dealt 12 cards; seat 0 holds 13 and has played 1"),
        ({"hand": HAND, "moves": "2: 4 5 6 1: 9"}, "When seat 1 is to play its 9, seat 2 has the lead"),
        ({"hand": HAND, "moves": "3: 4 5 - 3: 9 - 3: 6"}, "Seat 3 must have passed where 6 was wanted"),
        ({"hand": HAND, "moves": "3: R - 3: 6"}, "Seat 3 had the lead, and must have played a card"),
        ({"hand": HAND, "moves": "3: A 2 3 4 5 6 7 8 9 10 V D"}, "Seat 3 has played 12 cards"),
        ({"hand": HAND, "pots": "1 2 3"}, "'pots' is 5 whole numbers from 0"),
        ({"hand": HAND, "pots": "1 2 3 4 x"}, "'pots' is 5 whole numbers from 0"),
        ({"hand": HAND, "stacks": "34 -1 34 34"}, "'stacks' is 4 whole numbers from 0 to"),
        ({"hand": HAND.replace("7♦", "R"), "moves": "3: 6 7♦", "pots": "4 8 12 16 20"}, "no chips in pot 4 when captured"),
        ({"hand": HAND, "round": "0"}, "'round' is a whole number from 1"),
        ({"hand": HAND, "wand": "x"}, "Unknown field of a position 'wand'. Did you mean 'hand'?"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(fields: dict[str, str], said: str) -> None:
    with pytest.raises(DealError, match=said.replace("?", r"\?")):
        read(DJECO, fields)


def test_without_stacks_chips_may_be_below_0_and_rounds_end_at_their_limit() -> None:
    classic = make_setup("nain_jaune", "classic", 4)
    assert read(classic, {"hand": HAND, "stacks": "-1000 0 0 1000", "round": "12"}).stack[:4].tolist() == [-1000, 0, 0, 1000]
    with pytest.raises(DealError, match="'round' is a whole number from 1 to 12, not '13'"):
        read(classic, {"hand": HAND, "round": "13"})


def test_who_must_have_played_cannot_have_passed() -> None:
    setup = make_setup("nain_jaune", "classic", 4)
    with pytest.raises(DealError, match="Seat 0 must have passed where 5 was wanted, and it held one"):
        read(setup, {"hand": HAND, "moves": "3: 4 - 1: 5 6"})
    read(DJECO, {"hand": HAND.replace("2", "7"), "moves": "3: 4 - 1: 5 6"})


def test_hands_that_no_deal_gives_are_refused() -> None:
    """With two seats and a short deck, the other seat has passed on all that is left (N1.7)."""
    setup = make_setup("nain_jaune", "skip", 2, ranks=4, suits=2, hand=4)
    with pytest.raises(DealError, match="No deal fits"):
        read(setup, {"hand": "7♦ 8 8", "moves": "0: 9 -"})
