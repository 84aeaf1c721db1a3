"""Statistics of play: what each seat did in a round, counted, and the measures made of the counts.

The module as a whole is the game's ``nainjaune_env.analysis.stat_hook.Measures``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.stat_hook import SHARE, Measure, tally_dtype
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.events import CARD, KIND, OTHER, PAID, PILE, SEAT
from nainjaune_env.core.table import Table
from nainjaune_env.games.nain_jaune.actions import PASS
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import NUM_RANKS, POTS, points_in

__all__ = ["MEASURES", "TALLY", "begin", "decision", "end", "event"]

RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
POT_NAMES = ("10♦", "J♣", "Q♠", "K♥", "7♦")

ANTES, CAPTURED, OPERA, RECEIVED, PAID_OUT, STRANDED, SILENCE = range(7)
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
    """Counts who was dealt which pot card."""
    for seat in range(rules.players):
        for pot in range(POTS):
            if table.hand[seat] >> rules.pot_cards[pot] & 1:
                for other in range(rules.players):
                    tallies[other].elsewhere[pot] = 1
                tallies[seat].elsewhere[pot] = 0
                tallies[seat].dealt[pot] = 1


@inlined
def decision(table: Table, rules: KernelRules, legal_bits: Any, action: Any, tallies: Any) -> None:
    """Counts cards that may be declined, and that are."""
    if legal_bits >> PASS & 1 and legal_bits & (legal_bits - 1):
        mine = tallies[table.seat]
        mine.may_decline += 1
        mine.declined += action == PASS


@inlined
def event(row: Any, table: Table, rules: KernelRules, tallies: Any) -> None:
    """Counts leads, pot cards, and all chips by their source."""
    kind, paid = row[KIND], row[PAID]
    if kind == Event.BLOCKED:  # of no seat
        return
    mine = tallies[row[SEAT]]
    if kind == Event.PLAY:
        if row[PILE]:
            mine.leads += 1
            mine.led[row[CARD] % NUM_RANKS] += 1
    elif kind == Event.CAPTURE:
        mine.captured[row[PILE]] = 1
        mine.chips[CAPTURED] += paid
    elif kind == Event.SILENT:
        mine.silent[row[PILE]] = 1
        mine.chips[SILENCE] -= paid
    elif kind == Event.ANTE:
        mine.chips[ANTES] -= paid
    elif kind == Event.OPERA:
        mine.chips[OPERA] += paid
    elif kind == Event.PAYS:
        mine.chips[PAID_OUT] -= paid
        tallies[row[OTHER]].chips[RECEIVED] += paid
    elif kind == Event.STRANDED:
        mine.chips[STRANDED] -= paid


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
