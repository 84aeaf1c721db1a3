"""Compiled functions over a single table; ``jit.instantiate`` binds a game, its loops and the unpacker of its rules.

``tables (1,)`` is the table and ``numbers`` are its rules and ``EpisodeOptions``, packed (``compiler.packed``). The other
arrays are those of ``engine.loops``.
"""

# ruff: noqa: F821  (`game`, `loops` and `unpack` are bound when this is instantiated)
from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from nainjaune_env.compiler.jit import instantiate, jit
from nainjaune_env.compiler.packed import lengths, unpacker
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import loops_of
from nainjaune_env.engine.options import EpisodeOptions

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""``engine.loops`` of the game; bound by ``jit.instantiate``."""
unpack: Callable[[Any], Any]
"""Returns the rules and the options of the packed numbers; bound by ``jit.instantiate``."""

NO_ACTION = -1
"""Stands for the absence of an action."""


def single_loops_of(setup: Setup, options: EpisodeOptions) -> ModuleType:
    """Returns this module compiled for the game of ``setup``, for tables with rules and options of the same classes."""
    rules = setup.kernel_rules
    bound = {"game": setup.game.kernel, "loops": loops_of(setup.game), "unpack": unpacker(rules, options)}
    return instantiate(__name__, f"{setup.game.name},{lengths(rules, options)}", **bound)


@jit
def step_single(
    tables: Any, numbers: Any, action: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> Any:  # fmt: skip
    """Takes ``action``, which is legal, and plays on to the next decision or the end; returns the seat to act."""
    rules, options = unpack(numbers)
    table = tables[0]
    game.step(table, rules, np.int64(action))
    legal_bits = loops.play_to_decision(table, rules, options, credited[0], deals, scratch)
    loops.collect(table, rules, reward[0], credited[0])
    done[0] = legal_bits == 0
    loops.refresh(tables, rules, options, 0, legal_bits, legal, observation, mask)
    return np.int64(table.seat)


@jit
def observe_seats(tables: Any, numbers: Any, first: Any, observation: Any) -> None:
    """Writes what the K seats from ``first`` on observe to ``observation (K, size)``."""
    rules, _ = unpack(numbers)
    for k in range(observation.shape[0]):
        game.encode(tables[0], rules, first + k, observation[k])


@jit
def play_plies(tables: Any, numbers: Any, action: Any, plies: Any, used: Any) -> Any:
    """Makes the ply ``action``, if it is not ``NO_ACTION``, and with ``skip_forced`` the plies after it that need no decision.

    Writes the seat and the action of each to ``plies (L, 2) uint8`` from the row ``used`` on. Returns the seat to act, its legal
    actions as bits, 0 at the end of the round, and the number of plies so far.
    """
    rules, options = unpack(numbers)
    table = tables[0]
    while True:
        if action != NO_ACTION:
            plies[used, 0], plies[used, 1] = table.seat, action
            used += 1
            game.step(table, rules, action)
        if table.stage != Stage.PLAYING:
            return np.int64(table.seat), np.int64(0), used
        legal_bits = game.legal(table, rules)
        if not options.skip_forced or game.needs_decision(table, rules, legal_bits):
            return np.int64(table.seat), legal_bits, used
        action = np.int64(lowest(legal_bits))


@jit
def observe_plies(tables: Any, numbers: Any, plies: Any, observation: Any) -> None:
    """Plays ``plies (P, 2)`` and writes what every seat observes before them and after each, ``observation (P + 1, n, size)``."""
    rules, _ = unpack(numbers)
    for number in range(plies.shape[0] + 1):
        if number > 0:
            game.step(tables[0], rules, np.int64(plies[number - 1, 1]))
        for seat in range(rules.players):
            game.encode(tables[0], rules, seat, observation[number, seat])
