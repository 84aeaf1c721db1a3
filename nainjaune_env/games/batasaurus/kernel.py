"""The rules of Batasaurus as functions over one table, each as short as the article it states.

The same source runs compiled or as plain Python. ``table`` is a record of ``state.TABLE``. Sets of slots, values and seats
are bits of an integer.

A card committed in a battle leaves its slot at once and stays in ``hidden`` until all are shown (B2.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.events import CARD, HIDDEN, KIND, NO_SEAT, OPENING, PILE, SEAT
from nainjaune_env.core.kernel import note
from nainjaune_env.core.prng import below
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.events import Event
from nainjaune_env.games.batasaurus.rules import Exhausted, KernelRules, Memory
from nainjaune_env.games.batasaurus.state import MAX_SEATS, ONE, SEAT_BITS, SLOTS, UNKNOWN, Phase


@jit
def start(table: Table, rules: KernelRules) -> None:
    """Draws the first leader of a new game (B3.3)."""
    table.first = below(table, rules.players)


@jit
def deal(table: Table, rules: KernelRules) -> None:
    """Puts every seat's cards into its slots: shuffled where they must be remembered (B1.1), else sorted (B4.1)."""
    for seat in range(MAX_SEATS):
        for slot in range(SLOTS):
            table.layout[seat, slot] = slot + 1 if slot < rules.dinosaurs and seat < rules.players else 0
    if must_remember(rules):
        for seat in range(rules.players):
            for slot in range(rules.dinosaurs - 1):  # Fisher–Yates
                other = slot + below(table, rules.dinosaurs - slot)
                value = table.layout[seat, other]
                table.layout[seat, other] = table.layout[seat, slot]
                table.layout[seat, slot] = value
    open_game(table, rules)


@inlined
def must_remember(rules: KernelRules) -> Any:
    """Returns whether seats see their cards once, before the first trick, and must remember them (B4.2)."""
    return rules.memory == Memory.GLIMPSE


@jit
def open_game(table: Table, rules: KernelRules) -> None:
    """Begins a game with ``layout`` and ``first`` as they are, with the memorising steps if the rules have them (B4.2)."""
    for seat in range(MAX_SEATS):
        plays = seat < rules.players
        table.slots[seat] = (ONE << rules.dinosaurs) - 1 if plays else 0
        table.held[seat] = table.slots[seat]
        table.cards[seat] = rules.dinosaurs if plays else 0
        table.pile[seat] = 0
        table.hidden[seat] = 0
    table.tricks = 0
    open_trick(table, rules, table.first)
    table.phase = Phase.MEMORISING if must_remember(rules) else Phase.TRICK
    table.stage = Stage.PLAYING


open_round = open_game


@inlined
def open_trick(table: Table, rules: KernelRules, leader: Any) -> None:
    """Begins an empty trick, which ``leader`` leads (B2.1)."""
    for seat in range(MAX_SEATS):
        table.shown[seat] = 0
    table.at_stake = 0
    table.battling = 0
    table.phase = Phase.TRICK
    table.tricks += 1
    table.leader = leader
    table.seat = leader


@inlined
def legal(table: Table, rules: KernelRules) -> Any:
    """Returns the legal actions, bit a = action a: any slot with a card (B2.1), or the memorising step alone (B4.2)."""
    if table.phase == Phase.MEMORISING:
        return ONE << MEMORISE
    return np.int64(table.slots[table.seat & SEAT_BITS])


@inlined
def needs_decision(table: Table, rules: KernelRules, legal_bits: Any) -> Any:
    """Returns whether the seat to act has a choice, or cards to memorise: what it sees now it will not see again (B4.2)."""
    return legal_bits & (legal_bits - 1) != 0 or table.phase == Phase.MEMORISING


@inlined
def next_seat(rules: KernelRules, seat: Any) -> Any:
    """Returns the seat after ``seat`` in the direction of play."""
    return seat + 1 if seat + 1 < rules.players else 0


