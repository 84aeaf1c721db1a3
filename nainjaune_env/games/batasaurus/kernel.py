"""The rules of Batasaurus as functions over one table, each as short as the article it states.

One source, run compiled or as plain Python. ``table`` is a record of ``state.TABLE``, ``rules`` a
``rules.KernelRules``. Every bit that is shifted up comes from ``ONE``, an ``int64``: a small field shifted
as it stands would overflow in plain Python, where NumPy scalars keep their width.

Actions: 0..11 the card in that slot, 12 to look at one's own cards (``memory = glimpse``). A card committed in a battle
leaves its slot at once and is in ``hidden`` until all are shown (B2.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.prng import below
from nainjaune_env.games.batasaurus.encode import BATTLE, MEMORISING, TRICK, encode
from nainjaune_env.games.batasaurus.state import MAX_SEATS, SEAT_BITS, SLOTS, UNKNOWN

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
MEMORISE = 12
"""The action of the memorising step."""

PLAYING, MATCH_OVER = 0, 2

# Indices into the tuples of choices in rules.py
GLIMPSE = 0
SPLIT = 0


@jit
def start(table: Any, rules: Any) -> None:
    """A new game: who leads first is drawn at random (B3.3)."""
    table.first = below(table, rules.players)


@jit
def set_start_values(table: Any, rules: Any, values: Any) -> None:
    """Nothing can be given: ``GameSpec.start_values`` is empty."""


@jit
def deal(table: Any, rules: Any) -> None:
    """Every seat's cards into its slots: shuffled where they must be remembered (B1.1), else sorted (B4.1)."""
    for seat in range(MAX_SEATS):
        for slot in range(SLOTS):
            table.layout[seat, slot] = slot + 1 if slot < rules.dinosaurs and seat < rules.players else 0
    if rules.memory == GLIMPSE:
        for seat in range(rules.players):
            for slot in range(rules.dinosaurs - 1):  # Fisher–Yates
                other = slot + below(table, rules.dinosaurs - slot)
                value = table.layout[seat, other]
                table.layout[seat, other] = table.layout[seat, slot]
                table.layout[seat, slot] = value
    open_game(table, rules)


@jit
def open_game(table: Any, rules: Any) -> None:
    """A game begins with the layouts as they lie and ``first`` as it is: memorising comes first, if at all (B4.2)."""
    for seat in range(MAX_SEATS):
        plays = seat < rules.players
        table.slots[seat] = (ONE << rules.dinosaurs) - 1 if plays else 0
        table.held[seat] = table.slots[seat]
        table.cards[seat] = rules.dinosaurs if plays else 0
        table.pile[seat] = 0
        table.hidden[seat] = 0
    table.tricks = 0
    open_trick(table, rules, table.first)
    table.phase = MEMORISING if rules.memory == GLIMPSE else TRICK
    table.stage = PLAYING


@inlined
def open_trick(table: Any, rules: Any, leader: Any) -> None:
    """An empty trick, which ``leader`` begins (B2.1)."""
    for seat in range(MAX_SEATS):
        table.shown[seat] = 0
    table.at_stake = 0
    table.battling = 0
    table.phase = TRICK
    table.tricks += 1
    table.leader = leader
    table.seat = leader


@inlined
def legal(table: Any, rules: Any) -> Any:
    """The legal actions of the seat to act, bit a = action a: any slot with a card (B2.1), or to memorise (B4.2)."""
    if table.phase == MEMORISING:
        return ONE << MEMORISE
    return np.int64(table.slots[table.seat & SEAT_BITS])


@inlined
def needs_decision(table: Any, rules: Any, moves: Any) -> Any:
    """Whether the seat to act is to be asked: it has a choice, or something to see that it will not see again (B4.2)."""
    return moves & (moves - 1) != 0 or table.phase == MEMORISING


@inlined
def following(rules: Any, seat: Any) -> Any:
    """The seat after ``seat``."""
    return seat + 1 if seat + 1 < rules.players else 0


@inlined
def step(table: Any, rules: Any, action: Any) -> None:
    """One ply. ``action`` must be legal."""
    if action == MEMORISE:
        table.seat = following(rules, table.seat)
        if table.seat == table.leader:
            table.phase = TRICK
    else:
        play(table, rules, action)


@inlined
def play_forced(table: Any, rules: Any, moves: Any) -> None:
    """The one ply that is legal, ``moves``."""
    step(table, rules, lowest(moves))


@inlined
def play(table: Any, rules: Any, slot: Any) -> None:
    """The card in ``slot`` goes into the trick: face up (B2.1), in a battle face down (B2.3)."""
    seat = table.seat & SEAT_BITS
    value = table.layout[seat, slot]
    table.slots[seat] ^= ONE << slot
    table.cards[seat] -= 1
    table.at_stake += 1
    if table.phase == BATTLE:
        table.hidden[seat] = value
    else:
        show(table, seat, value)
    seat = following(rules, seat)
    while seat != table.leader and table.battling and not table.battling >> seat & 1:
        seat = following(rules, seat)
    if seat != table.leader:
        table.seat = seat
    else:
        resolve(table, rules)


@inlined
def show(table: Any, seat: Any, value: Any) -> None:
    """``seat`` shows a card of ``value``."""
    table.shown[seat] = value
    table.held[seat] ^= ONE << (value - 1)


