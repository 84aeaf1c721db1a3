"""Hidden hands drawn anew many times from one table: the deals that fit are counted once, and drawn from the count.

What fits, with which weight, is as in ``resample``. The count goes from kind to kind of card (N1.3). The u unseen cards of a
kind can be dealt in u!/(x! y! … t!) ways, x of them to a seat that has played p, and each way weighs 1/C(p + x, p) for each
seat. In how many ways the rest can be dealt depends on how many cards each seat still gets, which is the state of a dynamic
program over kinds. It is in floating point, so a probability is exact to some 15 digits.

Seats without known cards form one pool with the talon, and so do the kinds that anybody may hold: the program grows with
what is known while the hands get smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.prng import next_word
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.belief.resample import draw, resample, stack_deck, unseen_by
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import NUM_RANKS, ONE, POTS, SEAT_BITS, cards_of_ranks, ranks_of

FACTORIAL = np.cumprod(np.concatenate([np.ones(1), np.arange(1.0, 53.0)]))
CHOOSE = np.array([[FACTORIAL[n] / FACTORIAL[k] / FACTORIAL[n - k] if k <= n else 0.0 for k in range(5)] for n in range(5)])
KINDS = NUM_RANKS + POTS
"""Number of kinds: the plain cards of each rank, then the pot cards (N1.3)."""
DIGIT, DIGIT_BITS = 6, 63
"""Hand sizes are packed into an integer, six bits each; the highest bit stays free."""
GUARDS = sum(ONE << (DIGIT * place + 5) for place in range(7))
TERM = 3
"""Numbers in a term: its weight, the cards it deals to each seat (packed), and by how much it moves the state."""
TERMS = 1024
"""Space for the terms of one kind: four cards can be dealt to seven seats and the pool in 330 ways."""
TO_UNIT = 2.0**-53
S11 = np.uint64(11)


@jit
def resample_many(tables: Any, rules: KernelRules, seat: Any, memory: Any) -> None:
    """Resamples each of ``tables (W,)``, which differ only in ``rng``; ``memory (M,) float64`` is scratch space for the count.

    Falls back to ``resample`` for each table if the count does not fit into ``memory``.
    """
    table = tables[0]
    unseen = unseen_by(table, rules, seat)
    known = known_seats(table, rules, seat, unseen)
    kinds = known_kinds(table, rules, known, unseen)
    states, number = number_of_states(table, known), count(kinds)
    if number * TERMS + (number + 1) * states > memory.size:
        for i in range(tables.size):
            resample(tables[i], rules, seat)
        return
    count_deals(table, rules, known, kinds, unseen, memory)
    for i in range(tables.size):
        deal_counted(tables[i], rules, seat, known, kinds, unseen, memory)


@inlined
def cards_of_kind(rules: KernelRules, kind: Any) -> Any:
    """Returns the cards of a kind in a full deck."""
    if kind < NUM_RANKS:
        return cards_of_ranks(ONE << kind) & ~rules.pot_set
    return ONE << np.int64(rules.pot_cards[kind - NUM_RANKS])


@inlined
def is_void(rules: KernelRules, table: Table, seat: Any, kind: Any) -> Any:
    """Returns whether ``seat`` is proven to hold no card of a kind."""
    rank = kind if kind < NUM_RANKS else rules.pot_cards[kind - NUM_RANKS] % NUM_RANKS
    return table.void[seat & SEAT_BITS] >> rank & 1


@jit
def known_seats(table: Table, rules: KernelRules, seat: Any, unseen: Any) -> Any:
    """Returns the set of seats about whose hand ``seat`` knows more than its size."""
    known = np.int64(0)
    plain = ranks_of(unseen & ~rules.pot_set)
    for other in range(rules.players):
        shown = ranks_of(np.int64(table.played[other]) & ~rules.pot_set) & plain
        if other != seat and table.cards[other] > 0 and (shown or table.void[other] & ranks_of(unseen)):
            known |= ONE << other
    return known


@jit
def known_kinds(table: Table, rules: KernelRules, known: Any, unseen: Any) -> Any:
    """Returns the set of kinds that are not equally likely for all of the seats ``known``."""
    kinds = np.int64(0)
    for kind in range(KINDS):
        cards = cards_of_kind(rules, kind)
        seats = known if cards & unseen else np.int64(0)
        while seats:
            other = lowest(seats)
            seats &= seats - 1
            if table.played[other] & cards or is_void(rules, table, other, kind):
                kinds |= ONE << kind
    return kinds


@inlined
def number_of_states(table: Table, known: Any) -> Any:
    """Returns the number of states: every size up to its own for every hand of the seats ``known``."""
    states = np.int64(1)
    while known:
        states *= table.cards[lowest(known)] + 1
        known &= known - 1
    return states


@jit
def packed_sizes(table: Table, seats: Any) -> Any:
    """Returns the hand sizes of ``seats``, packed."""
    sizes, place = np.int64(0), 0
    while seats:
        sizes |= np.int64(table.cards[lowest(seats)]) << DIGIT * place
        seats &= seats - 1
        place += 1
    return sizes


@jit
def count_deals(table: Table, rules: KernelRules, known: Any, kinds: Any, unseen: Any, memory: Any) -> None:
    """Writes into ``memory`` the terms of each kind, and per state the number of deals of that kind and those after it."""
    number, states, sizes = count(kinds), number_of_states(table, known), packed_sizes(table, known)
    layer, places = number * (TERMS + states), count(known)
    free = count(unseen)
    left = kinds
    while left:
        free -= count(cards_of_kind(rules, lowest(left)) & unseen)
        left &= left - 1
    count_free(memory, layer, states, sizes, places, free)
    for k in range(number):
        kind, start = KINDS - 1, (number - 1 - k) * TERMS
        while not kinds >> kind & 1:
            kind -= 1
        kinds ^= ONE << kind
        write_terms(table, rules, known, kind, unseen, memory, start)
        layer -= states
        for state in range(states):
            memory[layer + state] = 0.0
        for i in range(np.int64(memory[start])):
            term = start + 1 + TERM * i
            given, offset = np.int64(memory[term + 1]), np.int64(memory[term + 2])
            add_term(memory, layer, states, sizes, places, memory[term], given, offset)


@jit
def count_free(memory: Any, layer: Any, states: Any, sizes: Any, places: Any, free: Any) -> None:
    """Writes per state in how many ways ``free`` cards that anybody may hold can be dealt to it and the rest to the pool."""
    parts = np.int64(0)
    for state in range(states):
        ways, rest = FACTORIAL[free], free
        for place in range(places):
            digit = parts >> DIGIT * place & DIGIT_BITS
            ways /= FACTORIAL[digit]
            rest -= digit
        memory[layer + state] = ways / FACTORIAL[rest] if rest >= 0 else 0.0
        place = 0
        while place < places and parts >> DIGIT * place & DIGIT_BITS == sizes >> DIGIT * place & DIGIT_BITS:
            parts &= ~(np.int64(DIGIT_BITS) << DIGIT * place)
            place += 1
        parts += ONE << DIGIT * place


@jit
def write_terms(table: Table, rules: KernelRules, known: Any, kind: Any, unseen: Any, memory: Any, start: Any) -> None:
    """Writes the ways to deal the unseen cards of ``kind`` to the seats ``known`` and the pool: their number, then the terms."""
    cards = cards_of_kind(rules, kind)
    total = count(cards & unseen)
    places = count(known)
    given, rest, number = np.int64(0), total, 0
    while True:
        weight, offset, stride, seats = FACTORIAL[total] / FACTORIAL[rest], np.int64(0), np.int64(1), known
        for place in range(places):
            other = lowest(seats)
            seats &= seats - 1
            taken = given >> DIGIT * place & DIGIT_BITS
            shown = count(np.int64(table.played[other]) & cards)
            weight /= FACTORIAL[taken] * CHOOSE[shown + taken, taken]
            offset += taken * stride
            stride *= table.cards[other] + 1
        memory[start + 1 + TERM * number] = weight
        memory[start + 2 + TERM * number] = given
        memory[start + 3 + TERM * number] = offset
        number += 1
        place, seats = 0, known
        while place < places:  # the next way, as an odometer counts
            other = lowest(seats)
            seats &= seats - 1
            taken = given >> DIGIT * place & DIGIT_BITS
            if rest > 0 and taken < table.cards[other] and not is_void(rules, table, other, kind):
                given += ONE << DIGIT * place
                rest -= 1
                break
            given -= taken << DIGIT * place
            rest += taken
            place += 1
        if place == places:
            break
    memory[start] = number


@jit
def add_term(memory: Any, layer: Any, states: Any, sizes: Any, places: Any, weight: Any, given: Any, offset: Any) -> None:
    """Adds to each state of ``layer`` with room for the cards ``given`` the deals that remain, from the layer after it."""
    row = (sizes & DIGIT_BITS) - (given & DIGIT_BITS) + 1
    parts, at = np.int64(0), np.int64(0)
    place = 0
    while place < places:
        for i in range(row):
            memory[layer + at + offset + i] += weight * memory[layer + states + at + i]
        place, stride = 1, (sizes & DIGIT_BITS) + 1
        while place < places:
            size = sizes >> DIGIT * place & DIGIT_BITS
            digit = parts >> DIGIT * place & DIGIT_BITS
            if digit < size - (given >> DIGIT * place & DIGIT_BITS):
                parts += ONE << DIGIT * place
                at += stride
                break
            parts -= digit << DIGIT * place
            at -= digit * stride
            stride *= size + 1
            place += 1


@jit
def deal_counted(table: Table, rules: KernelRules, seat: Any, known: Any, kinds: Any, unseen: Any, memory: Any) -> None:
    """Draws a deal from the count: kind by kind for the seats ``known``, then their other cards, then the other seats."""
    number, states, sizes = count(kinds), number_of_states(table, known), packed_sizes(table, known)
    state, free = states - 1, unseen
    for other in range(rules.players):
        if other != seat:
            table.hand[other] = 0
    for k in range(number):
        cards = cards_of_kind(rules, lowest(kinds)) & unseen
        kinds &= kinds - 1
        free &= ~cards
        term = draw_term(memory, k * TERMS, number * TERMS + k * states, states, state, sizes, uniform(table))
        take_packed(table, known, cards, np.int64(memory[term + 1]))
        sizes -= np.int64(memory[term + 1])
        state -= np.int64(memory[term + 2])
    take_packed(table, known, free, sizes)
    pool = unseen
    for other in range(rules.players):
        if other != seat and known >> other & 1:
            pool &= ~table.hand[other]
    for other in range(rules.players):
        if other != seat and not known >> other & 1:
            table.hand[other] = draw(table, pool, count(pool), np.int64(table.cards[other]))
            pool &= ~table.hand[other]
    stack_deck(table, rules)


@inlined
def uniform(table: Table) -> Any:
    """Returns a number in [0, 1) with 53 random bits."""
    return np.float64(next_word(table) >> S11) * TO_UNIT


@jit
def take_packed(table: Table, seats: Any, cards: Any, given: Any) -> None:
    """Deals random ``cards`` to ``seats``, to each as many as ``given`` (packed) says."""
    while given:
        number = given & DIGIT_BITS
        if number:
            dealt = draw(table, cards, count(cards), number)
            table.hand[lowest(seats)] |= dealt
            cards &= ~dealt
        seats &= seats - 1
        given >>= DIGIT


@jit
def draw_term(memory: Any, start: Any, layer: Any, states: Any, state: Any, sizes: Any, uniform: Any) -> Any:
    """Draws one of the terms from ``start``, each with its share of the deals to ``state``; returns its place."""
    left = memory[layer + state] * uniform
    chosen = -1
    for i in range(np.int64(memory[start])):
        term = start + 1 + TERM * i
        # a seat that got more cards than it needs would borrow from its guard bit
        if ((sizes | GUARDS) - np.int64(memory[term + 1])) & GUARDS == GUARDS:
            share = memory[term] * memory[layer + states + state - np.int64(memory[term + 2])]
            if share > 0.0:
                chosen = term  # rounding may leave a remainder after the last one
                left -= share
                if left < 0.0:
                    break
    return chosen
