"""Many tables of a game behind a C interface: functions of a library, beside those of ``engine.interface`` for one table.

Every function takes ``batch``, the address of a block of memory with 8 bytes for each of :data:`FIELDS`: the number of tables,
and pointers to the caller's arrays, which are those of ``engine.loops`` in rows of the rules' seats. Rules and options are
packed numbers, as ``interface.pack`` writes them to a session. Actions and start values are checked, lengths of arrays are not.
"""

# ruff: noqa: F821  (the names bound at instantiation)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.intrinsics import pointer_at, view_at
from nainjaune_env.compiler.jit import inlined
from nainjaune_env.core.bits import is_legal
from nainjaune_env.engine.interface import DONE, REFUSED
from nainjaune_env.engine.start_values import MAX_START_VALUE
from nainjaune_env.engine.table_arrays import TableArrays

loops: Any
"""``engine.loops`` of the game; bound by ``jit.instantiate``."""
unpack: Any
"""Returns the rules and the options of the packed numbers."""
table_dtype: Any
"""The dtype of a table."""
size: Any
"""The lengths of fields (``wasm.Sizes``)."""
observation_sizes: Any
"""By number of seats: the bytes of an observation."""

FIELDS = {
    "count": ("int64", "the number of tables, B"),
    "numbers": ("int64 *", "packed rules and options, of a session"),
    "tables": ("table *", "(B,)"),
    "start_values": ("int32 *", "(B, START_VALUES), or null: matches begin as the rules say"),
    "legal": ("int64 *", "(B,): the legal actions of the seat to act, as bits; 0 at the end of an episode"),
    "observation": ("uint8 *", "(B, observation size for these seats), of the seat to act"),
    "mask": ("uint8 *", "(B, ACTIONS): 1 = legal"),
    "reward": ("int32 *", "(B, seats): what each seat has gained since the last call"),
    "credited": ("int32 *", "(B, seats): what was already returned as reward; only the library reads it"),
    "deals": ("int64 *", "(B,): rounds begun"),
    "done": ("uint8 *", "(B,): 1 = an episode has ended"),
    "scratch": ("int32 *", "(seats,)"),
}
"""The fields of a batch by name: their C types and what they are. Those with a star are pointers to arrays of the caller."""
COUNT, NUMBERS, TABLES, START_VALUES, LEGAL, OBSERVATION, MASK, REWARD, CREDITED, DEALS, DONE_FIELD, SCRATCH = range(
    0, 8 * len(FIELDS), 8
)


@inlined
def rules_and_options(batch: Any) -> Any:
    """Returns what the batch's numbers mean."""
    return unpack(view_at(pointer_at(batch, NUMBERS), 0, (size.numbers,), np.int64))


@inlined
def count_of(batch: Any) -> Any:
    """Returns the number of tables."""
    return view_at(batch, COUNT, (1,), np.int64)[0]


@inlined
def has_rules(rules: Any) -> Any:
    """Returns whether ``rules`` can have been packed."""
    return size.fewest <= rules.players <= size.seats


@inlined
def tables_and_legal(batch: Any) -> Any:
    """Returns the tables, ``(B,)``, and the legal actions, ``(B,) int64``."""
    return (
        view_at(pointer_at(batch, TABLES), 0, (count_of(batch),), table_dtype),
        view_at(pointer_at(batch, LEGAL), 0, (count_of(batch),), np.int64),
    )


@inlined
def _arrays(batch: Any, rules: Any) -> Any:
    """Returns the ``TableArrays``; without start values these are ``(B, 0)``."""
    tables, seats = count_of(batch), np.int64(rules.players)
    given = view_at(batch, START_VALUES, (1,), np.int64)[0]
    return TableArrays(
        view_at(pointer_at(batch, TABLES), 0, (tables,), table_dtype),
        view_at(pointer_at(batch, START_VALUES), 0, (tables, size.start_values if given else 0), np.int32),
        view_at(pointer_at(batch, LEGAL), 0, (tables,), np.int64),
        view_at(pointer_at(batch, OBSERVATION), 0, (tables, observation_sizes[seats]), np.uint8),
        view_at(pointer_at(batch, MASK), 0, (tables, size.actions), np.bool_),
        view_at(pointer_at(batch, REWARD), 0, (tables, seats), np.int32),
        view_at(pointer_at(batch, CREDITED), 0, (tables, seats), np.int32),
        view_at(pointer_at(batch, DEALS), 0, (tables,), np.int64),
        view_at(pointer_at(batch, DONE_FIELD), 0, (tables,), np.bool_),
        view_at(pointer_at(batch, SCRATCH), 0, (seats,), np.int32),
    )


def reset_tables(batch: Any, states: Any) -> Any:
    """Begins a match or, by the options, a round at every table; their generators have ``states``, ``(B,)``.

    Returns DONE, or REFUSED where the numbers are no packed rules or a start value is out of range.
    """
    rules, options = rules_and_options(batch)
    if count_of(batch) < 0 or not has_rules(rules):
        return REFUSED
    arrays = _arrays(batch, rules)
    for values in arrays.start_values:
        for value in values:
            if value < 0 or value > MAX_START_VALUE:
                return REFUSED
    begun = view_at(states, 0, (arrays.tables.size,), np.uint64)
    for i in range(arrays.tables.size):
        arrays.deals[i] = 0
        loops.reset(arrays, rules, options, None, i, begun[i], True)
    return DONE


def step_tables(batch: Any, actions: Any) -> Any:
    """Takes ``actions``, ``(B,)``, and plays on to the next decisions; an action at a table that is done is ignored.

    Returns DONE, or -1 - i where the action at table i is not legal; then nothing has changed.
    """
    rules, options = rules_and_options(batch)
    if count_of(batch) < 0 or not has_rules(rules):
        return REFUSED
    arrays = _arrays(batch, rules)
    tables = arrays.tables
    taken = view_at(actions, 0, (tables.size,), np.int32)
    for i in range(tables.size):
        if not is_legal(arrays.legal[i], taken[i]) and (options.autoreset or not arrays.done[i]):
            return np.int32(-1 - i)
    for i in range(tables.size):
        loops.prefetch(tables, min(i + loops.PREFETCH_DISTANCE, tables.size - 1))
        loops.step_table(arrays, rules, options, None, i, np.int64(taken[i]))
    return DONE


def observe_tables(batch: Any) -> Any:
    """Writes observations and masks of the seats to act, for options that do not have them written by every step."""
    rules, _ = rules_and_options(batch)
    if count_of(batch) < 0 or not has_rules(rules):
        return REFUSED
    arrays = _arrays(batch, rules)
    for i in range(arrays.tables.size):
        loops.observe(arrays, rules, i, np.int64(arrays.tables[i].seat), arrays.legal[i])
    return DONE


FUNCTIONS = {
    "reset_tables": ("int32(voidptr, voidptr)", reset_tables),
    "step_tables": ("int32(voidptr, voidptr)", step_tables),
    "observe_tables": ("int32(voidptr)", observe_tables),
}
"""The exported functions by name, with numba's signatures."""
