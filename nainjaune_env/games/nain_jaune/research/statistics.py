"""Statistics of play: what each seat did in a round, counted, and the measures made of the counts.

The module as a whole is the game's ``nainjaune_env.analysis.stat_hook.Measures``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.stat_hook import SHARE, Measure, tally_dtype
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.actions import PASS, POT, is_pot_card, is_silent, pot_of, rank_of
from nainjaune_env.games.nain_jaune.kernel import affordable, payment_due
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import POTS, points_in

__all__ = ["MEASURES", "TALLY", "begin", "counts", "end", "ply"]

RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
POT_NAMES = ("10♦", "J♣", "Q♠", "K♥", "7♦")

ANTES, CAPTURED, OPERA, RECEIVED, PAID, STRANDED, SILENCE = range(7)
SOURCES = ("antes", "pots captured", "grand opéra", "paid by losers", "paid to winner", "stranded cards", "silent plays")
"""The sources of all chips won and lost (N2.1, N2.7, N3.1–N3.3)."""

TALLY = tally_dtype(
    ("out", 1),  # 1 = it went out first
    ("beaten", 1),  # 1 = another did
    ("cards_left", 1),  # cards in hand at the end
    ("points_left", 1),  # the same in points, whether they are paid or not (N3.2)
    ("opera", 1),  # 1 = it made a grand opéra
    ("dealt", POTS),  # per pot: 1 = its card was dealt to this seat,
    ("captured", POTS),  # which took the pot with it,
    ("stranded", POTS),  # or held it at the end,
    ("silent", POTS),  # or played it silently
    ("elsewhere", POTS),  # per pot: 1 = its card was dealt to another seat,
    ("conceded", POTS),  # which took the pot with it
    ("leads", 1),  # cards led
    ("led", len(RANKS)),  # the same by rank
    ("may_decline", 1),  # plies at which it might have played, or passed
    ("declined", 1),  # and passed
    ("chips", len(SOURCES)),  # chips won and lost, by source; they add up to the payoff
)

MEASURES: tuple[Measure, ...] = (
    Measure("out", "Went out first", "Rounds that it won by having no card left.", SHARE, "out"),
    Measure("opera", "Grand opéras", "Rounds in which it made a grand opéra.", SHARE, "opera"),
    Measure(
        "cards_left", "Cards left", "Cards in its hand when another had gone out.",
        "cards", "cards_left", per="beaten",
    ),
    Measure(
        "points_left", "Points left", "What they count: ace 1 to ten 10, court cards 10.",
        "points", "points_left", per="beaten",
    ),
    Measure(
        "declined", "Cards declined", "Passes, of the plies at which it held the required rank and was free to pass.",
        SHARE, "declined", per="may_decline",
    ),
    Measure("leads", "Leads", "Cards that it led.", "leads", "leads"),
    Measure("led", "Ranks led", "Leads of each rank, of all its leads.", SHARE, "led", per="leads", parts=RANKS),
    Measure("captures", "Pots captured", "Rounds in which it took the pot by its card.", SHARE, "captured", parts=POT_NAMES),
    Measure(
        "captures_dealt", "Pots captured, card dealt to it", "Pots that it took, of those whose card it was dealt.",
        SHARE, "captured", per="dealt", parts=POT_NAMES,
    ),
    Measure(
        "conceded", "Pots captured, card dealt to another", "Pots that another took, of those whose card another was dealt.",
        SHARE, "conceded", per="elsewhere", parts=POT_NAMES,
    ),
    Measure(
        "stranded", "Pot cards stranded", "Pot cards that it still held at the end, of those that it was dealt.",
        SHARE, "stranded", per="dealt", parts=POT_NAMES,
    ),
    Measure(
        "silent", "Pot cards played silently", "Pot cards that it played without announcing them, of those that it was dealt.",
        SHARE, "silent", per="dealt", parts=POT_NAMES,
    ),
    Measure(
        "chips", "Where its chips come from", "Chips won and lost, by source; they add up to the payoff.",
        "chips", "chips", parts=SOURCES, account=True,
    ),
)  # fmt: skip


@jit
def begin(table: Table, rules: KernelRules, tallies: Any) -> None:
    """Counts who was dealt which pot card, and the antes (N2.1)."""
    for seat in range(rules.players):
        tallies[seat].chips[ANTES] = table.stack[seat] - table.before[seat]
        for pot in range(POTS):
            if table.hand[seat] >> rules.pot_cards[pot] & 1:
                for other in range(rules.players):
                    tallies[other].elsewhere[pot] = 1
                tallies[seat].elsewhere[pot] = 0
                tallies[seat].dealt[pot] = 1


@inlined
def counts(table: Table, rules: KernelRules, legal_bits: Any, action: Any) -> Any:
    """Returns whether a ply counts: a decision to decline, or a card that is led, a pot card, the last one, or not forced."""
    if action == PASS:
        return legal_bits & (legal_bits - 1) != 0
    return table.required_rank == 0 or action >= POT or table.cards[table.seat] == 1 or legal_bits >> PASS & 1


@inlined
def ply(before: Table, table: Table, rules: KernelRules, legal_bits: Any, action: Any, tallies: Any) -> None:
    """Counts leads, declined cards, the chips of pot cards, and the payments when a seat goes out."""
    mine = tallies[before.seat]
    if legal_bits >> PASS & 1 and legal_bits & (legal_bits - 1):
        mine.may_decline += 1
        mine.declined += action == PASS
    if action == PASS:
        return
    if before.required_rank == 0:
        mine.leads += 1
        mine.led[rank_of(rules, action) - 1] += 1
    if is_pot_card(action):
        pot_card(before, table, action, tallies)
    if table.cards[before.seat] == 0:
        settled(before, table, rules, action, tallies)


@jit
def pot_card(before: Table, table: Table, action: Any, tallies: Any) -> None:
    """Counts a pot card and its chips (N2.7); a silent last card is left to :func:`settled`."""
    seat, pot = before.seat, pot_of(action)
    if not is_silent(action):
        tallies[seat].captured[pot] = 1
        tallies[seat].chips[CAPTURED] += before.pot[pot]
    else:
        tallies[seat].silent[pot] = 1
        if table.cards[seat] > 0:
            tallies[seat].chips[SILENCE] += table.stack[seat] - before.stack[seat]


@jit
def settled(before: Table, table: Table, rules: KernelRules, action: Any, tallies: Any) -> None:
    """Counts what the losers paid the winner (N3.2) and the pots (N3.3); the rest of the winner's gain came from the last card.

    In a grand opéra (N3.1) that is every pot, with what was paid into one for a silent last card.
    """
    winner = before.seat
    received = np.int64(0)
    for seat in range(rules.players):
        if seat != winner:
            paid = affordable(before, rules, seat, payment_due(table, rules, seat))
            received += paid
            tallies[seat].chips[PAID] -= paid
            tallies[seat].chips[STRANDED] += table.stack[seat] - before.stack[seat] + paid
    tallies[winner].chips[RECEIVED] += received
    rest = table.stack[winner] - before.stack[winner] - received
    if is_pot_card(action) and not is_silent(action):  # already counted
        rest -= before.pot[pot_of(action)]
    if table.opera:
        tallies[winner].chips[OPERA] += rest
    else:
        tallies[winner].chips[SILENCE] += rest


@jit
def end(table: Table, rules: KernelRules, tallies: Any) -> None:
    """Counts the cards left in hand at the end."""
    tallies[table.winner].opera = table.opera
    for seat in range(rules.players):
        mine = tallies[seat]
        mine.out = seat == table.winner
        mine.beaten = seat != table.winner
        mine.cards_left = table.cards[seat]
        mine.points_left = points_in(np.int64(table.hand[seat]))
        for pot in range(POTS):
            mine.stranded[pot] = table.hand[seat] >> rules.pot_cards[pot] & 1
            mine.conceded[pot] = table.captor[pot] >= 0 and table.captor[pot] != seat
