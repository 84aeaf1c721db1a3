"""Players at many tables behind a C interface, beside ``nainjaune_env.engine.tables_interface``."""

# ruff: noqa: F821  (the names bound at instantiation)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.intrinsics import view_at
from nainjaune_env.engine.interface import DONE, REFUSED
from nainjaune_env.engine.learner_loops import UNIFORM, uniform_action

base: Any
"""``engine.tables_interface`` of the game; bound by ``jit.instantiate``."""
heuristic_decide: Any
"""``decide`` of the game's heuristics."""
heuristics: Any
"""The number of heuristics, :data:`UNIFORM` aside."""
memory: Any
"""Bytes of a heuristic's recurrent state."""
size: Any
"""The lengths of fields (``wasm.Sizes``)."""


def decide_tables(batch: Any, agent: Any, states: Any, hidden_state: Any, actions: Any) -> Any:
    """Writes the action of the heuristic ``agent`` at every table to ``actions``, ``(B,)``; -1 where no action is legal.

    Random ones are drawn from the generators ``states``, ``(B,)``, which advance. ``hidden_state`` has for each table and seat as
    many bytes as a session's, zeros at the beginning of each round; heuristics without memory do not read it.
    """
    rules, _ = base.rules_and_options(batch)
    if agent < UNIFORM or agent >= heuristics or base.count_of(batch) < 0 or not base.has_rules(rules):
        return REFUSED
    tables, legal = base.tables_and_legal(batch)
    streams = view_at(states, 0, (tables.size,), np.uint64)
    states_of_seats = view_at(hidden_state, 0, (tables.size, np.int64(rules.players), memory), np.uint8)
    chosen = view_at(actions, 0, (tables.size,), np.int32)
    for i in range(tables.size):
        if legal[i] == 0:
            chosen[i] = -1
        elif agent == UNIFORM:
            chosen[i] = uniform_action(legal[i], streams, i)
        else:
            table = tables[i]
            chosen[i] = heuristic_decide(np.int64(agent), table, rules, legal[i], states_of_seats[i, table.seat])
    return DONE


FUNCTIONS = {"decide_tables": ("int32(voidptr, int32, voidptr, voidptr, voidptr)", decide_tables)}
"""The exported functions by name, with numba's signatures."""
