"""The rules of Nain Jaune as functions over one table, one for each article.

The same source runs compiled and as plain Python. Of several cards that are one action (N1.3) the lowest leaves the hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, lowest, nth_lowest
from nainjaune_env.core.events import DRAWN, NO_SEAT, OPENING
from nainjaune_env.core.kernel import note
from nainjaune_env.core.prng import below, fork, uniform
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.games.nain_jaune.actions import PASS, POT, SILENT, is_silent, pot_of
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.rules import Announce, Blocked, Decline, GrandOpera, KernelRules, Payment, Stranded
from nainjaune_env.games.nain_jaune.state import (
    ACES,
    MAX_SEATS,
    NOBODY,
    NUM_RANKS,
    ONE,
    POT_LIMIT,
    POTS,
    SEAT_BITS,
    points_in,
    pot_cards_in,
    ranks_of,
)


@jit
def start(table: Table, rules: KernelRules) -> None:
    """Begins a match (N4.1, N4.4): starting stacks, empty pots, a random dealer, a sorted deck."""
    for seat in range(MAX_SEATS):
        table.stack[seat] = rules.starting_stack if seat < rules.players else 0
    for pot in range(POTS):
        table.pot[pot] = 0
    front, back = 0, rules.deck_size
    for card in range(52):
        if rules.deck >> card & 1:
            table.deck[front] = card
            front += 1
        else:  # not in the deck, so never dealt
            table.deck[back] = card
            back += 1
    table.rounds = 0
    # the dealer of the round before the first: deal() moves on by one seat
    table.dealer = below(table, rules.players)


@jit
def set_start_values(table: Table, rules: KernelRules, values: Any) -> None:
    """Sets the chips in each pot before the first antes: ``values (5,) int64``."""
    for pot in range(POTS):
        table.pot[pot] = values[pot]


@jit
def deal(table: Table, rules: KernelRules) -> None:
    """Begins the next round: moves the deal on by one seat (N4.4), shuffles, deals (N1.4) and collects the antes."""
    table.dealer = (table.dealer + 1) % rules.players
    dealt = rules.hand_size * rules.players
    for i in range(dealt):  # Fisher–Yates, stopped after the cards that are dealt
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
def open_round(table: Table, rules: KernelRules) -> None:
    """Begins a round with the hands that are on the table: antes (N2.1), and the lead after the dealer (N2.2)."""
    for seat in range(MAX_SEATS):
        table.before[seat] = table.stack[seat]
        table.played[seat] = 0
        table.void[seat] = 0
        table.passed[seat] = 0
        table.cards[seat] = rules.hand_size if seat < rules.players else 0
    table.defaults = 0
    for seat in range(rules.players):
        for pot in range(POTS):
            add_to_pot(table, rules, seat, pot, rules.antes[pot] * rules.stake)
    for pot in range(POTS):
        table.captor[pot] = NOBODY
    table.seat = (table.dealer + 1) % rules.players
    table.last = table.seat
    table.required_rank = 0
    table.turn_taken = 0
    table.hand_untouched = 1
    table.winner = NOBODY
    table.opera = 0
    table.rounds += 1
    table.stage = Stage.PLAYING


@inlined
def legal(table: Table, rules: KernelRules) -> Any:
    """Returns the legal actions of the seat to act, bit a = action a (N2.3–N2.5, N2.7)."""
    required = table.required_rank
    cards = table.hand[table.seat & SEAT_BITS]
    if required > 0:
        cards &= ACES << (required - 1)
    plain = cards & ~rules.pot_set
    pots = pot_cards_in(rules, cards)
    legal_bits = ranks_of(plain) | pots << POT
    if rules.announce == Announce.EXPLICIT:
        legal_bits |= pots << SILENT
    if required > 0 and (legal_bits == 0 or may_decline(rules, table.seat == table.last)):
        legal_bits |= ONE << PASS
    return legal_bits


@inlined
def play_forced(table: Table, rules: KernelRules, legal_bits: Any) -> None:
    """Plays the only legal action; after a pass also the passes of the next seats that can do nothing else."""
    if legal_bits >> PASS & 1:
        pass_turn(table, rules, True, None)
    else:
        play(table, rules, lowest(legal_bits), None)


@inlined
def may_decline(rules: KernelRules, goes_on: Any) -> Any:
    """Returns whether a seat may refuse to play a card that it holds when it ``goes_on`` (N2.4) or else takes over (N2.5)."""
    return rules.decline == Decline.ALWAYS or (rules.decline == Decline.ENTRY and not goes_on)


@inlined
def step(table: Table, rules: KernelRules, action: Any) -> None:
    """Plays one ply; ``action`` must be legal."""
    make_ply(table, rules, action, None)


@jit
def tell(table: Table, rules: KernelRules, action: Any, events: Any) -> None:
    """Opens a round that has just been dealt, or plays one ply, and writes what happens to ``events``, a row an ``Event``.

    ``events.memory (8,)`` are the real hands. The card that leaves ``table.hand`` is the lowest of its kind; its suit would show
    that the hand held no lower one, so a plain play shows a card drawn from the real hand.
    """
    if action == OPENING:
        tell_opening(table, rules, events)
    else:
        make_ply(table, rules, action, events)


@jit
def hide(row: Any, rules: KernelRules, viewer: Any) -> None:
    """Hides nothing: all that happens is public, and the end shows what hands are left (N3.2, N6)."""


@jit
def tell_opening(table: Table, rules: KernelRules, events: Any) -> None:
    """Tells who deals and leads (N2.2, N4.4) and the antes (N2.1), and begins the memory of the round."""
    events.rng[0] = fork(table.rng)
    for seat in range(MAX_SEATS):
        events.memory[seat] = table.hand[seat]
    note(events, Event.ROUND, table.seat, other=table.dealer, pile=table.rounds)
    for seat in range(rules.players):
        note(events, Event.ANTE, seat, paid=table.before[seat] - table.stack[seat], due=rules.round_antes)


@inlined
def make_ply(table: Table, rules: KernelRules, action: Any, events: Any) -> None:
    """Plays one ply. ``events`` is None, or where what happens is written; so it is in the functions below."""
    if action == PASS:
        pass_turn(table, rules, False, events)
    else:
        play(table, rules, action, events)


@inlined
def play(table: Table, rules: KernelRules, action: Any, events: Any) -> None:
    """Plays a card: the round ends with a seat's last one (N2.8), else the same seat goes on (N2.3, N2.4)."""
    if put_down(table, rules, action, events) == 0:
        settle(table, rules, events)


