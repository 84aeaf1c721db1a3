"""Batasaurus' fast kernel beside its slow twin: the same moves, and after every ply the same state.

Many games are played side by side in one batch, as the twin alone is slow enough. Both states are flattened into one
row of integers a game (`field_names`), the kernel's from its records, and after every ply the rows must be equal.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.events import EventRow
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.telling import events_of
from nainjaune_env.games.batasaurus.events import Event

from .batasaurus import MEMORISE, Knobs, Trick, TwinGame
from .mismatch import Mismatch, first_difference

WIDEST = "batasaurus"
"""The preset that allows every number of seats: random knobs are set over it."""
GAMES = 50
"""Games side by side."""
PHASES = ("memorise", "trick", "battle")

Policy = Callable[[TwinGame, list[int], random.Random], int]
"""Chooses among the values in front of the seat to act."""
Chooser = Callable[[TwinGame, list[int]], int | None]
"""Chooses among the legal moves; None: leave the game as it is."""


# ---------------------------------------------------------------- ways to choose a value


def uniform(g: TwinGame, values: list[int], rng: random.Random) -> int:
    return values[int(rng.random() * len(values))]


def highest(g: TwinGame, values: list[int], rng: random.Random) -> int:
    """Where all seats do so, one battle that takes the whole game."""
    return max(values)


def lowest(g: TwinGame, values: list[int], rng: random.Random) -> int:
    return min(values)


def tying(g: TwinGame, values: list[int], rng: random.Random) -> int:
    """Ties with the highest on the table, hidden or not, four times in five where it can: battles on battles."""
    laid = g.trick.rounds[-1].values()
    return max(laid) if laid and max(laid) in values and rng.random() < 0.8 else uniform(g, values, rng)


def dodging(g: TwinGame, values: list[int], rng: random.Random) -> int:
    """Lays what nobody has laid before it: few battles, long games."""
    return uniform(g, [value for value in values if value not in g.trick.rounds[-1].values()] or values, rng)


POLICIES: tuple[Policy, ...] = (uniform, highest, lowest, tying, tying, dodging)


def chooser(rng: random.Random, players: int) -> Chooser:
    """One way to play for all seats, or one for each."""
    if rng.random() < 0.5:
        policies = [rng.choice(POLICIES)] * players
    else:
        policies = [rng.choice(POLICIES) for _ in range(players)]

    def choose(g: TwinGame, moves: list[int]) -> int:
        if moves == [MEMORISE]:
            return MEMORISE
        seat = g.seat()
        slots = g.slots[seat]
        return slots.index(policies[seat](g, [value for value in slots if value is not None], rng))

    return choose


def random_knobs(rng: random.Random) -> dict[str, object]:
    """A value for every knob."""
    return {
        "memory": rng.choice(("glimpse", "perfect")),
        "exhausted": rng.choice(("split", "void")),
        "dinosaurs": 12 if rng.random() < 0.5 else rng.randint(2, 11),
    }


# ---------------------------------------------------------------- both states as rows


ONE = ("legal", "over", "tricks done", "first leader", "seat", "phase", "leader", "battling", "at stake")
AT_TURN = slice(4, 9)
"""Columns of `ONE` that say nothing once the game is over."""
EACH = ("pile", "payoff", "cards", "slots", "unshown", "shown", "hidden")
EACH_AT_TURN = EACH.index("slots")
"""From this one on they say nothing either: the cards left over are in the piles."""


def field_names(players: int) -> list[str]:
    """What the columns of a row are."""
    return [*ONE, *(f"{name} of seat {seat}" for name in EACH for seat in range(players))]


def bits(numbers: Sequence[int]) -> int:
    return sum([1 << number for number in numbers])


def twin_row(g: TwinGame, moves: list[int], first: int) -> list[int]:
    """The twin's state; `moves` is its `legal()`."""
    seats = range(g.players)
    if g.over:
        nothing = [0] * (g.players * (len(EACH) - EACH_AT_TURN))
        return [0, 1, len(g.done_tricks), first, 0, 0, 0, 0, 0, *g.piles, *g.piles, *g.left_over, *nothing]
    shown = [g.shown(seat) for seat in seats]
    return [
        bits(moves),
        0,
        len(g.done_tricks),
        first,
        g.seat(),
        PHASES.index(g.phase()),
        g.leader,
        bits(g.battling),
        g.at_stake(),
        *g.piles,
        *g.piles,
        *[g.cards_left(seat) for seat in seats],
        *[bits([slot for slot, value in enumerate(g.slots[seat]) if value is not None]) for seat in seats],
        *[bits([value - 1 for value in g.unshown(seat)]) for seat in seats],
        *[values[-1] if values else 0 for values in shown],
        *[g.trick.rounds[-1][seat] if g.committed(seat) else 0 for seat in seats],
    ]