@inlined
def value_bit(value: Any) -> Any:
    """Returns the set that holds ``value`` alone; the empty set for 0."""
    return ONE << value >> 1


@inlined
def sees_own_cards(table: Table, rules: KernelRules, seat: Any) -> Any:
    """Returns whether ``seat`` sees its own cards now: always (B4.1), or in its memorising step alone (B4.2)."""
    return not must_remember(rules) or (table.phase == Phase.MEMORISING and table.seat == seat)


@inlined
def step(table: Table, rules: KernelRules, action: Any) -> None:
    """Makes one ply. ``action`` must be legal."""
    make_ply(table, rules, action, None)


@jit
def tell(table: Table, rules: KernelRules, action: Any, events: Any) -> None:
    """Makes one ply and writes what happens to ``events``, a row an ``Event``; an opening has none."""
    if action != OPENING:
        make_ply(table, rules, action, events)


@jit
def hide(row: Any, rules: KernelRules, viewer: Any) -> None:
    """Hides other seats' slots, and cards face down from all who do not see them (B4)."""
    if row[KIND] == Event.PLAY or row[KIND] == Event.COMMIT:
        if row[SEAT] != viewer:
            row[PILE] = HIDDEN
        if row[KIND] == Event.COMMIT and (row[SEAT] != viewer or must_remember(rules)):
            row[CARD] = HIDDEN


@inlined
def make_ply(table: Table, rules: KernelRules, action: Any, events: Any) -> None:
    """Makes one ply. ``events`` is None, or where what happens is written; so it is in the functions below."""
    if action == MEMORISE:
        note(events, Event.LOOK, table.seat)
        table.seat = next_seat(rules, table.seat)
        if table.seat == table.leader:
            table.phase = Phase.TRICK
    else:
        play(table, rules, action, events)


@inlined
def play(table: Table, rules: KernelRules, slot: Any, events: Any) -> None:
    """Plays the card in ``slot`` to the trick: face up (B2.1), or face down in a battle (B2.3)."""
    seat = table.seat & SEAT_BITS
    value = table.layout[seat, slot]
    table.slots[seat] ^= ONE << slot
    table.cards[seat] -= 1
    table.at_stake += 1
    if table.phase == Phase.BATTLE:
        note(events, Event.COMMIT, seat, card=value, pile=slot)
        table.hidden[seat] = value
    else:
        note(events, Event.PLAY, seat, card=value, pile=slot)
        show(table, seat, value)
    seat = next_seat(rules, seat)
    while seat != table.leader and table.battling and not table.battling >> seat & 1:
        seat = next_seat(rules, seat)
    if seat != table.leader:
        table.seat = seat
    else:
        resolve(table, rules, events)


@inlined
def show(table: Table, seat: Any, value: Any) -> None:
    """Turns up a card of ``seat`` with this ``value``."""
    table.shown[seat] = value
    table.held[seat] ^= value_bit(value)


@inlined
def tied_for_highest(table: Table, rules: KernelRules, contending: Any) -> Any:
    """Returns the seats of ``contending`` (bits; each has shown a card) whose last shown card is the highest, as bits."""
    highest, tied = 0, np.int64(0)
    for seat in range(rules.players):
        if contending >> seat & 1 and table.shown[seat] >= highest:
            tied = ONE << seat if table.shown[seat] > highest else tied | ONE << seat
            highest = table.shown[seat]
    return tied


