"""Plies made and counted; ``jit.instantiate`` binds a game's kernel and its statistics."""

# ruff: noqa: F821  (`game` and `measures` are bound when this is instantiated)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.events import OPENING
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Table

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
measures: Measures
"""Its statistics; bound by ``jit.instantiate``."""


@inlined
def begin_count(table: Table, rules: Any, events: Any, tallies: Any) -> None:
    """Counts the events of a deal in ``tallies (n,)``; ``events`` is an ``Events`` for scratch, here and below."""
    measures.begin(table, rules, tallies)
    count_events(table, rules, np.int64(OPENING), events, tallies)


@inlined
def count_ply(table: Table, rules: Any, legal_bits: Any, action: Any, events: Any, tallies: Any) -> None:
    """Makes one ply and counts it in ``tallies (n,)``."""
    measures.decision(table, rules, legal_bits, action, tallies)
    count_events(table, rules, action, events, tallies)


@jit
def count_events(table: Table, rules: Any, action: Any, events: Any, tallies: Any) -> None:
    """Makes one ply, or with ``OPENING`` none, and counts its events."""
    events.written[0] = 0
    game.tell(table, rules, action, events)
    for k in range(min(events.written[0], events.rows.shape[0])):
        measures.event(events.rows[k], table, rules, tallies)
