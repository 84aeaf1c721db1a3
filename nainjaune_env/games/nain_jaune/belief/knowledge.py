"""What a seat can prove about the other hands (N6): ranks that they lack, and whether any deal fits at all."""

from __future__ import annotations

from typing import Any

from nainjaune_env.core.cards import RANKS, cards_in
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.belief.resample import may_hold, unseen_by
from nainjaune_env.games.nain_jaune.rules import rules_of
from nainjaune_env.games.nain_jaune.state import cards_of_ranks, ranks_of


class Knowledge:
    """What the seat to act can prove; of its table, redacted or not, only what that seat knows is read."""

    def __init__(self, setup: Setup, table: Any) -> None:
        rules = rules_of(setup)
        me = int(table.seat)
        self._unseen = int(unseen_by(table, rules, me))
        self._allowed = {seat: int(may_hold(table, seat, self._unseen)) for seat in range(setup.players) if seat != me}
        self._sizes = {seat: int(table.cards[seat]) for seat in self._allowed}

    def fits(self) -> bool:
        """Returns whether some deal of the unseen cards gives every seat its number of cards, all of ranks it may hold."""
        return self._dealable(self._unseen, self._sizes)

    def lacks(self) -> dict[int, list[str]]:
        """Returns by seat the ranks, as texts, of unseen cards that it holds in no deal that fits."""
        known = {}
        out = cards_in(ranks_of(self._unseen))
        for seat in self._allowed:
            ranks = [RANKS[rank] for rank in out if not self._may_hold(seat, rank)]
            if ranks:
                known[seat] = ranks
        return known

    def _may_hold(self, seat: int, rank: int) -> bool:
        """Returns whether some deal that fits gives ``seat`` a card of ``rank`` (0 = ace), whichever of the rank."""
        cards = self._allowed[seat] & int(cards_of_ranks(1 << rank))
        if not cards or not self._sizes[seat]:
            return False
        return self._dealable(self._unseen & ~(cards & -cards), {**self._sizes, seat: self._sizes[seat] - 1})

    def _dealable(self, cards: int, sizes: dict[int, int]) -> bool:
        """Returns whether ``cards`` can be dealt, by Hall's theorem: each group of seats may hold as many as it needs."""
        reach = {0: (0, 0)}  # by set of seats: how many cards it needs and which it may hold
        for place, (seat, size) in enumerate(sizes.items()):
            for seats, (need, available) in list(reach.items()):
                need, available = need + size, available | self._allowed[seat] & cards
                if need > available.bit_count():
                    return False
                reach[seats | 1 << place] = (need, available)
        return True
