"""What a seat can prove of the other hands (N6): ranks that they do not hold, and whether any deal fits at all."""

from __future__ import annotations

from typing import Any

from nainjaune_env.core.cards import RANKS, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.belief.resample import columns, may_hold, ranks_of, unseen_by


class Knowledge:
    """What follows from a table, wiped for its seat to act or not: nothing is read but what that seat knows."""

    def __init__(self, setup: Setup, table: Any) -> None:
        rules: Any = setup.kernel_rules
        me = int(table.seat)
        self._unseen = int(unseen_by(table, rules, me))
        self._allowed = {seat: int(may_hold(table, seat, self._unseen)) for seat in range(setup.players) if seat != me}
        self._sizes = {seat: int(table.cards[seat]) for seat in self._allowed}

    def fits(self) -> bool:
        """Whether there is a deal of the cards not seen that gives every seat as many as it holds, of ranks that it may hold."""
        return self._dealable(self._unseen, self._sizes)

    def lacks(self) -> dict[int, list[str]]:
        """By seat: the ranks, as in records, that it cannot hold in any deal that fits, of those that are still out."""
        found = {}
        out = cards_in(ranks_of(self._unseen))
        for seat in self._allowed:
            ranks = [RANKS[rank] for rank in out if not self._may_hold(seat, rank)]
            if ranks:
                found[seat] = ranks
        return found

    def _may_hold(self, seat: int, rank: int) -> bool:
        """Whether a deal fits that gives ``seat`` a card of ``rank`` (0 = ace). Which one of the rank makes no difference."""
        cards = self._allowed[seat] & int(columns(1 << rank))
        if not cards or not self._sizes[seat]:
            return False
        return self._dealable(self._unseen & ~(cards & -cards), {**self._sizes, seat: self._sizes[seat] - 1})

    def _dealable(self, cards: int, sizes: dict[int, int]) -> bool:
        """Hall's theorem: any group of seats may hold, between them, as many of ``cards`` as they need."""
        reach = {0: (0, 0)}  # by group, as a set: what it needs and what it may hold
        for place, (seat, size) in enumerate(sizes.items()):
            for group, (need, held) in list(reach.items()):
                need, held = need + size, held | self._allowed[seat] & cards
                if need > held.bit_count():
                    return False
                reach[group | 1 << place] = (need, held)
        return True