@inlined
def put_down(table: Table, rules: KernelRules, action: Any, events: Any) -> Any:
    """Moves a card from the hand of the seat to act to the table, and chips with a pot card (N2.7); returns the cards left."""
    seat = table.seat & SEAT_BITS
    tell_card(table, rules, seat, action, events)
    if action < POT:
        column = table.hand[seat] & ~rules.pot_set & ACES << action
        card = column & -column
        rank = action + 1
    else:
        pot = pot_of(action)
        number = rules.pot_cards[pot]
        card = ONE << number
        rank = number % NUM_RANKS + 1
        if is_silent(action):
            due = silent_due(table, rules, pot)
            paid = add_to_pot(table, rules, seat, pot, due)
            note(events, Event.SILENT, seat, card=number, pile=pot, paid=paid, due=due)
        else:
            note(events, Event.CAPTURE, seat, card=number, pile=pot, paid=table.pot[pot], due=table.pot[pot])
            capture(table, seat, pot)
            table.captor[pot] = seat
    table.hand[seat] ^= card
    table.played[seat] |= card
    table.cards[seat] -= 1
    table.last = seat
    table.required_rank = rank + 1 if rank < rules.top_rank else 0
    if table.cards[seat] == 0:
        note(events, Event.OUT, seat)
    elif rank == NUM_RANKS:
        note(events, Event.KING, seat)
    return table.cards[seat]


