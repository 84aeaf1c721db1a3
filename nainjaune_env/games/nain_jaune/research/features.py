"""Columns for studies of play: a seat's hand and its shape, the table, and what a card leads to.

The module as a whole is the game's ``nainjaune_env.analysis.feature_hook.FeatureHooks``. Plain cards of a rank are equal
(N1.3), so a hand as a set tells only its ranks and its pot cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.feature_hook import SET, Column, Text, of_rivals
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.cards import DECK, RANKS, card_rank
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.actions import ACTION_OF, ACTIONS, PASS, is_pot_card, is_silent, pot_of, rank_of
from nainjaune_env.games.nain_jaune.rules import POT_CARDS, KernelRules
from nainjaune_env.games.nain_jaune.state import ACES, MAX_SEATS, NUM_RANKS, ONE, POTS, points_in, ranks_of, relative_seat

__all__ = ["ACTION", "COUNTED", "POSITION", "action", "position"]

RIVALS = MAX_SEATS - 1
BY_RANK = tuple((card, ACTIONS[ACTION_OF[DECK[card]]]) for card in sorted(range(52), key=card_rank))
"""The cards as a hand is read: by rank, named like actions, so with a suit only for pot cards."""

POSITION: tuple[Column | Text, ...] = (
    Column("hand_bits", "int64", SET, "The cards it holds, by number: bit 13·suit + rank − 1, suits ♠ ♥ ♦ ♣."),
    Text("hand", "hand_bits", BY_RANK, "The same as text, by rank, cards as in the actions' names: `A 3 3 T Td J`."),
    Column("cards", "int8", "cards", "How many it holds."),
    of_rivals("cards_of", "int8", "cards", "The number of cards of each other seat.", RIVALS),
    Column("ranks", "int16", SET, "The ranks it holds, bit rank − 1."),
    Column("lowest", "int8", "rank", "The lowest of them, ace 1 to king 13; null without cards.", none=0),
    Column("highest", "int8", "rank", "The highest of them; null without cards.", none=0),
    Column("gaps", "int8", "ranks", "Ranks between these two that it lacks."),
    Column("runs", "int8", "runs", "Runs that its ranks fall into: ranks in a row, as long as they go on."),
    Column("longest_run", "int8", "ranks", "The length of the longest of them."),
    Column("longest_from", "int8", "rank", "The rank it begins with, the lowest of several as long; null without cards.", none=0),
    Column("points", "int16", "points", "What its cards count where points are paid: ace 1 to ten 10, court cards 10 (N3.2)."),
    Column("holds", "bool", "", "Whether it holds the pot's card.", POT_CARDS),
    Column("pot", "int32", "chips", "Chips in the pot.", POT_CARDS),
    Column("played", "bool", "", "Whether the pot's card has been played.", POT_CARDS),
    Column(
        "holder", "int8", "seat", "Who holds the pot's card: 0 itself, 1 the next in the direction of play; null: nobody does.",
        POT_CARDS, seen=False, none=-1,
    ),
    Column("required", "int8", "rank", "The required rank; null where the seat to act leads.", none=0),
    Column("last", "int8", "seat", "Who played last: 0 itself, 1 the next …; before the first card, who leads."),
    Column("untouched", "bool", "", "Whether it still holds all the cards it was dealt, as a grand opéra takes (N3.1)."),
    Column("turns_ended", "bool", "", "Whether it has ended a turn in this round (N2.9)."),
    Column("gone", "int8", "cards", "Cards of the rank that have been played, pot cards among them.", tuple(RANKS)),
    of_rivals("void_of", "int16", SET, "Ranks that each other seat provably lacks (N6), bit rank − 1.", RIVALS),
    Column("stack", "int64", "chips", "Its stack; on unlimited credit counted from 0."),
    of_rivals("stack_of", "int64", "chips", "The stack of each other seat.", RIVALS),
)  # fmt: skip

ACTION: tuple[Column, ...] = (
    Column("rank", "int8", "rank", "The rank of the card that it plays; null for a pass.", none=0),
    Column("pot_card", "int8", "card", "The pot card that it plays; null for any other.", none=-1, names=POT_CARDS),
    Column("takes", "int32", "chips", "Chips that the card takes out of its pot."),
    Column("run", "int8", "ranks", "Ranks in a row that it holds from this one on: how far it can go; null for a pass.", none=0),
    Column("run_takes", "int32", "chips", "Chips that it takes with this card and by going on so, pot cards before plain ones."),
    Column("below", "int8", "ranks", "Ranks that it holds below this one; null for a pass.", none=-1),
    Column("above", "int8", "ranks", "Ranks that it holds above it; null for a pass.", none=-1),
    Column("declined", "bool", "", "Whether it passes with a card that it could play."),
)  # fmt: skip

COUNTED: tuple[Column, ...] = (
    Column("out", "bool", "", "Whether it went out first."),
    Column("opera", "bool", "", "Whether it made a grand opéra."),
    Column("cards_left", "int8", "cards", "Cards in its hand at the end."),
    Column("points_left", "int16", "points", "What they count."),
    Column("captured", "bool", "", "Whether it took the pot by its card.", POT_CARDS),
    Column("conceded", "bool", "", "Whether another did.", POT_CARDS),
    Column("stranded", "bool", "", "Whether it still held the pot's card at the end.", POT_CARDS),
    Column("silent", "bool", "", "Whether it played the pot's card without announcing it.", POT_CARDS),
    Column("leads", "int16", "cards", "Cards that it led."),
    Column("led", "int8", "cards", "The same by rank.", tuple(RANKS)),
    Column("may_decline", "int16", "plies", "Plies at which it held the required rank and was free to pass."),
    Column("declined", "int16", "plies", "Of these, how often it passed."),
    Column(
        "chips", "int32", "chips", "Chips won and lost, by source; they add up to the payoff.",
        ("antes", "captured", "opera", "received", "paid", "stranded", "silent"),
    ),
)  # fmt: skip


@jit
def position(table: Table, rules: KernelRules, seat: Any, row: Any) -> None:
    """Writes a seat's cards, the shape of its hand, the pots and the holders of their cards, and what is known of the others."""
    hand = np.int64(table.hand[seat])
    row.hand_bits = hand
    row.cards = table.cards[seat]
    row.untouched = table.cards[seat] == rules.hand_size
    row.turns_ended = table.turn_taken >> seat & 1
    row.stack = table.stack[seat]
    row.required = table.required_rank
    row.last = relative_seat(table.last, seat, rules.players)
    shape(hand, row)
    out_of_play = np.int64(0)
    for other in range(rules.players):
        out_of_play |= table.played[other]
    for rank in range(NUM_RANKS):
        row.gone[rank] = count(out_of_play & ACES << rank)
    for pot in range(POTS):
        card = rules.pot_cards[pot]
        row.pot[pot] = table.pot[pot]
        row.holds[pot] = hand >> card & 1
        row.played[pot] = out_of_play >> card & 1
        row.holder[pot] = -1
        for other in range(rules.players):
            if table.hand[other] >> card & 1:
                row.holder[pot] = relative_seat(other, seat, rules.players)
    for k in range(1, rules.players):
        other = (seat + k) % rules.players
        row.cards_of[k - 1] = table.cards[other]
        row.void_of[k - 1] = table.void[other]
        row.stack_of[k - 1] = table.stack[other]


