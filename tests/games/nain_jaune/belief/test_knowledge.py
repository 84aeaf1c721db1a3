"""What can be proven of other hands: held against all deals that fit, counted one by one in a deck that is small enough."""

from __future__ import annotations

import itertools
import random

import pytest

from nainjaune_env.core.cards import RANKS, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.belief.knowledge import Knowledge
from nainjaune_env.games.nain_jaune.research.advice import read
from nainjaune_env.registry import make_setup
from tests.support.contract import advance, single

SMALL = make_setup("nain_jaune", "skip", 3, ranks=4, suits=3, hand=4)


def deals_that_fit(setup: Setup, table: object) -> list[dict[int, tuple[int, ...]]]:
    """Every way to deal the cards not seen, by seat."""
    row: object = table
    me = int(row["seat"])  # type: ignore[index]
    seen = int(row["hand"][me]) | sum(int(cards) for cards in row["played"][: setup.players])  # type: ignore[index]
    unseen = set(cards_in(setup.kernel_rules.deck & ~seen))  # type: ignore[attr-defined]
    others = [seat for seat in range(setup.players) if seat != me]

    def dealt(seats: list[int], left: set[int]) -> list[dict[int, tuple[int, ...]]]:
        if not seats:
            return [{}]
        seat, *rest = seats
        allowed = [card for card in left if not int(row["void"][seat]) >> card % 13 & 1]  # type: ignore[index]
        size = int(row["cards"][seat])  # type: ignore[index]
        hands = itertools.combinations(sorted(allowed), size)
        return [{seat: hand, **more} for hand in hands for more in dealt(rest, left - set(hand))]

    return dealt(others, unseen)


@pytest.mark.slow
def test_what_is_proven_is_what_no_deal_that_fits_has() -> None:
    """Voids, and what follows from them and from how many cards everybody holds: seen where it says more than voids alone."""
    rng, more = random.Random(1), 0
    for seed in range(60):
        batch = single(SMALL, seed)
        advance(batch, rng.randrange(1, 9), rng)
        if batch.done[0]:
            continue
        table = batch.redacted()[0]
        deals, knowledge = deals_that_fit(SMALL, table), Knowledge(SMALL, table)
        assert deals
        assert knowledge.fits()
        me = int(table.seat)
        seen = int(table.hand[me]) | sum(int(cards) for cards in table.played[:3])
        out = {card % 13 for card in cards_in(SMALL.kernel_rules.deck & ~seen)}  # type: ignore[attr-defined]
        for seat in range(3):
            kept = {card % 13 for deal in deals for card in deal.get(seat, ())}
            expected = [RANKS[rank] for rank in sorted(out - kept)] if seat != me else []
            assert knowledge.lacks().get(seat, []) == expected
            more += any(not int(table.void[seat]) >> RANKS.index(rank) & 1 for rank in expected)
    assert more > 3


@pytest.mark.parametrize("players", [2, 4, 8])
def test_voids_of_a_usual_game(players: int) -> None:
    setup = make_setup("nain_jaune", "skip", players)
    size = setup.kernel_rules.hand_size  # type: ignore[attr-defined]
    others = ["A", "A", "2", "2", "3", "3", "4", "4", "8", "8", "9", "9", "9", "V", "V", "D", "D", "R", "R", "R"]
    table = read(setup, {"hand": " ".join(["7♦", "7", *others][:size]), "moves": f"{players - 1}: 5 6"})
    assert Knowledge(setup, table).lacks() == {players - 1: ["7"]}