@inlined
def tell_card(table: Table, rules: KernelRules, seat: Any, action: Any, events: Any) -> None:
    """Tells which card is played, before it leaves the hand. Without the real hands it is the kernel's card."""
    if events is not None:
        if action >= POT:
            card = np.int64(rules.pot_cards[pot_of(action)])
        elif events.shown[0] != DRAWN:
            card = events.shown[0]
        else:
            alike = ~rules.pot_set & ACES << action
            real = events.memory[seat] & alike
            card = lowest(table.hand[seat] & alike)
            if real:
                card = nth_lowest(real, np.int64(uniform(events.rng, 0) * count(real)))
        events.memory[seat] &= ~(ONE << card)
        note(events, Event.PLAY, seat, card=card, pile=table.required_rank == 0)


@inlined
def silent_due(table: Table, rules: KernelRules, pot: Any) -> Any:
    """Returns what a silent play of the card of ``pot`` costs (N2.7)."""
    return rules.unannounced * np.int64(table.pot[pot])


@inlined
def pass_turn(table: Table, rules: KernelRules, repeat: Any, events: Any) -> None:
    """Passes or stops: records what that proves or may mean (N6), moves the turn on (N2.5), and ends a blocked circle (N2.6).

    With ``repeat`` the next seats pass too, up to one that can play or the end of the circle. Most plies are such passes, and
    the overhead of a ply is more work than the pass.
    """
    required, last = table.required_rank, table.last
    seat, turn_taken = table.seat & SEAT_BITS, table.turn_taken
    while True:
        note(events, Event.STOP if seat == last else Event.PASS, seat, card=required)
        if may_decline(rules, seat == last):
            table.passed[seat] |= ONE << (required - 1)
        else:
            table.void[seat] |= ONE << (required - 1)
        turn_taken |= ONE << seat
        seat = (seat + 1 if seat + 1 < rules.players else 0) & SEAT_BITS
        if seat == last:
            table.required_rank = rank_after_circle(rules, required)
            note(events, Event.BLOCKED, NO_SEAT, other=last, card=required, pile=table.required_rank)
            break
        if not repeat or table.hand[seat] & ACES << (required - 1):
            break
    table.seat = seat
    table.turn_taken = turn_taken
    table.hand_untouched = 1 if table.cards[seat] == rules.hand_size else 0  # N2.9


@inlined
def rank_after_circle(rules: KernelRules, required: Any) -> Any:
    """Returns the required rank after a circle without a card of rank ``required``; 0 is the lead (N2.6)."""
    return required + 1 if rules.blocked == Blocked.SKIP and required < rules.top_rank else 0


@inlined
def capture(table: Table, seat: Any, pot: Any) -> None:
    """Moves all chips of ``pot`` to ``seat``."""
    table.stack[seat] += table.pot[pot]
    table.pot[pot] = 0


@inlined
def affordable(table: Table, rules: KernelRules, seat: Any, due: Any) -> Any:
    """Returns what ``seat`` can pay of ``due``: with stacks never more than it has (N4.2)."""
    return table.stack[seat] if rules.limited and due > table.stack[seat] else np.int64(due)


@inlined
def take_from(table: Table, rules: KernelRules, seat: Any, due: Any) -> Any:
    """Takes what ``seat`` can pay of ``due`` from its stack and notes a default (N4.2); returns the chips taken."""
    paid = affordable(table, rules, seat, due)
    if paid < due:
        table.defaults |= ONE << seat
    table.stack[seat] -= paid
    return paid


@inlined
def add_to_pot(table: Table, rules: KernelRules, seat: Any, pot: Any, due: Any) -> Any:
    """Moves ``due`` chips from ``seat`` to ``pot`` as far as it can pay (N4.2) and they fit (N4.7); returns the chips paid."""
    paid = take_from(table, rules, seat, min(np.int64(due), np.int64(POT_LIMIT - table.pot[pot])))
    table.pot[pot] += paid
    return paid


@jit
def settle(table: Table, rules: KernelRules, events: Any) -> None:
    """Settles the round that the seat to act has just won, in the order of N3, and decides whether the match ends (N4.3)."""
    table.winner = table.seat
    take_every_pot(table, rules, events)
    for k in range(1, rules.players):
        pay_winner(table, rules, (table.winner + k) % rules.players, events)
    for k in range(1, rules.players):
        loser = (table.winner + k) % rules.players
        for pot in range(POTS):
            if is_stranded(table, rules, loser, pot):
                pay_stranded(table, rules, loser, pot, events)
    table.stage = Stage.MATCH_OVER if match_ends(table, rules) else Stage.ROUND_OVER