def kernel_rows(tables: Any, words: Any, paid: Any, players: int) -> Any:
    """The same columns from the kernel's tables, the legal words and the rewards so far."""
    over = tables["stage"] != Stage.PLAYING
    # the kernel counts the trick that is on, and at the end the one that nobody leads any more
    one = [tables["tricks"] - 1, *(tables[name] for name in ("first", "seat", "phase", "leader", "battling", "at_stake"))]
    each = [tables[name][:, :players] for name in ("pile", "cards", "slots", "held", "shown", "hidden")]
    rows = np.column_stack([words, over, *one, each[0], paid, *each[1:]]).astype(np.int64)
    rows[over, AT_TURN] = 0
    rows[over, len(ONE) + players * EACH_AT_TURN :] = 0
    return rows


def event_row(event: dict[str, Any]) -> tuple[int, ...]:
    """The columns of an event of the twin, as the kernel writes them."""
    row = {"other": -1, "card": 0, "pile": 0, "paid": 0, "due": 0, "cards": 0, **event}
    if "seats" in row:
        row["cards"] = bits(row["seats"])
    if "shown" in row:
        row["cards"] = sum(value << 4 * seat for seat, value in row["shown"].items())
    return (int(Event[row["kind"]]), *(row[name] for name in EventRow._fields[1:]))