@jit
def resolve(table: Any, rules: Any) -> None:
    """All who play have played: the highest takes the trick (B2.2), several tied at it battle (B2.3, B2.4)."""
    contending = table.battling if table.battling else (ONE << rules.players) - 1
    highest = 0
    for seat in range(rules.players):
        if contending >> seat & 1:
            if table.hidden[seat]:
                show(table, seat, table.hidden[seat])
                table.hidden[seat] = 0
            highest = max(highest, table.shown[seat])
    tied, able = np.int64(0), np.int64(0)
    number, winner = 0, 0
    for seat in range(rules.players):
        if contending >> seat & 1 and table.shown[seat] == highest:
            tied |= ONE << seat
            number += 1
    for seat in range(rules.players):
        # one seat alone at the top has won, with or without a card left
        if tied >> seat & 1 and (number == 1 or table.cards[seat] > 0):
            able |= ONE << seat
            winner = seat
    if able == 0:
        if rules.exhausted == SPLIT:
            for seat in range(rules.players):
                if tied >> seat & 1:
                    table.pile[seat] += table.at_stake // number
        end_trick(table, rules, table.leader)
    elif able & (able - 1) == 0:
        table.pile[winner] += table.at_stake
        end_trick(table, rules, winner)
    else:
        open_battle(table, rules, able)


@inlined
def open_battle(table: Any, rules: Any, able: Any) -> None:
    """The seats ``able`` commit a card each, in order from the trick's leader (B2.3)."""
    table.battling = able
    table.phase = BATTLE
    seat = table.leader
    while not able >> seat & 1:
        seat = following(rules, seat)
    table.seat = seat


@inlined
def end_trick(table: Any, rules: Any, leader: Any) -> None:
    """``leader`` is to lead next; the game stops before a trick for which some seat has no card (B3.1)."""
    open_trick(table, rules, leader)
    for seat in range(rules.players):
        if table.cards[seat] == 0:
            table.stage = MATCH_OVER
    if table.stage == MATCH_OVER:
        for seat in range(rules.players):
            table.pile[seat] += table.cards[seat]


@inlined
def payoffs(table: Any, rules: Any, out: Any) -> None:
    """Cards won so far, per seat (B3.2)."""
    for seat in range(rules.players):
        out[seat] = table.pile[seat]


@jit
def redact(table: Any, rules: Any, seat: Any) -> None:
    """Wipe what ``seat`` may not know (B4): where cards lie, what lies face down, the random state.

    With ``memory = perfect`` its own cards stay; with ``glimpse`` they stay in its memorising step alone. A card that it has
    committed itself is wiped too where it must remember what that was.
    """
    sees = rules.memory != GLIMPSE or (table.phase == MEMORISING and table.seat == seat)
    for other in range(MAX_SEATS):
        if other != seat or not sees:
            for slot in range(SLOTS):
                table.layout[other, slot] = 0
            if table.hidden[other]:
                table.hidden[other] = UNKNOWN
        if other != seat:  # with sorted cards a slot is a value, and elsewhere where a card lay tells nothing
            table.slots[other] = 0
    table.rng = np.uint64(0)


@jit
def resample(table: Any, rules: Any, seat: Any) -> None:
    """Fill in what ``redact`` wiped for ``seat``, uniformly over what fits; drawn from ``table.rng``, which the caller has set.

    What lies face down is any value that has not been shown; the others not shown lie in slots. What ``seat`` has forgotten
    is drawn as well, so that its full slots hold what is left to it in any order (B4.2).
    """
    sees = rules.memory != GLIMPSE or (table.phase == MEMORISING and table.seat == seat)
    for other in range(rules.players):
        if other == seat and sees:
            continue
        if table.hidden[other]:
            table.hidden[other] = any_value(table, np.int64(table.held[other]))
        lying = np.int64(table.held[other])
        if table.hidden[other]:
            lying ^= ONE << np.int64(table.hidden[other] - 1)
        if rules.memory != GLIMPSE:
            lay_sorted(table, rules, other)
            table.slots[other] = lying
        elif other == seat:
            lay_anywhere(table, rules, other, lying, np.int64(table.slots[other]))
        else:
            everywhere = (ONE << rules.dinosaurs) - 1
            lay_anywhere(table, rules, other, everywhere, everywhere)
            for slot in range(rules.dinosaurs):
                if lying >> np.int64(table.layout[other, slot] - 1) & 1:
                    table.slots[other] |= ONE << slot


@jit
def resample_many(tables: Any, rules: Any, seat: Any, memory: Any) -> None:
    """``resample`` for each of ``tables``; there is nothing to count first."""
    for i in range(tables.size):
        resample(tables[i], rules, seat)


@inlined
def any_value(table: Any, values: Any) -> Any:
    """One of the set ``values`` (bit v-1 = value v), each alike."""
    for _ in range(below(table, count(values))):
        values &= values - 1
    return lowest(values) + 1


@inlined
def lay_sorted(table: Any, rules: Any, seat: Any) -> None:
    """The cards of ``seat`` by value, as ``memory = perfect`` has them (B4.1)."""
    for slot in range(rules.dinosaurs):
        table.layout[seat, slot] = slot + 1


@jit
def lay_anywhere(table: Any, rules: Any, seat: Any, values: Any, slots: Any) -> None:
    """The set ``values`` into as many ``slots`` of ``seat``, and all other values into the other slots, in any order."""
    rest = ((ONE << rules.dinosaurs) - 1) & ~values
    for slot in range(rules.dinosaurs):
        if slots >> slot & 1:
            value = any_value(table, values)
            values ^= ONE << (value - 1)
        else:
            value = any_value(table, rest)
            rest ^= ONE << (value - 1)
        table.layout[seat, slot] = value
