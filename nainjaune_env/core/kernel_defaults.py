"""The optional functions of a kernel where a game has none of its own; ``jit.instantiate`` binds ``game``."""

# ruff: noqa: F821  (`game` is bound when this is instantiated)
from __future__ import annotations

from typing import Any

from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Table

game: Kernel
"""The required functions of a game's kernel."""


@inlined
def needs_decision(table: Table, rules: Any, legal_bits: Any) -> Any:
    """Whether there is more than one legal action."""
    return legal_bits & (legal_bits - 1) != 0


@inlined
def play_forced(table: Table, rules: Any, legal_bits: Any) -> None:
    """Makes the one ply of ``legal_bits``."""
    game.step(table, rules, lowest(legal_bits))


@jit
def resample_many(tables: Any, rules: Any, seat: Any, memory: Any) -> None:
    """Resamples each of ``tables (N,)``."""
    for i in range(tables.size):
        game.resample(tables[i], rules, seat)


@jit
def set_start_values(table: Table, rules: Any, values: Any) -> None:
    """Does nothing: the game has no start values."""
