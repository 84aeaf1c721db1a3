"""``nainjaune_env.engine.loops`` as CUDA kernels, one thread a table; ``jit.instantiate`` binds the names below.

Each thread passes its table to the loop that the CPU runs, as a batch of one. Rules and options are bound too and not passed:
as constants they remove from a kernel what these rules do not need. A step of the larger game then takes 56 registers and not
168, so that three times as many threads run at once, and a launch passes no integers. The price is a compilation for each
setup, kept on disk.

Names of arguments are those of the loops. ``which (K,) int64`` names the tables, thread k has ``which[k]``. ``fault (4,)
int64`` says what was illegal, see ``find_illegal``.
"""

from __future__ import annotations

from typing import Any

import numba.cuda
import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.cuda.compiler import kernel
from nainjaune_env.engine.cuda.words import copy_table

cuda: Any = numba.cuda

game: Any
"""The kernel module of a game."""
loops: Any
"""The loops of that game."""
rules: Any
"""``Setup.kernel_rules``."""
options: Any
"""``options.EpisodeOptions``."""
SCRATCH: int
"""Length of the scratch memory that the loops ask for: local to a thread here."""

NONE = np.int64(2**62)
"""``fault[0]`` while every action was legal: more than any place."""
PLACE, NOTED, TABLE, ACTION = 0, 1, 2, 3
"""What ``fault`` holds: the first place in ``which`` with an illegal action; 1 where the next two are written; these."""


def no_fault() -> NDArray[np.int64]:
    """``fault`` while every action was legal, on the host."""
    return np.array([NONE, 0, 0, 0], np.int64)


@kernel
def reset(
    tables: Any, which: Any, seeds: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any,
) -> None:  # fmt: skip
    """New matches, with ``seeds (K,) uint64``."""
    k = cuda.grid(1)
    if k < which.size:
        scratch = cuda.local.array(SCRATCH, np.int32)
        loops.reset_tables(
            tables, rules, options, which[k : k + 1], seeds[k : k + 1], values,
            legal, observation, mask, reward, credited, deals, done, scratch,
        )  # fmt: skip


@kernel
def enter(
    tables: Any, which: Any, rows: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any,
) -> None:  # fmt: skip
    """Put ``rows (K,)`` at the tables and take them up."""
    k = cuda.grid(1)
    if k < which.size:
        scratch = cuda.local.array(SCRATCH, np.int32)
        copy_table(rows, k, tables, which[k])
        loops.enter_tables(
            tables, rules, options, which[k : k + 1], legal, observation, mask, reward, credited, deals, done, scratch
        )


@kernel
def find_illegal(legal: Any, done: Any, which: Any, actions: Any, fault: Any) -> None:
    """Set ``fault[PLACE]`` to the first place with a table that is not there or an action that is not legal, if any."""
    k = cuda.grid(1)
    if k < which.size:
        there = 0 <= which[k] < legal.size
        if not there or loops.first_illegal(legal, done, options, which[k : k + 1], actions[k : k + 1]) != loops.OK:
            cuda.atomic.min(fault, PLACE, k)


@kernel
def step(
    tables: Any, which: Any, actions: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, fault: Any,
) -> None:  # fmt: skip
    """One action at each of the tables; from an illegal one on nothing is done but to note it, until ``fault`` is cleared."""
    k = cuda.grid(1)
    if k < which.size:
        if fault[PLACE] == NONE:
            scratch = cuda.local.array(SCRATCH, np.int32)
            loops.step_tables(
                tables, rules, options, which[k : k + 1], actions[k : k + 1], values,
                legal, observation, mask, reward, credited, deals, done, scratch,
            )  # fmt: skip
        elif fault[PLACE] == k and fault[NOTED] == 0:
            fault[TABLE] = which[k]
            fault[ACTION] = actions[k]
            fault[NOTED] = 1


@kernel
def choose_uniform(legal: Any, streams: Any, actions: Any) -> None:
    """A uniformly random legal action at every table."""
    k = cuda.grid(1)
    if k < legal.size:
        loops.choose_uniform(legal[k : k + 1], streams[k : k + 1], actions[k : k + 1])


@kernel
def play_out(
    tables: Any, which: Any, streams: Any, steps: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, fault: Any,
) -> None:  # fmt: skip
    """Uniformly random actions to the end of every episode; none after an illegal one, as in :func:`step`."""
    k = cuda.grid(1)
    if k < which.size:
        steps[which[k]] = 0
        if fault[PLACE] == NONE:
            scratch = cuda.local.array(SCRATCH, np.int32)
            loops.play_out_tables(
                tables, rules, options, which[k : k + 1], streams, steps, values,
                legal, observation, mask, reward, credited, deals, done, scratch,
            )  # fmt: skip


@kernel
def read_seats(tables: Any, seats: Any) -> None:
    """The seat to act at every table, into ``seats (B,) int64``."""
    k = cuda.grid(1)
    if k < tables.size:
        seats[k] = tables[k].seat


@kernel
def read_generators(tables: Any, which: Any, seeds: Any) -> None:
    """The states of the tables' generators, into ``seeds (K,) uint64``."""
    k = cuda.grid(1)
    if k < which.size:
        seeds[k] = tables[which[k]].rng


@kernel
def observe(tables: Any, which: Any, seats: Any, observation: Any) -> None:
    """What ``seats (K,) int64`` observe at the tables, into ``observation (K, size) uint8``."""
    k = cuda.grid(1)
    if k < which.size:
        i = which[k]
        loops.observe_tables(tables[i : i + 1], rules, seats[k : k + 1], observation[k : k + 1])


@kernel
def observe_all(tables: Any, which: Any, private: Any, room: Any, observation: Any) -> None:
    """What the seat to act observes, and the bytes ``private`` of what each other seat does after it.

    Into ``observation (K, larger size)``; ``room (K, size)`` is for the others' whole observations.
    """
    k = cuda.grid(1)
    if k < which.size:
        table = tables[which[k]]
        seat = np.int64(table.seat)
        at = game.encode(table, rules, seat, observation[k])
        for _ in range(rules.players - 1):
            seat = seat + 1 if seat + 1 < rules.players else np.int64(0)
            game.encode(table, rules, seat, room[k])
            for j in range(private.size):
                observation[k, at + j] = room[k, private[j]]
            at += private.size


@kernel
def redact(tables: Any, which: Any, rows: Any) -> None:
    """Copies of the tables, into ``rows (K,)``, that hold only what the seat to act may know."""
    k = cuda.grid(1)
    if k < which.size:
        copy_table(tables, which[k], rows, k)
        game.redact(rows[k], rules, np.int64(rows[k].seat))
