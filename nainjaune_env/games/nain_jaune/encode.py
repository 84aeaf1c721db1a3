"""What a seat observes: the slots, declared once, and the encoder that writes them in that order.

Everything an observation holds follows from what the seat may know (N6). Seats are relative to the
observer: 0 is me, 1 the next in the direction of play.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import SPREAD, write_flags, write_word
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.games.nain_jaune.state import POTS, SEAT_BITS

ONE = np.int64(1)
RANKS = 13
PLANE = (ONE << RANKS) - 1
"""The ranks of one suit."""
CHIPS = "chips, exact below 64, then in steps of 1/32 octave (see `chip_code`)"
SIGNED = "128 + chips: exact within ±32, then in steps of 1/16 octave (see `signed_chip_code`)"


def layout(players: int) -> Layout:
    """The slots with ``players`` seats."""
    return Layout(
        (
            Feature("hand", (RANKS,), "plain cards I hold, by rank", high=4, scale=2.0, private=True),
            Feature("hand_pots", (POTS,), "pot cards I hold", private=True),
            Feature("played", (RANKS,), "plain cards played by anyone this round, by rank", high=4, scale=2.0),
            Feature("played_pots", (POTS,), "pot cards played by anyone this round"),
            Feature("required", (RANKS + 1,), "one-hot: 0 I or another have the lead, else the required rank"),
            Feature("last", (players,), "one-hot: who played last (before the first card: who leads), relative"),
            Feature("at_turn", (players,), "one-hot: who is to act, relative"),
            Feature("cards", (players,), "cards in hand, relative", high=22, scale=8.0),
            Feature("voids", (players - 1, RANKS), "ranks proven absent (N6), of every other seat, relative"),
            Feature("turn_taken", (players,), "whether the seat has ended a turn this round (N2.9), relative"),
            Feature("fresh", (1,), "whether the seat to act held all its dealt cards when its turn began"),
            Feature("pots", (POTS,), CHIPS, high=255, scale=32.0),
            Feature("stacks", (players,), f"stacks, relative seats; {SIGNED}", high=255, scale=32.0, zero=128),
            Feature("dealer", (players,), "one-hot: who dealt, relative"),
            Feature("rounds", (1,), "rounds dealt in this match", high=255, scale=8.0),
            Feature(
                "rounds_left",
                (1,),
                "rounds that `max_rounds` still allows after this one; 0 without a limit",
                high=255,
                scale=8.0,
            ),
        )
    )


def chip_code(chips: Any, steps: Any) -> Any:
    """A log-linear code for ``chips >= 0``: exact below ``2*steps``, then ``steps`` codes an octave.

    ``steps`` is a power of two. The bucketing of HdrHistogram: monotone, relative error below 1/steps.
    """
    octave = 0
    while chips >= 2 * steps:
        chips >>= 1
        octave += 1
    return octave * steps + chips


def signed_chip_code(chips: Any) -> Any:
    """:func:`chip_code` with 16 codes an octave on either side of 128, cut off at 1 and 255."""
    if chips < 0:
        return 128 - min(chip_code(-chips, 16), 127)
    return 128 + min(chip_code(chips, 16), 127)


# Both codes as tables, up to the first chips whose code is cut off: a look-up has no branches.
POT_TOP = 63 << 6
POT_CODE = np.array([min(chip_code(chips, 32), 255) for chips in range(POT_TOP + 1)], np.uint8)
STACK_TOP = 31 << 6
STACK_CODE = np.array([signed_chip_code(chips) for chips in range(-STACK_TOP, STACK_TOP + 1)], np.uint8)


@inlined
def write_counts(out: Any, at: Any, cards: Any) -> Any:
    """How many of the set ``cards`` there are of each rank, from ``out[at]``; gives the end. Writes past it likewise."""
    s, h, d, c = cards & PLANE, cards >> 13 & PLANE, cards >> 26 & PLANE, cards >> 39 & PLANE
    spread = SPREAD  # named once, as in `bits`
    write_word(out, at, spread[s & 255] + spread[h & 255] + spread[d & 255] + spread[c & 255])
    write_word(out, at + 8, spread[s >> 8] + spread[h >> 8] + spread[d >> 8] + spread[c >> 8])
    return at + RANKS


@inlined
def pot_cards_in(rules: Any, cards: Any) -> Any:
    """The pots whose card is in the set ``cards``, as bits."""
    pots = np.int64(0)
    for pot in range(POTS):
        pots |= (cards >> rules.pot_cards[pot] & 1) << pot
    return pots


@jit
def encode(table: Any, rules: Any, seat: Any, out: Any) -> Any:
    """Write what ``seat`` observes into ``out`` (``uint8``, at least ``layout(players).size`` long).

    Gives the number of bytes written. Any seat may be observed at any time.
    """
    # The same number of seats; said so, the compiler sees that no offset is negative.
    n = rules.players & (2 * SEAT_BITS + 1)
    rivals = (n - 1) & SEAT_BITS
    hand = table.hand[seat]
    out_of_play = np.int64(0)
    for other in range(n):
        out_of_play |= table.played[other]
    at = write_counts(out, 0, hand & ~rules.pot_set)
    at = write_flags(out, at, POTS, pot_cards_in(rules, hand))
    at = write_counts(out, at, out_of_play & ~rules.pot_set)
    at = write_flags(out, at, POTS, pot_cards_in(rules, out_of_play))
    last = write_flags(out, at, RANKS + 1, ONE << table.need)
    at_turn = last + n
    cards = at_turn + n
    voids = cards + n
    turn_taken = voids + rivals * RANKS
    fresh = turn_taken + n
    pots = fresh + 1
    stacks = pots + POTS
    dealer = stacks + n
    rounds = dealer + n
    for k in range(1, n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        voids = write_flags(out, voids, RANKS, np.int64(table.void[other]))
    # Read once: for all the compiler knows, writing the observation could change the table.
    who_last, who_acts, who_dealt, turns = table.last, table.seat, table.dealer, table.turns
    for k in range(n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        out[last + k] = other == who_last
        out[at_turn + k] = other == who_acts
        out[cards + k] = table.cards[other]
        out[turn_taken + k] = turns >> other & 1
        out[stacks + k] = STACK_CODE[STACK_TOP + min(max(table.stack[other], -STACK_TOP), STACK_TOP)]
        out[dealer + k] = other == who_dealt
    out[fresh] = table.fresh
    for pot in range(POTS):
        out[pots + pot] = POT_CODE[min(table.pot[pot], POT_TOP)]
    out[rounds] = min(table.rounds, 255)
    out[rounds + 1] = min(max(rules.max_rounds - table.rounds, 0), 255)
    return rounds + 2
