"""The rules of Nain Jaune as functions over one table, each as short as the article it states.

One source, run compiled or as plain Python. ``table`` is a record of ``state.TABLE``, ``rules`` a
``rules.KernelRules``. Every bit that is shifted up comes from ``ONE``, an ``int64``: a small field shifted
as it stands would overflow in plain Python, where NumPy scalars keep their width.

Actions: 0..12 the plain card of rank 1..13, 13..17 the pot cards in pot order, 18 a pass (or a stop),
19..23 the pot cards played silently (``announce = explicit``). Cards that only their suit tells apart are
one action (N1.3); which of them leaves the hand is of no consequence, and the lowest does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.prng import below
from nainjaune_env.games.nain_jaune.belief.deals import resample_many
from nainjaune_env.games.nain_jaune.belief.resample import resample
from nainjaune_env.games.nain_jaune.encode import PLANE, encode, pot_cards_in
from nainjaune_env.games.nain_jaune.state import MAX_SEATS, NOBODY, POT_LIMIT, POTS, SEAT_BITS

__all__ = [
    "deal",
    "encode",
    "legal",
    "needs_decision",
    "payoffs",
    "play_forced",
    "redact",
    "resample",
    "resample_many",
    "set_start_values",
    "start",
    "step",
]  # fmt: skip

ONE = np.int64(1)
COLUMN = ONE | ONE << 13 | ONE << 26 | ONE << 39
"""The four cards of rank 1."""

POT = 13
PASS = 18
SILENT = 19

PLAYING, ROUND_OVER, MATCH_OVER = 0, 1, 2

# Indices into the tuples of choices in rules.py
NEVER, ENTRY, ALWAYS = 0, 1, 2
SKIP = 1
POINTS = 1
NONE, MATCH_POT, TWICE_POT, TWICE_ANTE = 0, 1, 2, 3
FIRST_TURN, SINGLE_TURN, NO_RIVAL_CARD = 0, 1, 2


@jit
def start(table: Any, rules: Any) -> None:
    """A new match (N4.1, N4.4): stacks as they begin, empty pots, a dealer drawn at random, a sorted deck."""
    for seat in range(MAX_SEATS):
        table.stack[seat] = rules.starting_stack if seat < rules.players else 0
    for pot in range(POTS):
        table.pot[pot] = 0
    front, back = 0, rules.deck_size
    for card in range(52):
        if rules.deck >> card & 1:
            table.deck[front] = card
            front += 1
        else:  # not played with, so never dealt
            table.deck[back] = card
            back += 1
    table.rounds = 0
    # the dealer of the round before the first: deal() moves on by one seat
    table.dealer = below(table, rules.players)


@jit
def set_start_values(table: Any, rules: Any, values: Any) -> None:
    """Set the pots, before antes, that the match starts with."""
    for pot in range(POTS):
        table.pot[pot] = values[pot]


@jit
def deal(table: Any, rules: Any) -> None:
    """The next round: the deal moves on by one seat (N4.4), cards are shuffled and dealt (N1.4), antes paid."""
    table.dealer = (table.dealer + 1) % rules.players
    dealt = rules.hand_size * rules.players
    for i in range(dealt):  # Fisher–Yates, as far as cards are dealt
        j = i + below(table, rules.deck_size - i)
        card = table.deck[j]
        table.deck[j] = table.deck[i]
        table.deck[i] = card
    for seat in range(MAX_SEATS):
        hand = np.int64(0)
        if seat < rules.players:
            for i in range(seat * rules.hand_size, (seat + 1) * rules.hand_size):
                hand |= ONE << table.deck[i]
        table.hand[seat] = hand
    open_round(table, rules)


@jit
def open_round(table: Any, rules: Any) -> None:
    """A round begins with the hands as they lie: antes (N2.1), and the lead after the dealer (N2.2)."""
    for seat in range(MAX_SEATS):
        table.before[seat] = table.stack[seat]
        table.played[seat] = 0
        table.void[seat] = 0
        table.cards[seat] = rules.hand_size if seat < rules.players else 0
    table.defaults = 0
    for seat in range(rules.players):
        for pot in range(POTS):
            add_to_pot(table, rules, seat, pot, rules.antes[pot] * rules.stake)
    for pot in range(POTS):
        table.captor[pot] = NOBODY
    table.seat = (table.dealer + 1) % rules.players
    table.last = table.seat
    table.need = 0
    table.turns = 0
    table.fresh = 1
    table.winner = NOBODY
    table.opera = 0
    table.rounds += 1
    table.stage = PLAYING


@inlined
def legal(table: Any, rules: Any) -> Any:
    """The legal actions of the seat to act, bit a = action a (N2.3–N2.5, N2.7)."""
    need = table.need
    cards = table.hand[table.seat & SEAT_BITS]
    if need > 0:
        cards &= COLUMN << (need - 1)
    plain = cards & ~rules.pot_set
    pots = pot_cards_in(rules, cards)
    moves = (plain | plain >> 13 | plain >> 26 | plain >> 39) & PLANE | pots << POT
    if rules.explicit:
        moves |= pots << SILENT
    if need > 0 and (moves == 0 or may_decline(rules, table.seat == table.last)):
        moves |= ONE << PASS
    return moves


@inlined
def needs_decision(table: Any, rules: Any, moves: Any) -> Any:
    """Whether the seat to act is to be asked, where ``moves`` are legal: it has more than one."""
    return moves & (moves - 1) != 0


@inlined
def play_forced(table: Any, rules: Any, moves: Any) -> None:
    """The one ply that is legal, ``moves``; of a pass, those of all seats after it that can only pass as well."""
    if moves >> PASS & 1:
        pass_turn(table, rules, True)
    else:
        play(table, rules, lowest(moves))


@inlined
def may_decline(rules: Any, goes_on: Any) -> Any:
    """Whether a seat may refuse a card it holds: where it ``goes_on`` (N2.4), or else takes over (N2.5)."""
    return rules.decline == ALWAYS or (rules.decline == ENTRY and not goes_on)


@inlined
def step(table: Any, rules: Any, action: Any) -> None:
    """One ply. ``action`` must be legal."""
    if action == PASS:
        pass_turn(table, rules, False)
    else:
        play(table, rules, action)


@inlined
def play(table: Any, rules: Any, action: Any) -> None:
    """A card is played: chips move (N2.7), then the round ends (N2.8) or the same seat goes on (N2.3, N2.4)."""
    seat = table.seat & SEAT_BITS
    if action < POT:
        column = table.hand[seat] & ~rules.pot_set & COLUMN << action
        card = column & -column
        rank = action + 1
    else:
        pot = action - POT if action < PASS else action - SILENT
        number = rules.pot_cards[pot]
        card = ONE << number
        rank = number % 13 + 1
        if action < PASS:
            capture(table, seat, pot)
            table.captor[pot] = seat
        else:
            add_to_pot(table, rules, seat, pot, rules.unannounced * np.int64(table.pot[pot]))
    table.hand[seat] ^= card
    table.played[seat] |= card
    table.cards[seat] -= 1
    table.last = seat
    table.need = rank + 1 if rank < rules.top_rank else 0
    if table.cards[seat] == 0:
        settle(table, rules)


@inlined
def pass_turn(table: Any, rules: Any, beyond: Any) -> None:
    """A stop or a pass: what it proves (N6), whose turn it is now (N2.5), and a blocked circle (N2.6).

    With ``beyond`` the seats after it pass too, up to one that can play or to the end of the circle. Most plies are such passes,
    and all that a ply takes besides is more work than the pass.
    """
    need, last = table.need, table.last
    seat, turns = table.seat & SEAT_BITS, table.turns
    while True:
        if not may_decline(rules, seat == last):
            table.void[seat] |= ONE << (need - 1)
        turns |= ONE << seat
        seat = (seat + 1 if seat + 1 < rules.players else 0) & SEAT_BITS
        if seat == last:
            table.need = need + 1 if rules.blocked == SKIP and need < rules.top_rank else 0
            break
        if not beyond or table.hand[seat] & COLUMN << (need - 1):
            break
    table.seat = seat
    table.turns = turns
    table.fresh = 1 if table.cards[seat] == rules.hand_size else 0  # N2.9


@inlined
def capture(table: Any, seat: Any, pot: Any) -> None:
    """``seat`` takes all chips of ``pot``."""
    table.stack[seat] += table.pot[pot]
    table.pot[pot] = 0


@inlined
def payable(table: Any, rules: Any, seat: Any, amount: Any) -> Any:
    """What ``seat`` pays of ``amount``: nobody pays more than he has, and paying less is a default (N4.2)."""
    if rules.limited and amount > table.stack[seat]:
        table.defaults |= ONE << seat
        return table.stack[seat]
    return np.int64(amount)


@inlined
def add_to_pot(table: Any, rules: Any, seat: Any, pot: Any, amount: Any) -> None:
    """``seat`` pays ``amount`` into ``pot``, as far as he can (N4.2) and the pot has room (N4.7)."""
    paid = payable(table, rules, seat, min(np.int64(amount), np.int64(POT_LIMIT - table.pot[pot])))
    table.stack[seat] -= paid
    table.pot[pot] += paid


@jit
def settle(table: Any, rules: Any) -> None:
    """The seat to act has gone out: settle the round in the order of N3, and see whether the match ends (N4.3)."""
    winner = table.seat
    table.winner = winner
    if is_grand_opera(table, rules):
        table.opera = 1
        for pot in range(POTS):
            capture(table, winner, pot)
    for k in range(1, rules.players):  # N3.2
        loser = (winner + k) % rules.players
        paid = payable(table, rules, loser, due(table, rules, loser))
        table.stack[loser] -= paid
        table.stack[winner] += paid
    if rules.stranded != NONE:  # N3.3
        for k in range(1, rules.players):
            loser = (winner + k) % rules.players
            for pot in range(POTS):
                if table.hand[loser] >> rules.pot_cards[pot] & 1:
                    add_to_pot(table, rules, loser, pot, stranded_due(table, rules, pot))
    table.stage = MATCH_OVER if match_ends(table, rules) else ROUND_OVER


@jit
def is_grand_opera(table: Any, rules: Any) -> Any:
    """Whether the winner, who is the seat to act, made a grand opéra (N3.1)."""
    if rules.grand_opera == NO_RIVAL_CARD:
        for seat in range(rules.players):
            if seat != table.winner and table.cards[seat] < rules.hand_size:
                return False
        return True
    if rules.grand_opera == FIRST_TURN and table.turns >> table.winner & 1:
        return False
    return table.fresh == 1


@jit
def due(table: Any, rules: Any, loser: Any) -> Any:
    """What a loser owes for the cards he holds (N3.2)."""
    if rules.payment != POINTS:
        return np.int64(table.cards[loser])
    hand = table.hand[loser]
    points = np.int64(0)
    for card in range(52):
        points += (hand >> card & 1) * min(card % 13 + 1, 10)
    return points


@jit
def stranded_due(table: Any, rules: Any, pot: Any) -> Any:
    """What a loser who still holds the card of ``pot`` adds to it (N3.3)."""
    if rules.stranded == MATCH_POT:
        return np.int64(table.pot[pot])
    if rules.stranded == TWICE_POT:
        return 2 * np.int64(table.pot[pot])
    return 2 * np.int64(rules.antes[pot]) * rules.stake


@jit
def match_ends(table: Any, rules: Any) -> Any:
    """Whether the round just settled was the match's last (N4.3)."""
    if rules.end_on_default and table.defaults != 0:
        return True
    if rules.max_rounds > 0 and table.rounds >= rules.max_rounds:
        return True
    if rules.limited:
        for seat in range(rules.players):
            if table.stack[seat] < rules.round_antes:
                return True
    return False


@inlined
def payoffs(table: Any, rules: Any, out: Any) -> None:
    """Net chips of the round so far, antes included, per seat."""
    for seat in range(rules.players):
        out[seat] = table.stack[seat] - table.before[seat]


@jit
def redact(table: Any, rules: Any, seat: Any) -> None:
    """Wipe what ``seat`` may not know (N6): other hands, the talon and deck order, the random state.

    Who played how many cards of which kind stays, and so do all hand sizes. Which of equal cards they were does not: the
    lowest leaves a hand (see above), so a rival's five of clubs would tell that no other five was in that hand.
    """
    for other in range(MAX_SEATS):
        if other != seat:
            table.hand[other] = 0
    for rank in range(13):
        column = COLUMN << rank & rules.deck & ~rules.pot_set
        free = column & ~(table.hand[seat] | table.played[seat])
        for other in range(rules.players):
            if other != seat:
                cards = table.played[other] & column
                table.played[other] ^= cards
                while cards:
                    table.played[other] |= free & -free
                    free &= free - 1
                    cards &= cards - 1
    for i in range(52):
        table.deck[i] = 0
    table.rng = np.uint64(0)
