"""Hidden hands drawn anew: uniformly over the deals that fit what a seat knows (N6).

A deal fits where the same plays, made from it, show the seat what it has seen. So no other hand holds a rank that its
seat is proven void of, and each held what has come out of it. Cards that only their suit tells apart are one (N1.3):
that a seat has played a five says that it was dealt one at least, not which. A hand dealt m fives of which p are played is
therefore seen in one way and not in C(m, p), as it would be where the suits of what is played counted: it is less likely
to hold another five than it would be there.

Drawn by rejection (von Neumann 1951): nothing is counted beforehand, nothing remembered, and any number of seats will do.
Each other seat in turn gets its cards uniformly from those left that it may hold. That deals a hand with chance 1/C(a, h),
``a`` cards allowed, ``h`` to get, so it is kept with chance C(a, h)/C(most, h), where no earlier hands leave more than
``most``; and, for the above, with chance 1/C(m, p) for each rank. The talon takes the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.prng import below
from nainjaune_env.games.nain_jaune.encode import ONE, PLANE
from nainjaune_env.games.nain_jaune.state import SEAT_BITS


@jit
def resample(table: Any, rules: Any, seat: Any) -> None:
    """Fill in what ``redact`` wiped for ``seat``, uniformly over what fits; drawn from ``table.rng``, which the caller has set.

    Of a round that is being played: what its settlement tells is not asked.
    """
    unseen = unseen_by(table, rules, seat)
    order = tightest_first(table, rules, seat, unseen)
    while not propose(table, rules, order, unseen):
        pass
    stack_deck(table, rules)


@inlined
def unseen_by(table: Any, rules: Any, seat: Any) -> Any:
    """The cards that ``seat`` neither holds nor has seen played."""
    unseen = np.int64(rules.deck) & ~np.int64(table.hand[seat])
    for other in range(rules.players):
        unseen &= ~table.played[other]
    return unseen


@inlined
def columns(ranks: Any) -> Any:
    """The cards of ``ranks`` (bit r-1 = rank r) in all suits."""
    return ranks | ranks << 13 | ranks << 26 | ranks << 39


@inlined
def ranks_of(cards: Any) -> Any:
    """The ranks that are in the set ``cards``."""
    return (cards | cards >> 13 | cards >> 26 | cards >> 39) & PLANE


@inlined
def may_hold(table: Any, seat: Any, cards: Any) -> Any:
    """Those of ``cards`` that are of no rank that ``seat`` is proven void of."""
    return cards & ~columns(np.int64(table.void[seat & SEAT_BITS]))


@jit
def tightest_first(table: Any, rules: Any, seat: Any, unseen: Any) -> Any:
    """The seats but ``seat``, four bits each, the first lowest: with the fewest cards to spare first, as any order is exact.

    These are dealt while there is most to choose from, and where they fail little has been done.
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
def propose(table: Any, rules: Any, order: Any, unseen: Any) -> Any:
    """Deal the cards ``unseen`` to the seats in ``order``; gives whether the deal is kept."""
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
def most_left(table: Any, order: Any, place: Any, unseen: Any) -> Any:
    """The most cards that the seat at ``place`` can still be allowed: those before it have got all the others that they may."""
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
def draw(table: Any, cards: Any, number: Any, size: Any) -> Any:
    """A uniformly random set of ``size`` of the ``number`` cards."""
    drawn = np.int64(0)
    fewer = min(size, number - size)  # to take or to leave
    for i in range(fewer):
        left = cards & ~drawn
        for _ in range(below(table, number - i)):
            left &= left - 1
        drawn |= left & -left
    return drawn if fewer == size else cards & ~drawn


@inlined
def ways_to_show(played: Any, hand: Any) -> Any:
    """In how many ways, suits told apart, a seat could have played as it has, rank by rank; below 2**32."""
    ways = np.int64(1)
    both = ranks_of(played) & ranks_of(hand)
    while both:
        column = columns(both & -both)
        both &= both - 1
        shown, kept = count(played & column), count(hand & column)
        # C(shown + kept, kept); of four cards at most, and neither number 0, that is their sum but for 2 and 2
        ways *= 6 if shown == 2 and kept == 2 else shown + kept
    return ways


@jit
def stack_deck(table: Any, rules: Any) -> None:
    """Put the deck in an order that these hands are dealt from."""
    at = 0
    talon = np.int64(rules.deck)
    for seat in range(rules.players):
        dealt = table.hand[seat] | table.played[seat]
        at = put(table, at, dealt)
        talon &= ~dealt
    at = put(table, at, talon)
    put(table, at, ((ONE << 52) - 1) & ~np.int64(rules.deck))


@inlined
def put(table: Any, at: Any, cards: Any) -> Any:
    """The set ``cards`` into the deck from place ``at``; gives the end."""
    while cards:
        table.deck[at] = lowest(cards)
        cards &= cards - 1
        at += 1
    return at