@jit
def shape(hand: Any, row: Any) -> None:
    """Writes how the ranks of a hand are distributed, and its points."""
    ranks = ranks_of(hand)
    row.ranks = ranks
    row.points = points_in(hand)
    row.runs = count(ranks & ~(ranks << 1))
    row.longest_run, row.longest_from = 0, 0
    if ranks == 0:
        row.lowest, row.highest, row.gaps = 0, 0, 0
        return
    row.lowest = lowest(ranks) + 1
    row.highest = row.lowest
    for rank in range(lowest(ranks), NUM_RANKS):
        if ranks >> rank & 1:
            row.highest = rank + 1
            length = run_from(ranks, rank)
            if length > row.longest_run:
                row.longest_run, row.longest_from = length, rank + 1
    row.gaps = row.highest - row.lowest + 1 - count(ranks)


@inlined
def run_from(ranks: Any, rank: Any) -> Any:
    """Returns the number of ``ranks`` in a row from ``rank`` (0 = ace) on."""
    return lowest(~(ranks >> rank))


@jit
def action(table: Table, rules: KernelRules, action: Any, row: Any) -> None:
    """Writes the card, the chips it takes, and how far its seat can go on from it alone (N2.4)."""
    hand = np.int64(table.hand[table.seat])
    ranks = ranks_of(hand)
    row.pot_card, row.below, row.above = -1, -1, -1
    if action == PASS:
        row.declined = table.required_rank > 0 and ranks >> (table.required_rank - 1) & 1
        return
    rank = rank_of(rules, action)
    row.rank = rank
    row.run = run_from(ranks, rank - 1)
    row.below = count(ranks & ((ONE << (rank - 1)) - 1))
    row.above = count(ranks >> rank)
    if is_pot_card(action):
        row.pot_card = pot_of(action)
        if not is_silent(action):
            row.takes = table.pot[row.pot_card]
    row.run_takes = row.takes
    for pot in range(POTS):
        pot_rank = rules.pot_cards[pot] % NUM_RANKS + 1
        if rank < pot_rank < rank + row.run and hand >> rules.pot_cards[pot] & 1:
            row.run_takes += table.pot[pot]
