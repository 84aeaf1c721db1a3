"""The loops by which several threads take the tables of one call; ``jit.instantiate`` binds ``loops`` to a game's.

The calling thread is number 0, the workers are 1, 2, …: they run :func:`serve` outside Python and read a word of memory in a
loop until it announces the next call, because waking a thread that sleeps takes as long as a thousand tables. Each thread has a
part of the rows, takes some of them at a time (``CHUNKS``), and takes from other parts when its part is done. So no call
depends on a worker that is late: the calling thread takes the rows that no worker has taken.

``control (words(threads),) int64`` is what the threads share. A call is open while ``control[CALL]`` is odd. A worker first adds
itself to ``control[ACTIVE]`` and then reads whether the call is still open; the calling thread closes the call and then waits
until no thread is active. So no worker uses the arrays of a call, whose addresses are in ``control``, after the call.
"""

# ruff: noqa: F821  (`loops` is bound when this is instantiated)
from __future__ import annotations

from typing import Any

from nainjaune_env.compiler.intrinsics import address_of, array_at, fetch_add, load, pause
from nainjaune_env.compiler.jit import jit
from nainjaune_env.engine.table_arrays import TableArrays

loops: Any
"""``loops`` of a game; bound by ``jit.instantiate``."""

LINE = 16
"""Words that two purposes are apart: two lines of 64 bytes, as processors fetch them in pairs."""
CALL, STOP, ACTIVE = 0, 1, LINE
KIND, ROWS, INDEX, ACTIONS, STREAMS = 2 * LINE, 2 * LINE + 1, 2 * LINE + 2, 2 * LINE + 3, 2 * LINE + 4
NEXT = 3 * LINE
"""The first row of the part of thread t that no thread has taken is ``control[NEXT + t * LINE]``."""
STEP, SAMPLE, PLAY_OUT = 0, 1, 2
CHUNKS = (64, 256, 8)
"""Rows that a thread takes at a time, by kind: as many as take about 5, 2 and 10 µs."""

PLAY_OUT_PATIENCE = 7
"""How much longer a worker waits after a playout, which takes milliseconds: one that slept wakes on the caller's processor."""


def control_size(threads: int) -> int:
    """Returns the length of ``control``."""
    return NEXT + threads * LINE


@jit
def run_share(
    control: Any, thread: Any, threads: Any, a: Any, packed: Any, log: Any, index: Any, actions: Any, streams: Any
) -> None:
    """Takes rows of the open call, until none is left, and runs the loop of its kind over them."""
    chunk = CHUNKS[control[KIND]]
    for k in range(threads):
        part = (thread + k) % threads
        end = index.size * (part + 1) // threads
        first = fetch_add(control, NEXT + part * LINE, chunk)
        while first < end:
            last = min(first + chunk, end)
            if control[KIND] == STEP:
                loops.step_tables(a, packed, log, index[first:last], actions[first:last])
            elif control[KIND] == PLAY_OUT:
                loops.play_out_tables(a, packed, log, index[first:last], streams, actions)
            else:
                loops.choose_uniform(a.legal[first:last], streams[first:last], actions[first:last])
            first = fetch_add(control, NEXT + part * LINE, chunk)


@jit
def is_over(control: Any, spins: Any) -> Any:
    """Returns whether no thread is active in a call, after a wait of at most ``spins`` pauses."""
    while load(control, ACTIVE) and spins > 0:
        pause()
        spins -= 1
    return load(control, ACTIVE) == 0


@jit
def serve(
    control: Any, thread: Any, threads: Any, spins: Any, arrays: Any, packed: Any, log: Any,
    index: Any, actions: Any, streams: Any,
) -> Any:  # fmt: skip
    """As the calling thread, makes the call of ``control[KIND]``; as a worker, takes part in calls as they come.

    ``STEP`` is ``loops.step_tables``. ``SAMPLE`` is ``loops.choose_uniform`` and ``PLAY_OUT`` is ``loops.play_out_tables``, with
    all tables as ``index``, and the steps of a playout as ``actions``. The calling thread returns whether the call is over, see
    :func:`is_over`; all rows are taken. A worker returns after ``spins`` pauses without a call, or when ``control[STOP]`` is set;
    its ``index``, ``actions`` and ``streams`` are examples of their types.
    """
    a = TableArrays(*arrays)
    patience = spins
    if thread == 0:
        control[ROWS] = index.size
        control[INDEX] = address_of(index)
        control[ACTIONS] = address_of(actions)
        control[STREAMS] = address_of(streams)
        for part in range(threads):
            control[NEXT + part * LINE] = index.size * part // threads
        fetch_add(control, CALL, 1)
        spins = 1
    seen = 0
    idle = 0
    while idle < spins and not load(control, STOP):
        call = load(control, CALL)
        if call & 1 and call != seen:
            seen = call
            fetch_add(control, ACTIVE, 1)
            if load(control, CALL) == call:
                rows = control[ROWS]
                run_share(
                    control, thread, threads, a, packed, log,
                    array_at(index, control[INDEX], rows), array_at(actions, control[ACTIONS], rows),
                    array_at(streams, control[STREAMS], rows),
                )  # fmt: skip
            idle = -PLAY_OUT_PATIENCE * spins if control[KIND] == PLAY_OUT else 0
            fetch_add(control, ACTIVE, -1)
        else:
            pause()
            idle += 1
    if thread != 0:
        return False
    fetch_add(control, CALL, 1)
    return is_over(control, patience)
