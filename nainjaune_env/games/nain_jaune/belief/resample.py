"""Hidden hands drawn anew: uniformly over the deals that fit what a seat knows (N6).

A deal fits if the same play, made from it, shows the seat what it has seen: no other hand holds a rank that its seat is proven
void of, and each hand held what has been played from it. Cards that differ only in suit are one kind (N1.3): a five that was
played proves that the seat was dealt a five, not which. A hand dealt m fives, p of them played, can therefore be seen in one way
rather than in C(m, p): it is less likely to hold another five than if the suits of played cards counted.

The draw is by rejection (von Neumann 1951): nothing is counted in advance and any number of seats will do. Each other seat in
turn gets its cards uniformly from those left that it may hold. A hand of h cards out of ``a`` allowed has chance 1/C(a, h), so
it is kept with chance C(a, h)/C(most, h), where ``most`` bounds ``a`` over all earlier hands; and, for the above, with chance
1/C(m, p) for each rank. The talon takes the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.prng import below
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import ONE, SEAT_BITS, cards_of_ranks, ranks_of


@jit
def resample(table: Table, rules: KernelRules, seat: Any) -> None:
    """Fills in what ``redact`` wiped for ``seat``, uniformly over the deals that fit; draws from the caller's ``table.rng``.

    The round must not be over: what its settlement shows is not taken into account.
    """
    unseen = unseen_by(table, rules, seat)
    order = tightest_first(table, rules, seat, unseen)
    while not propose(table, rules, order, unseen):
        pass
    stack_deck(table, rules)


@inlined
def unseen_by(table: Table, rules: KernelRules, seat: Any) -> Any:
    """Returns the cards that ``seat`` neither holds nor has seen played."""
    unseen = np.int64(rules.deck) & ~np.int64(table.hand[seat])
    for other in range(rules.players):
        unseen &= ~table.played[other]
    return unseen


@inlined
def may_hold(table: Table, seat: Any, cards: Any) -> Any:
    """Returns ``cards`` without the ranks that ``seat`` is proven void of."""
    return cards & ~cards_of_ranks(np.int64(table.void[seat & SEAT_BITS]))


@jit
def tightest_first(table: Table, rules: KernelRules, seat: Any, unseen: Any) -> Any:
    """Returns the other seats, four bits each, lowest first, in ascending order of the cards they can spare.

    Any order is exact. This one deals the tightest hands while there is most to choose from, and fails early.
    """
    order, taken = np.int64(0), ONE << seat
    for place in range(rules.players - 1):
        best, least = 0, 64
        for other in range(rules.players):
            spare = count(may_hold(table, other, unseen)) - np.int64(table.cards[other])
            if not taken >> other & 1 and spare < least:
                best, least = other, spare
        taken |= ONE << best
        order |= np.int64(best) << 4 * place
    return order


@jit
def propose(table: Table, rules: KernelRules, order: Any, unseen: Any) -> Any:
    """Deals the cards ``unseen`` to the seats in ``order``; returns whether the deal is kept."""
    rest = unseen
    for place in range(rules.players - 1):
        other = order >> 4 * place & SEAT_BITS
        size = np.int64(table.cards[other])
        allowed = may_hold(table, other, rest)
        number = count(allowed)
        most = most_left(table, order, place, unseen)
        if number < size:
            return False
        if number < most:
            for i in range(size):  # C(number, size) / C(most, size), factor by factor
                if below(table, most - i) >= number - i:
                    return False
        hand = draw(table, allowed, number, size)
        ways = ways_to_show(np.int64(table.played[other]) & ~rules.pot_set, hand & ~rules.pot_set)
        if ways > 1 and below(table, ways) > 0:
            return False
        table.hand[other] = hand
        rest &= ~hand
    return True


@jit
def most_left(table: Table, order: Any, place: Any, unseen: Any) -> Any:
    """Returns the most cards that the seat at ``place`` can be allowed: as few as possible went to the seats before it."""
    other = order >> 4 * place & SEAT_BITS
    allowed = may_hold(table, other, unseen)
    barred = unseen & ~allowed
    dealt, elsewhere, holdable = np.int64(0), np.int64(0), np.int64(0)
    for earlier in range(place):
        before = order >> 4 * earlier & SEAT_BITS
        size = np.int64(table.cards[before])
        may = may_hold(table, before, barred)
        dealt += size
        elsewhere += min(size, count(may))
        holdable |= may
    return count(allowed) - (dealt - min(elsewhere, count(holdable)))


@jit
def draw(table: Table, cards: Any, number: Any, size: Any) -> Any:
    """Returns a uniformly random set of ``size`` of the ``number`` cards."""
    chosen = np.int64(0)
    fewer = min(size, number - size)  # to take or to leave
    for i in range(fewer):
        left = cards & ~chosen
        for _ in range(below(table, number - i)):
            left &= left - 1
        chosen |= left & -left
    return chosen if fewer == size else cards & ~chosen


@inlined
def ways_to_show(played: Any, hand: Any) -> Any:
    """Returns in how many ways, if suits counted, a seat could have played the cards it has played; below 2**32."""
    ways = np.int64(1)
    both = ranks_of(played) & ranks_of(hand)
    while both:
        column = cards_of_ranks(both & -both)
        both &= both - 1
        shown, held_back = count(played & column), count(hand & column)
        # C(shown + held_back, held_back): the sum, as both are at least 1 and together at most 4, except for 2 and 2
        ways *= 6 if shown == 2 and held_back == 2 else shown + held_back
    return ways


@jit
def stack_deck(table: Table, rules: KernelRules) -> None:
    """Puts the deck in an order from which these hands are dealt."""
    at = 0
    talon = np.int64(rules.deck)
    for seat in range(rules.players):
        dealt = table.hand[seat] | table.played[seat]
        at = put(table, at, dealt)
        talon &= ~dealt
    at = put(table, at, talon)
    put(table, at, ((ONE << 52) - 1) & ~np.int64(rules.deck))


@inlined
def put(table: Table, at: Any, cards: Any) -> Any:
    """Writes the set ``cards`` into the deck from place ``at``; returns the end."""
    while cards:
        table.deck[at] = lowest(cards)
        cards &= cards - 1
        at += 1
    return at


def rewind(openings: NDArray[Any], tables: NDArray[Any]) -> NDArray[Any]:
    """Returns ``openings (N,)`` with the cards dealt at ``tables (N,)``: each seat held what it holds and has played."""
    dealt = openings.copy()
    dealt["hand"] = tables["hand"] | tables["played"]
    dealt["deck"] = tables["deck"]
    return dealt
