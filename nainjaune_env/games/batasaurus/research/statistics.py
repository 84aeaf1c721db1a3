"""What is measured of play: counts of what each seat did in a game, and the figures made of them.

The module as a whole is the game's ``nainjaune_env.analysis.stat_hook.Measures``.
"""

from __future__ import annotations

from typing import Any

from nainjaune_env.analysis.stat_hook import SHARE, Measure, tally_dtype
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.games.batasaurus.encode import BATTLE, TRICK
from nainjaune_env.games.batasaurus.kernel import MEMORISE, PLAYING
from nainjaune_env.games.batasaurus.state import SLOTS

__all__ = ["MEASURES", "TALLY", "begin", "counts", "end", "ply"]

TRICKS = tuple(str(number) for number in range(1, SLOTS + 1))
WON, SHARED, LEFT = range(3)
SOURCES = ("tricks won", "tricks shared", "left in front")
"""All that cards come by (B2.2–B2.4, B3.1)."""

TALLY = tally_dtype(
    ("tricks", 1),  # tricks played
    ("won", 1),  # tricks it won
    ("battle", 1),  # 1 = it has battled in the trick that is on
    ("battled", 1),  # tricks in which it battled
    ("battles_won", 1),  # and which it won
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
def begin(table: Any, rules: Any, tallies: Any) -> None:
    """Nothing has been done yet."""


@inlined
def counts(table: Any, rules: Any, moves: Any, action: Any) -> Any:
    """All but looks at one's own cards."""
    return action != MEMORISE


@inlined
def ply(before: Any, table: Any, rules: Any, moves: Any, action: Any, tallies: Any) -> None:
    """Leads, battles, and where a trick ends, who took it."""
    mine = tallies[before.seat]
    if before.phase == BATTLE:
        mine.battled += 1 - mine.battle
        mine.battle = 1
    elif before.phase == TRICK and before.at_stake == 0:
        mine.led[before.tricks - 1] = 1
        mine.led_value[before.tricks - 1] = before.layout[before.seat, action]
    if table.tricks > before.tricks:
        trick_over(before, table, rules, tallies)


@jit
def trick_over(before: Any, table: Any, rules: Any, tallies: Any) -> None:
    """The trick is one seat's (B2.2, B2.3), or shared or nobody's (B2.4)."""
    gaining = 0
    for seat in range(rules.players):
        gaining += gain(before, table, seat) > 0
    for seat in range(rules.players):
        mine = tallies[seat]
        mine.tricks += 1
        cards = gain(before, table, seat)
        if gaining == 1 and cards > 0:
            mine.won += 1
            mine.battles_won += mine.battle
            mine.cards[WON] += cards
        else:
            mine.cards[SHARED] += cards
        mine.battle = 0


@inlined
def gain(before: Any, table: Any, seat: Any) -> Any:
    """What the ply has brought ``seat``, without the cards left in front of it, which count at the end (B3.1)."""
    cards = table.pile[seat] - before.pile[seat]
    return cards if table.stage == PLAYING else cards - table.cards[seat]


@jit
def end(table: Any, rules: Any, tallies: Any) -> None:
    """Cards left in front of a seat are its own (B3.1)."""
    for seat in range(rules.players):
        tallies[seat].cards[LEFT] = table.cards[seat]
