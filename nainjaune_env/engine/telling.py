"""What happened in a round, event by event: rows that the kernel writes while the plies are made again.

Texts, pictures, records, studies and the browser read these rows; none of them computes a payment again.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import GameError
from nainjaune_env.core.events import DRAWN, OMNISCIENT, OPENING, EventRow, Events
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.engine.compiled import instance_of, numbers_of


def telling_loops_of(setup: Setup) -> ModuleType:
    """Returns ``engine.telling_loops`` compiled for a game, for all rules with tuples of the same lengths."""
    return instance_of(setup, "nainjaune_env.engine.telling_loops")


def event_arrays(game: GameSpec, space: int | None = None) -> Events:
    """Returns arrays with ``space`` for the events of a ply; None: ``GameSpec.max_events``."""
    return Events(
        rows=np.zeros((space or game.max_events, len(EventRow._fields)), np.int64),
        written=np.zeros(1, np.int64),
        memory=np.zeros(game.event_memory, np.int64),
        shown=np.full(1, DRAWN, np.int64),
        rng=np.zeros(1, np.uint64),
    )


class Teller:
    """Makes the plies of one table and tells what happens, as ``viewer`` may know it: a seat, ``PUBLIC`` or ``OMNISCIENT``."""

    def __init__(self, setup: Setup, tables: NDArray[Any], viewer: int = OMNISCIENT) -> None:
        """``tables (1,)`` is played in place. Raises the :class:`GameError` of :func:`check_space`."""
        check_space(setup, tables[0])
        self.arrays = event_arrays(setup.game)
        """What the game remembers of the round beside the table."""
        self._game, self._tables, self._viewer = setup.game, tables, viewer
        self._packed = numbers_of(setup)
        self._tell = telling_loops_of(setup).tell_at

    def open(self) -> list[EventRow]:
        """Begins a round that has just been dealt; returns its first events."""
        return self.ply(OPENING)

    def ply(self, action: int, shown: int = DRAWN) -> list[EventRow]:
        """Makes a legal ply; returns its events. ``shown`` is the card played, where several are one action."""
        self.arrays.shown[0] = shown
        count = int(self._tell(self._tables, self._packed, action, self.arrays, self._viewer))
        check_count(self._game, count)
        return [EventRow(*row) for row in self.arrays.rows[:count].tolist()]


def check_count(game: GameSpec, count: int) -> None:
    """Raises :class:`GameError` if the ``count`` of the events of a ply is above ``GameSpec.max_events``."""
    if count > game.max_events:
        raise GameError(
            f"{game.name}: the kernel's tell writes {count} events of a ply; GameSpec.max_events is {game.max_events}."
        )


def check_space(setup: Setup, opening: Table) -> None:
    """Raises :class:`GameError` if a round at random has a ply with more than ``GameSpec.max_events`` events.

    So a game that says too small a number is refused when it is first told of, and not in the middle of somebody's round. The
    round begins with ``opening``, which stays as it is. It is played once for each game and its rules.
    """
    key = setup.game.package, setup.game.max_events, setup.kernel_rules
    if key in _CHECKED:
        return
    game, packed = setup.game, numbers_of(setup)
    tell_at = telling_loops_of(setup).tell_at
    tables, rng = np.zeros(1, game.table), np.random.default_rng(0)
    events = event_arrays(game, game.max_events + 256)
    tables[0] = opening
    check_count(game, int(tell_at(tables, packed, OPENING, events, OMNISCIENT)))
    while tables["stage"][0] == Stage.PLAYING:
        actions = legal_actions(int(game.kernel.legal(tables[0], setup.kernel_rules)))
        if not actions:  # a seat whose cards are redacted: the next round is tried
            return
        check_count(game, int(tell_at(tables, packed, int(rng.choice(actions)), events, OMNISCIENT)))
    _CHECKED.add(key)


_CHECKED: set[tuple[object, ...]] = set()


def events_of(
    setup: Setup, opening: Table, actions: Sequence[int], *, viewer: int = OMNISCIENT, shown: Sequence[int] | None = None
) -> list[list[EventRow]]:
    """Returns the events of a round: of its opening, then of each of ``actions (P,)``, forced plies too.

    ``opening`` is the table after the deal, ``shown (P,)`` the cards that a record names. Nothing in the rows is what ``viewer``
    may not know.
    """
    tables = np.zeros(1, setup.game.table)
    tables[0] = opening
    teller = Teller(setup, tables, viewer)
    cards = [DRAWN] * len(actions) if shown is None else shown
    return [teller.open(), *(teller.ply(int(action), card) for action, card in zip(actions, cards, strict=True))]