@jit
def resolve(table: Table, rules: KernelRules, events: Any) -> None:
    """Ends a round of cards: the highest takes the trick (B2.2), several seats tied for the highest battle (B2.3, B2.4)."""
    contending = table.battling if table.battling else (ONE << rules.players) - 1
    turn_up(table, rules, events)
    tied = tied_for_highest(table, rules, contending)
    able, winner = np.int64(0), 0
    for seat in range(rules.players):
        # a seat alone at the top has won, with or without a card left
        if tied >> seat & 1 and (tied == ONE << seat or table.cards[seat] > 0):
            able |= ONE << seat
            winner = seat
    tell_tie(table, rules, tied, able, events)
    if able == 0:
        share = table.at_stake // count(tied) if rules.exhausted == Exhausted.SPLIT else 0
        for seat in range(rules.players):
            if tied >> seat & 1:
                table.pile[seat] += share
        if share:
            note(events, Event.SHARE, NO_SEAT, pile=table.at_stake - share * count(tied), paid=share, cards=tied)
        else:
            note(events, Event.NOBODY, NO_SEAT, paid=table.at_stake)
        end_trick(table, rules, table.leader, events)
    elif able & (able - 1) == 0:
        table.pile[winner] += table.at_stake
        note(events, Event.TAKE, winner, paid=table.at_stake, due=table.pile[winner])
        end_trick(table, rules, winner, events)
    else:
        open_battle(table, rules, able)


@inlined
def turn_up(table: Table, rules: KernelRules, events: Any) -> None:
    """Turns up the cards of a battle (B2.3)."""
    values = np.int64(0)
    for seat in range(rules.players):
        if table.hidden[seat]:
            values |= np.int64(table.hidden[seat]) << 4 * seat
            show(table, seat, table.hidden[seat])
            table.hidden[seat] = 0
    if values:
        note(events, Event.SHOW, NO_SEAT, other=table.leader, cards=values)


@inlined
def tell_tie(table: Table, rules: KernelRules, tied: Any, able: Any, events: Any) -> None:
    """Tells that seats ``tied`` (bits), and which drop out of the battle since they are not ``able``."""
    if events is not None:
        if tied & (tied - 1):
            note(events, Event.BATTLE, NO_SEAT, other=table.leader, card=table.shown[lowest(tied)], cards=tied)
        for k in range(rules.players):
            seat = (table.leader + k) % rules.players
            if able and (tied ^ able) >> seat & 1:
                note(events, Event.DROP, seat)


@inlined
def open_battle(table: Table, rules: KernelRules, able: Any) -> None:
    """Begins a battle: the seats ``able`` (bits) commit a card each, in order from the trick's leader (B2.3)."""
    table.battling = able
    table.phase = Phase.BATTLE
    seat = table.leader
    while not able >> seat & 1:
        seat = next_seat(rules, seat)
    table.seat = seat


@inlined
def end_trick(table: Table, rules: KernelRules, leader: Any, events: Any) -> None:
    """Opens the next trick, led by ``leader``; the game stops before a trick for which some seat has no card (B3.1)."""
    open_trick(table, rules, leader)
    for seat in range(rules.players):
        if table.cards[seat] == 0:
            table.stage = Stage.MATCH_OVER
    if table.stage == Stage.MATCH_OVER:
        for seat in range(rules.players):
            table.pile[seat] += table.cards[seat]
            note(events, Event.LEFT, seat, paid=table.cards[seat])


@inlined
def payoffs(table: Table, rules: KernelRules, out: Any) -> None:
    """Writes each seat's cards won so far into ``out`` (B3.2)."""
    for seat in range(rules.players):
        out[seat] = table.pile[seat]


@jit
def redact(table: Table, rules: KernelRules, seat: Any) -> None:
    """Wipes what ``seat`` may not know (B4): where cards lie, which cards lie face down, and the random state.

    Its own cards stay while it sees them. Where it must remember them, a card that it has committed itself is wiped too.
    """
    sees = sees_own_cards(table, rules, seat)
    for other in range(MAX_SEATS):
        if other != seat or not sees:
            for slot in range(SLOTS):
                table.layout[other, slot] = 0
            if table.hidden[other]:
                table.hidden[other] = UNKNOWN
        if other != seat:  # a sorted card's slot is its value; where a shuffled card lay tells nothing
            table.slots[other] = 0
    table.rng = np.uint64(0)