@inlined
def take_every_pot(table: Table, rules: KernelRules, events: Any) -> None:
    """If the winner made a grand opéra, notes it and moves all pots to them (N3.1)."""
    if is_grand_opera(table, rules):
        table.opera = 1
        chips = np.int64(0)
        for pot in range(POTS):
            chips += table.pot[pot]
            capture(table, table.winner, pot)
        note(events, Event.OPERA, table.winner, paid=chips, due=chips)


@jit
def is_grand_opera(table: Table, rules: KernelRules) -> Any:
    """Returns whether the winner, who is the seat to act, made a grand opéra (N3.1)."""
    if rules.grand_opera == GrandOpera.NO_RIVAL_CARD:
        for seat in range(rules.players):
            if seat != table.winner and table.cards[seat] < rules.hand_size:
                return False
        return True
    if rules.grand_opera == GrandOpera.FIRST_TURN and table.turn_taken >> table.winner & 1:
        return False
    return table.hand_untouched == 1


@inlined
def pay_winner(table: Table, rules: KernelRules, loser: Any, events: Any) -> None:
    """Moves a loser's payment to the winner (N3.2)."""
    due = payment_due(table, rules, loser)
    paid = take_from(table, rules, loser, due)
    table.stack[table.winner] += paid
    if events is not None:
        note(events, Event.PAYS, loser, other=table.winner, paid=paid, due=due, cards=events.memory[loser])


@jit
def payment_due(table: Table, rules: KernelRules, loser: Any) -> Any:
    """Returns what a loser owes the winner for the cards left in hand (N3.2)."""
    if rules.payment == Payment.POINTS:
        return points_in(np.int64(table.hand[loser]))
    return np.int64(table.cards[loser])


@jit
def is_stranded(table: Table, rules: KernelRules, loser: Any, pot: Any) -> Any:
    """Returns whether a loser who still holds the card of ``pot`` must pay for it (N3.3)."""
    return rules.stranded != Stranded.NONE and table.hand[loser] >> rules.pot_cards[pot] & 1 == 1


@inlined
def pay_stranded(table: Table, rules: KernelRules, loser: Any, pot: Any, events: Any) -> None:
    """Moves what a loser owes for the card of ``pot`` into the pot (N3.3)."""
    due = stranded_due(table, rules, pot)
    paid = add_to_pot(table, rules, loser, pot, due)
    note(events, Event.STRANDED, loser, card=rules.pot_cards[pot], pile=pot, paid=paid, due=due)


@jit
def stranded_due(table: Table, rules: KernelRules, pot: Any) -> Any:
    """Returns what a stranded card of ``pot`` costs (N3.3)."""
    if rules.stranded == Stranded.MATCH_POT:
        return np.int64(table.pot[pot])
    if rules.stranded == Stranded.TWICE_POT:
        return 2 * np.int64(table.pot[pot])
    return 2 * np.int64(rules.antes[pot]) * rules.stake


@jit
def match_ends(table: Table, rules: KernelRules) -> Any:
    """Returns whether the round just settled is the last of its match (N4.3)."""
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
def payoffs(table: Table, rules: KernelRules, out: Any) -> None:
    """Writes each seat's net chips of the round so far, antes included, into ``out (n,) int32``."""
    for seat in range(rules.players):
        out[seat] = table.stack[seat] - table.before[seat]


@jit
def redact(table: Table, rules: KernelRules, seat: Any) -> None:
    """Wipes what ``seat`` may not know (N6): other hands, the talon, the order of the deck, the random state.

    Hand sizes stay, and how many cards of each kind a seat has played. The suits of plain cards do not: the lowest suit leaves
    a hand first, so a rival's five of clubs would show that this hand held no other plain five.
    """
    for other in range(MAX_SEATS):
        if other != seat:
            table.hand[other] = 0
    for rank in range(NUM_RANKS):
        column = ACES << rank & rules.deck & ~rules.pot_set
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
