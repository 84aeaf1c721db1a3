"""Measures of this game, counted again from records on the slow twin, which shares no code with the kernel or them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings

from nainjaune_env.core.spec import Setup
from nainjaune_env.games.batasaurus.research.statistics import TRICKS
from nainjaune_env.records.record import Record
from nainjaune_env.registry import make_setup
from tests.support.recorded import seeds, setups
from tests.support.tallied import play_rounds
from tests.twin.batasaurus import Knobs, TwinGame


def by_hand(record: Record) -> list[dict[str, Any]]:
    """The tally of each seat, from the tricks that the twin has kept."""
    n = record["players"]
    game = TwinGame(Knobs(**record["rules"]), record["layouts"], record["leader"])
    while game.phase() == "memorise":
        game.play(game.legal()[0])
    for seat, slot in record["moves"]:
        assert seat == game.seat()
        game.play(slot)
    assert game.over
    tricks, tallies = game.done_tricks, []
    for seat in range(n):
        battled = [trick for trick in tricks if any(seat in one for one in trick.rounds[1:])]
        led = [trick.rounds[0][seat] if trick.leader == seat else 0 for trick in tricks]
        shared = 0
        if game.knobs.exhausted == "split":
            shared = sum(trick.cards() // len(trick.exhausted) for trick in tricks if seat in trick.exhausted)
        tallies.append(
            {
                "tricks": len(tricks),
                "won": sum(trick.winner == seat for trick in tricks),
                "battled": len(battled),
                "battles_won": sum(trick.winner == seat for trick in battled),
                "led": [int(value > 0) for value in led] + [0] * (len(TRICKS) - len(led)),
                "led_value": led + [0] * (len(TRICKS) - len(led)),
                "cards": [sum(trick.cards() for trick in tricks if trick.winner == seat), shared, game.left_over[seat]],
            }
        )
    return tallies


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(setups("batasaurus"), seeds)
def test_every_count_is_that_of_the_twin(setup: Setup, seed: int) -> None:
    play_rounds(setup, seed, 3).check(by_hand, "cards")


def test_everything_that_is_counted_comes_about() -> None:
    """In games enough, each number is not always 0, and so the comparison above says something of it."""
    result = play_rounds(make_setup("batasaurus", players=3), 3, 300).check(by_hand, "cards")
    for name in result[0]:
        assert np.any([tally[name] for tally in result], axis=0).all(), name
