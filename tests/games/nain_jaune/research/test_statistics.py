"""Measures of this game, counted again from records on the slow twin, which shares no code with the kernel or them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.research.statistics import RANKS, SOURCES
from nainjaune_env.records.record import Record
from nainjaune_env.registry import make_setup
from tests.support.recorded import seeds, setups
from tests.support.tallied import play_rounds
from tests.twin.nain_jaune import POT_CARDS, Knobs, TwinRound, points_of, rank_of


class Books(TwinRound):
    """The twin's round with an account kept of every chip."""

    def __init__(self, *args: Any) -> None:
        self.chips: list[dict[str, int]] = [dict.fromkeys(SOURCES, 0) for _ in args[1]]
        before = list(args[3])
        super().__init__(*args)
        for seat, stack in enumerate(self.stacks):
            self.chips[seat]["antes"] = stack - before[seat]

    def _book(self, seat: int, source: str, before: int) -> None:
        self.chips[seat][source] += self.stacks[seat] - before

    def _take_pot(self, seat: int, pot: int) -> None:
        before = self.stacks[seat]
        super()._take_pot(seat, pot)
        self._book(seat, "grand opéra" if self.over else "pots captured", before)

    def _pay_silence(self, seat: int, pot: int) -> None:
        before = self.stacks[seat]
        super()._pay_silence(seat, pot)
        self._book(seat, "silent plays", before)

    def _pay_winner(self, seat: int, winner: int) -> None:
        before = self.stacks[seat], self.stacks[winner]
        super()._pay_winner(seat, winner)
        self._book(seat, "paid to winner", before[0])
        self._book(winner, "paid by losers", before[1])

    def _pay_stranded(self, seat: int, pot: int) -> None:
        before = self.stacks[seat]
        super()._pay_stranded(seat, pot)
        self._book(seat, "stranded cards", before)


def by_hand(record: Record) -> list[dict[str, Any]]:
    """The tally of each seat."""
    (written,) = record["rounds"]
    round_ = Books(Knobs(**record["rules"]), written["hands"], written["dealer"], written["stacks"], written["pots"])
    n = record["players"]
    led: list[list[int]] = [[] for _ in range(n)]
    could, declined = [0] * n, [0] * n
    taken: dict[int, int] = {}
    silent: dict[int, int] = {}
    for seat, move in written["moves"]:
        if round_.required == 0:
            led[seat].append(rank_of(move))
        elif "-" in round_.legal() and len(round_.legal()) > 1:
            could[seat] += 1
            declined[seat] += move == "-"
        if move.rstrip("~") in POT_CARDS:
            (silent if move.endswith("~") else taken)[POT_CARDS.index(move.rstrip("~"))] = seat
        round_.play(move)
    dealt = [[int(card in hand) for card in POT_CARDS] for hand in written["hands"]]
    tallies = []
    for seat in range(n):
        hand = round_.hands[seat]
        others = [[row[pot] for k, row in enumerate(dealt) if k != seat] for pot in range(len(POT_CARDS))]
        tallies.append(
            {
                "out": int(round_.winner == seat),
                "beaten": int(round_.winner != seat),
                "cards_left": len(hand),
                "points_left": sum(points_of(card) for card in hand),
                "opera": int(round_.grand_opera and round_.winner == seat),
                "dealt": dealt[seat],
                "captured": [int(taken.get(pot) == seat) for pot in range(len(POT_CARDS))],
                "stranded": [int(card in hand) for card in POT_CARDS],
                "silent": [int(silent.get(pot) == seat) for pot in range(len(POT_CARDS))],
                "elsewhere": [int(any(row)) for row in others],
                "conceded": [int(taken.get(pot, seat) != seat) for pot in range(len(POT_CARDS))],
                "leads": len(led[seat]),
                "led": [led[seat].count(rank) for rank in range(1, len(RANKS) + 1)],
                "may_decline": could[seat],
                "declined": declined[seat],
                "chips": list(round_.chips[seat].values()),
            }
        )
    return tallies


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(setups("nain_jaune"), seeds)
def test_every_count_is_that_of_the_twin(setup: Setup, seed: int) -> None:
    play_rounds(setup, seed, 3).check(by_hand, "chips")


def test_everything_that_is_counted_comes_about() -> None:
    """In rounds enough, each field is not always 0, and so the comparison above says something of it."""
    setup = make_setup(
        "nain_jaune", "skip", 2, announce="explicit", unannounced=1, decline="entry", hand=2, starting_stack=None, max_rounds=1
    )
    result = play_rounds(setup, 11, 300, start={"pots": [3, 0, 7, 0, 20]}).check(by_hand, "chips")
    for name in result[0]:
        assert np.any([tally[name] for tally in result], axis=0).all() or name in ("led",), name
    assert np.sum([tally["led"] for tally in result], axis=0).min() > 0
