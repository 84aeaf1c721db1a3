"""Statistics of play: counts of what each seat did in a game, and the measures computed from them.

The game's ``nainjaune_env.analysis.stat_hook.Measures``.
"""

from __future__ import annotations

from typing import Any

from nainjaune_env.analysis.stat_hook import SHARE, Measure, tally_dtype
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.events import CARDS, KIND, PAID, SEAT
from nainjaune_env.core.table import Table
from nainjaune_env.games.batasaurus.events import Event
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.state import SLOTS, Phase

TRICKS = tuple(str(number) for number in range(1, SLOTS + 1))
WON, SHARED, LEFT = range(3)
SOURCES = ("tricks won", "tricks shared", "left in front")
"""Where cards come from (B2.2–B2.4, B3.1)."""

TALLY = tally_dtype(
    ("tricks", 1),  # tricks played
    ("won", 1),  # tricks it won
    ("battle", 1),  # 1 = it has battled in the current trick
    ("battled", 1),  # tricks in which it battled
    ("battles_won", 1),  # tricks in which it battled and that it won
    ("led", SLOTS),  # per trick: 1 = it led it
    ("led_value", SLOTS),  # per trick: the value it led
    ("cards", len(SOURCES)),  # cards won, by source; they add up to the payoff
)

MEASURES: tuple[Measure, ...] = (
    Measure("tricks", "Tricks won", "Tricks that it won, of all.", SHARE, "won", per="tricks"),
    Measure("battled", "Battles", "Tricks in which it battled, of all.", SHARE, "battled", per="tricks"),
    Measure(
        "battles_won", "Battles won", "Tricks that it won, of those in which it battled.", SHARE, "battles_won", per="battled"
    ),
    Measure("led", "Value led, by trick", "The card that it led, by the trick's number.", "value", "led_value", "led", TRICKS),
    Measure(
        "leads", "Who leads, by trick", "Games in which it led the trick of that number.", SHARE, "led", parts=TRICKS
    ),
    Measure(
        "cards", "Where its cards come from", "Cards won, by source; they add up to the payoff.",
        "cards", "cards", parts=SOURCES, account=True,
    ),
)  # fmt: skip


@jit
def begin(table: Table, rules: KernelRules, tallies: Any) -> None:
    """Does nothing: the deal counts nothing."""


@inlined
def decision(table: Table, rules: KernelRules, legal_bits: Any, action: Any, tallies: Any) -> None:
    """Counts leads and battles."""
    mine = tallies[table.seat]
    if table.phase == Phase.BATTLE:
        mine.battled += 1 - mine.battle
        mine.battle = 1
    elif table.phase == Phase.TRICK and table.at_stake == 0:
        mine.led[table.tricks - 1] = 1
        mine.led_value[table.tricks - 1] = table.layout[table.seat, action]


@inlined
def event(row: Any, table: Table, rules: KernelRules, tallies: Any) -> None:
    """Counts tricks as won by one seat (B2.2, B2.3), shared, or nobody's (B2.4), and the cards left in front (B3.1)."""
    kind = row[KIND]
    if kind == Event.LEFT:
        tallies[row[SEAT]].cards[LEFT] = row[PAID]
    elif kind == Event.TAKE or kind == Event.SHARE or kind == Event.NOBODY:
        for seat in range(rules.players):
            mine = tallies[seat]
            mine.tricks += 1
            if kind == Event.TAKE and row[SEAT] == seat:
                mine.won += 1
                mine.battles_won += mine.battle
                mine.cards[WON] += row[PAID]
            elif row[CARDS] >> seat & 1:
                mine.cards[SHARED] += row[PAID]
            mine.battle = 0


@jit
def end(table: Table, rules: KernelRules, tallies: Any) -> None:
    """Does nothing: events have counted the cards left."""