class Comparer:
    """Plays games of one setup on both sides."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.knobs = Knobs(**setup.rules.to_dict())
        self.batch = Batch(setup, GAMES, skip_forced=False, observe=False, autoreset=False)
        self.names = field_names(setup.players)
        self.seen: Counter[str] = Counter()
        """How often each event came up, so that a test can ask for it."""

    def job(self, rng: random.Random, label: object = None) -> None:
        """`GAMES` games dealt by the kernel."""
        n = self.setup.players
        self.batch.reset(seeds=np.array([rng.getrandbits(64) for _ in range(GAMES)], np.uint64))
        self.play([chooser(rng, n) for _ in range(GAMES)], label)

    def play(self, choosers: Sequence[Chooser], label: object = None) -> list[TwinGame]:
        """Plays the batch's games to their ends (or until all choosers give None), compared after every ply."""
        batch, n = self.batch, self.setup.players
        start = batch.tables.copy()
        games = [self._twin(table, label) for table in start]
        firsts = start["first"].tolist()
        played: list[list[int]] = [[] for _ in games]
        paid = batch.reward.copy()
        while True:
            legal = [g.legal() for g in games]
            expected = np.array([twin_row(*one) for one in zip(games, legal, firsts, strict=True)])
            row, what = first_difference(self.names, expected, kernel_rows(batch.tables, batch.legal, paid, n))
            if row < 0 and not np.array_equal(batch.tables["layout"], start["layout"]):
                row = int(np.flatnonzero((batch.tables["layout"] != start["layout"]).any(axis=(1, 2)))[0])
                what = "the kernel's layout has changed"
            if row >= 0:
                raise Mismatch(self._story(f"after {len(played[row])} plies {what}", start[row], played[row], label))
            chosen = [choose(g, moves) if moves else None for choose, g, moves in zip(choosers, games, legal, strict=True)]
            if all(move is None for move in chosen):
                break
            for g, move, moves in zip(games, chosen, played, strict=True):
                if move is not None:
                    g.play(move)
                    moves.append(move)
            self.step(chosen)
            paid += batch.reward
        for g, moves, table in zip(games, played, start, strict=True):
            self._check_events(g, table, moves, label)
            if g.over:
                self._note(g, len(moves))
        return games

    def _check_events(self, g: TwinGame, start: Any, moves: Sequence[int], label: object) -> None:
        """The events that the kernel tells are the twin's."""
        expected = [event_row(event) for event in g.events]
        got = [tuple(row) for ply in events_of(self.setup, start, moves) for row in ply]
        if got != expected:
            at = next(k for k, pair in enumerate(itertools.zip_longest(expected, got)) if pair[0] != pair[1])
            what = f"event {at}: twin {expected[at : at + 1]}, kernel {got[at : at + 1]}"
            raise Mismatch(self._story(what, start, moves, label))

    def step(self, chosen: Sequence[int | None]) -> None:
        """One ply on the kernel's side; finished tables take any action."""
        self.batch.step(np.array([0 if move is None else move for move in chosen]))

    def _twin(self, table: Any, label: object) -> TwinGame:
        """The twin's game from what the kernel dealt, checked to be a fair start."""
        size = self.knobs.dinosaurs
        layouts = table.layout[: self.setup.players, :size].tolist()
        try:
            g = TwinGame(self.knobs, layouts, int(table.first))
        except ValueError as error:
            raise Mismatch(self._story(str(error), table, [], label)) from None
        if g.slots != layouts:
            raise Mismatch(self._story(f"layouts: twin {g.slots}, kernel {layouts}", table, [], label))
        return g

    def _story(self, what: str, start: Any, moves: Sequence[int], label: object) -> str:
        n = self.setup.players
        return "\n".join(
            [
                f"Kernel and twin differ: {what}",
                f"preset={self.setup.preset!r} players={n} from {label}",
                f"knobs={self.setup.rules.to_dict()}",
                f"leader={int(start.first)} layouts={start.layout[:n, : self.knobs.dinosaurs].tolist()}",
                f"moves={list(moves)}",
            ]
        )

    def _note(self, g: TwinGame, plies: int) -> None:
        seen = self.seen
        seen["rounds"] += 1
        seen["plies"] += plies
        seen[f"memory {g.knobs.memory}"] += 1
        seen["fewer dinosaurs"] += g.knobs.dinosaurs < 12
        seen["cards left over"] += any(g.left_over)
        seen["shared win"] += len(g.winners()) > 1
        seen[f"seat {g.done_tricks[0].leader} leads first"] += 1
        for trick in g.done_tricks:
            self._note_trick(g.knobs, trick)

    def _note_trick(self, knobs: Knobs, trick: Trick) -> None:
        seen = self.seen
        opened = list(trick.rounds[0].values())
        seen["tie below the highest"] += any(opened.count(value) > 1 for value in opened if value < max(opened))
        seen["battle"] += len(trick.rounds) > 1
        seen["battle on a battle"] += len(trick.rounds) > 2
        seen["three battles and more in a trick"] += len(trick.rounds) > 3
        seen["a seat dropped out"] += bool(trick.dropped)
        if trick.dropped and trick.winner is not None:
            alone = sum(value == max(trick.rounds[-1].values()) for value in trick.rounds[-1].values()) > 1
            seen["won as the one seat left" if alone else "a battle went on without a seat"] += 1
        if trick.exhausted:
            seen[f"exhausted, {knobs.exhausted}"] += 1
            seen[f"exhausted, {len(trick.exhausted)} seats"] += 1
            seen["exhausted, with a remainder"] += trick.cards() % len(trick.exhausted) > 0
            seen["exhausted after a seat dropped out"] += bool(trick.dropped)
            seen["exhausted, and not the leader's battle"] += trick.leader not in trick.exhausted
