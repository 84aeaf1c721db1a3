"""What a seat observes: the features, declared once in order, and the encoder that writes them in that order.

Every byte follows from what the seat may know (N6). Seats are relative to the observer: 0 is the observer, 1 the next seat in
the direction of play.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import SPREAD, write_counts, write_flags, write_word
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import ALL_RANKS, NUM_RANKS, ONE, POTS, SEAT_BITS, pot_cards_in, relative_seat

CHIPS = "chips, exact below 64, then in steps of 1/32 octave (see `chip_code`)"
SIGNED = "128 + chips: exact within ±32, then in steps of 1/16 octave (see `signed_chip_code`)"


def layout(players: int) -> Layout:
    """Returns the features of an observation with that many seats."""
    return Layout(
        (
            Feature("hand", (NUM_RANKS,), "plain cards I hold, by rank", high=4, scale=2.0, private=True),
            Feature("hand_pots", (POTS,), "pot cards I hold", private=True),
            Feature("played", (NUM_RANKS,), "plain cards played by anyone this round, by rank", high=4, scale=2.0),
            Feature("played_pots", (POTS,), "pot cards played by anyone this round"),
            Feature("required", (NUM_RANKS + 1,), "one-hot: 0 while a seat has the lead, else the required rank"),
            Feature("last", (players,), "one-hot: who played last (before the first card: who leads), relative"),
            Feature("at_turn", (players,), "one-hot: who is to act, relative"),
            Feature("cards", (players,), "cards in hand, relative", high=22, scale=8.0),
            Feature("voids", (players - 1, NUM_RANKS), "ranks proven absent (N6), of every other seat, relative"),
            Feature(
                "passed",
                (players - 1, NUM_RANKS),
                "ranks that every other seat passed where it might have refused a card of them (N6), relative",
            ),
            Feature("turn_taken", (players,), "whether the seat has ended a turn this round (N2.9), relative"),
            Feature(
                "hand_untouched",
                (1,),
                "whether the seat to act held all its dealt cards when its turn began",
                fingerprint_name="fresh",  # the name under which checkpoints were trained
            ),
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
    """Returns a log-linear code of ``chips >= 0``: exact below ``2*steps``, then ``steps`` codes an octave.

    ``steps`` is a power of two. As in HdrHistogram, the code is monotone and its relative error below 1/steps.
    """
    octave = 0
    while chips >= 2 * steps:
        chips >>= 1
        octave += 1
    return octave * steps + chips


def signed_chip_code(chips: Any) -> Any:
    """Returns :func:`chip_code` with 16 codes an octave on either side of 128, cut off at 1 and 255."""
    if chips < 0:
        return 128 - min(chip_code(-chips, 16), 127)
    return 128 + min(chip_code(chips, 16), 127)


# Both codes as tables, up to where they are cut off: a look-up has no branches.
POT_TOP = 63 << 6
POT_BITS = (1 << POT_TOP.bit_length()) - 1
"""``chips & POT_BITS`` equals ``chips`` up to ``POT_TOP``, but the compiler can tell that this index is not negative."""
POT_CODE = np.array([min(chip_code(chips, 32), 255) for chips in range(POT_TOP + 1)], np.uint8)
STACK_TOP = 31 << 6
STACK_CODE = np.array([signed_chip_code(chips) for chips in range(-STACK_TOP, STACK_TOP + 1)], np.uint8)


@inlined
def write_rank_counts(out: Any, at: Any, cards: Any) -> Any:
    """Writes the number of ``cards`` (a set) of each rank from ``out[at]`` on and zeros behind it; returns the end."""
    ranks = ALL_RANKS
    write_counts(out, at, (cards & ranks, cards >> 13 & ranks, cards >> 26 & ranks, cards >> 39 & ranks))
    return at + NUM_RANKS


@jit
def encode(table: Table, rules: KernelRules, seat: Any, out: Any) -> Any:
    """Writes what ``seat`` observes into ``out``, ``uint8`` and at least ``layout(players).size`` long.

    Returns the number of bytes written. Any seat may be observed at any time.
    """
    # Equal to rules.players, but the compiler can tell that no offset is negative.
    n = rules.players & (2 * SEAT_BITS + 1)
    rivals = (n - 1) & SEAT_BITS
    hand = table.hand[seat]
    out_of_play = np.int64(0)
    for other in range(n):
        out_of_play |= table.played[other]
    at = write_rank_counts(out, 0, hand & ~rules.pot_set)
    at = write_flags(out, at, POTS, pot_cards_in(rules, hand))
    at = write_rank_counts(out, at, out_of_play & ~rules.pot_set)
    at = write_flags(out, at, POTS, pot_cards_in(rules, out_of_play))
    last = write_flags(out, at, NUM_RANKS + 1, ONE << table.required_rank)
    at_turn = last + n
    cards = at_turn + n
    voids = cards + n
    passed = voids + rivals * NUM_RANKS
    turn_taken = passed + rivals * NUM_RANKS
    hand_untouched = turn_taken + n
    pots = hand_untouched + 1
    stacks = pots + POTS
    dealer = stacks + n
    rounds = dealer + n
    # Words of eight bytes: what they overwrite behind a feature, or before the dealer, is written later.
    write_word(out, last, ONE << 8 * relative_seat(table.last, seat, n))
    write_word(out, at_turn, ONE << 8 * relative_seat(table.seat, seat, n))
    for k in range(1, n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        voids = write_flags(out, voids, NUM_RANKS, np.int64(table.void[other]))
    for k in range(1, n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        passed = write_flags(out, passed, NUM_RANKS, np.int64(table.passed[other]))
    turns = SPREAD[table.turn_taken & 255]  # by seat; turned so that the observer's comes first
    write_word(out, turn_taken, turns >> 8 * seat | turns << (8 * (n - seat) & 63))
    write_word(out, rounds - 8, ONE << 8 * (8 - n + relative_seat(table.dealer, seat, n)))
    out[hand_untouched] = table.hand_untouched
    for pot in range(POTS):
        out[pots + pot] = POT_CODE[min(table.pot[pot], POT_TOP) & POT_BITS]
    for k in range(n):
        other = (seat + k if seat + k < n else seat + k - n) & SEAT_BITS
        out[cards + k] = table.cards[other]
        out[stacks + k] = STACK_CODE[STACK_TOP + min(max(table.stack[other], -STACK_TOP), STACK_TOP)]
    out[rounds] = min(table.rounds, 255)
    out[rounds + 1] = min(max(rules.max_rounds - table.rounds, 0), 255)
    return rounds + 2
