"""``nainjaune_env.engine.loops`` as CUDA kernels, one thread a table; ``jit.instantiate`` binds the names below.

Each thread passes its table to the function that the CPU's loop calls for each table, without a log. Rules and options are bound
too and not passed: as constants they remove from a kernel what these rules do not need. A step of the larger game then takes 56
registers and not 168, so that three times as many threads run at once, and a launch passes no integers. The price is a
compilation for each setup, kept on disk.

Arguments are named as in the loops. Thread k works on table ``which[k]`` of ``which (K,) int64``. ``fault (4,) int64`` says
which action was illegal, see ``find_illegal``.
"""

from __future__ import annotations

from typing import Any

import numba.cuda
import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.kernel import Kernel
from nainjaune_env.engine.cuda.compiler import kernel
from nainjaune_env.engine.cuda.words import copy_table
from nainjaune_env.engine.table_arrays import with_scratch

cuda: Any = numba.cuda

game: Kernel
"""The kernel of a game."""
loops: Any
"""The loops of that game."""
rules: Any
"""``Setup.kernel_rules``."""
options: Any
"""``options.EpisodeOptions``."""
SCRATCH: int
"""Length of the loops' scratch memory, which is local to a thread here."""

NONE = np.int64(2**62)
"""``fault[PLACE]`` while every action was legal: larger than any place."""
PLACE, NOTED, TABLE, ACTION = 0, 1, 2, 3
"""Indices into ``fault``: the first place in ``which`` with an illegal action, 1 if the next two are written, and these."""


def no_fault() -> NDArray[np.int64]:
    """Returns ``fault`` for no illegal action, on the host."""
    return np.array([NONE, 0, 0, 0], np.int64)


@kernel
def reset(a: Any, which: Any, rng_states: Any, new_match: Any) -> None:
    """Begins episodes from ``rng_states (K,) uint64``: of new matches if ``new_match``."""
    k = cuda.grid(1)
    if k < which.size:
        arrays = with_scratch(a, cuda.local.array(SCRATCH, np.int32))
        loops.reset(arrays, rules, options, None, which[k], rng_states[k], new_match)


@kernel
def enter(a: Any, which: Any, rows: Any) -> None:
    """Copies ``rows (K,)`` to the tables and begins episodes there."""
    k = cuda.grid(1)
    if k < which.size:
        arrays = with_scratch(a, cuda.local.array(SCRATCH, np.int32))
        copy_table(rows, k, a.tables, which[k])
        loops.enter_episode(arrays, rules, options, None, which[k])


@kernel
def find_illegal(legal: Any, done: Any, which: Any, actions: Any, fault: Any) -> None:
    """Sets ``fault[PLACE]`` to the first place with a table that does not exist or an illegal action, if any."""
    k = cuda.grid(1)
    if k < which.size:
        there = 0 <= which[k] < legal.size
        if not there or loops.first_illegal(legal, done, options.autoreset, which[k : k + 1], actions[k : k + 1]) != loops.OK:
            cuda.atomic.min(fault, PLACE, k)


@kernel
def step(a: Any, which: Any, actions: Any, fault: Any) -> None:
    """Takes one action at each of the tables; after an illegal one it only records the fault, until ``fault`` is cleared."""
    k = cuda.grid(1)
    if k < which.size:
        if fault[PLACE] == NONE:
            arrays = with_scratch(a, cuda.local.array(SCRATCH, np.int32))
            loops.step_table(arrays, rules, options, None, which[k], actions[k])
        elif fault[PLACE] == k and fault[NOTED] == 0:
            fault[TABLE] = which[k]
            fault[ACTION] = actions[k]
            fault[NOTED] = 1


@kernel
def choose_uniform(legal: Any, streams: Any, actions: Any) -> None:
    """Draws a uniformly random legal action for each table."""
    k = cuda.grid(1)
    if k < legal.size:
        loops.choose_uniform(legal[k : k + 1], streams[k : k + 1], actions[k : k + 1])


@kernel
def play_out(a: Any, which: Any, streams: Any, steps: Any, fault: Any) -> None:
    """Plays uniformly at random to the end of every episode; does nothing after an illegal action, as :func:`step`."""
    k = cuda.grid(1)
    if k < which.size:
        steps[which[k]] = 0
        if fault[PLACE] == NONE:
            arrays = with_scratch(a, cuda.local.array(SCRATCH, np.int32))
            loops.play_out(arrays, rules, options, None, which[k], streams, steps)


@kernel
def read_seats(tables: Any, seats: Any) -> None:
    """Writes the seat to act at every table to ``seats (B,) int64``."""
    k = cuda.grid(1)
    if k < tables.size:
        seats[k] = tables[k].seat


@kernel
def read_generators(tables: Any, which: Any, rng_states: Any) -> None:
    """Writes the states of the tables' generators to ``rng_states (K,) uint64``."""
    k = cuda.grid(1)
    if k < which.size:
        rng_states[k] = tables[which[k]].rng


@kernel
def observe(tables: Any, which: Any, seats: Any, observation: Any) -> None:
    """Writes what ``seats (K,) int64`` observe at the tables to ``observation (K, size) uint8``."""
    k = cuda.grid(1)
    if k < which.size:
        game.encode(tables[which[k]], rules, seats[k], observation[k])


@kernel
def observe_all(tables: Any, which: Any, private: Any, scratch: Any, observation: Any) -> None:
    """Writes what the seat to act observes, then the bytes ``private`` of each other seat's observation.

    They go to ``observation (K, critic_obs_size)``; ``scratch (K, size)`` holds the whole observations of the others.
    """
    k = cuda.grid(1)
    if k < which.size:
        table = tables[which[k]]
        seat = np.int64(table.seat)
        at = game.encode(table, rules, seat, observation[k])
        for _ in range(rules.players - 1):
            seat = seat + 1 if seat + 1 < rules.players else np.int64(0)
            game.encode(table, rules, seat, scratch[k])
            for j in range(private.size):
                observation[k, at + j] = scratch[k, private[j]]
            at += private.size


@kernel
def redact(tables: Any, which: Any, rows: Any) -> None:
    """Copies the tables to ``rows (K,)``, redacted for their seats to act."""
    k = cuda.grid(1)
    if k < which.size:
        copy_table(tables, which[k], rows, k)
        game.redact(rows[k], rules, np.int64(rows[k].seat))
