"""What ``Batch.save`` returns, checked or computed again before it is restored: compiled code relies on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import as_array
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.log_arrays import COUNT, FIRST, KNOWN, OPENING, LogArrays
from nainjaune_env.engine.options import EpisodeOptions
from nainjaune_env.engine.table_arrays import new_arrays
from nainjaune_env.engine.undo import replay_episodes

OF_OTHER = "A batch restores a state of its own"


def check_arrays(saved: object, arrays: Mapping[str, Any], *, growing: tuple[str, ...] = ()) -> dict[str, NDArray[Any]]:
    """Returns the arrays in ``saved`` by name; raises :class:`DealError` unless shapes and dtypes are as in ``arrays``.

    Those that are ``growing`` may have another length along their second axis.
    """
    if not isinstance(saved, Mapping):
        raise DealError(f"A batch restores what save() returned, not {quoted(saved)}.")
    state = {}
    for name, array in arrays.items():
        given = as_array(f"{OF_OTHER}: expected {name!r} to be an array, not", saved.get(name))
        shape = array.shape
        if name in growing and given.ndim == len(shape):
            shape = (shape[0], given.shape[1], *shape[2:])
        if given.shape != shape or given.dtype != array.dtype:
            what = f"{quoted(array.dtype)} of shape {array.shape}, not {quoted(given.dtype)} of shape {given.shape}"
            raise DealError(f"{OF_OTHER}: expected {name!r} to be {what}.")
        state[name] = np.ascontiguousarray(given)
    return state


def checked_state(setup: Setup, options: EpisodeOptions, state: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Returns ``state``, which comes from outside, with all that its tables imply computed again.

    That is every array but the last ``reward``, what was credited, the number of ``deals`` and, with autoreset, ``done``,
    which is of the episode before. Raises :class:`DealError` unless the tables are safe to step and at a decision or done, and
    the log leads to them.
    """
    setup.check_tables(state["tables"])
    count = len(state["tables"])
    made = new_arrays(setup, count)
    made = made._replace(**{name: state[name].copy() for name in made.state()})
    loops_of(setup).enter_tables(tuple(made), numbers_of(setup, options._replace(autoreset=0)), None, np.arange(count))
    resting = [one.tobytes() == other.tobytes() for one, other in zip(made.tables, state["tables"], strict=True)]
    if not all(resting):
        raise DealError(f"{OF_OTHER}: expected table {resting.index(False)} to be at a decision, or at the end of an episode.")
    if "log_marks" in state:
        _check_log(setup, options, state)
    done = made.done | state["done"] if options.autoreset else made.done
    of_past = {name: state[name] for name in ("reward", "credited")}
    return {**state, **made.state(), **of_past, "deals": np.maximum(state["deals"], 1), "done": done}


def _check_log(setup: Setup, options: EpisodeOptions, state: Mapping[str, NDArray[Any]]) -> None:
    """Raises :class:`DealError` unless the log in ``state`` leads to the tables, or in rows of ended episodes to their ends."""
    log = LogArrays(*(state[f"log_{name}"].copy() for name in LogArrays._fields))
    marks, space = log.marks, log.plies.shape[1]
    inside = (marks[:-1, FIRST] >= 0) & (marks[:-1, FIRST] <= marks[:-1, COUNT]) & (marks[:-1, COUNT] < space)
    inside &= np.isin(marks[:-1, KNOWN], (0, 1))
    if marks[-1].any() or not inside.all():
        raise DealError(f"{OF_OTHER}: expected 'log_marks' to count 0 to {space - 1} plies, with those before the current round.")
    count = len(state["tables"])
    used = np.append(np.arange(count), np.flatnonzero(marks[count:-1].any(axis=1)) + count)  # no episode has ended elsewhere
    setup.check_tables(log.tables[used, OPENING])
    rows = LogArrays(log.tables[used], log.plies[used], marks[np.append(used, -1)])
    again = replay_episodes(setup, options, rows, rows.marks[:-1, COUNT].copy())
    made = np.arange(space) < again.log.marks[:-1, COUNT, None]
    pairs = (
        (again.arrays.tables[:count], state["tables"]),
        (again.log.marks, state["log_marks"][np.append(used, -1)]),
        (again.log.tables, state["log_tables"][used]),
        (again.log.plies[made], state["log_plies"][used][made]),
    )
    equal = [one.tobytes() == other.tobytes() for one, other in pairs]
    if again.wrong >= 0 or not again.arrays.done[count:].all() or not all(equal):
        raise DealError(f"{OF_OTHER}: expected its log to hold the plies that lead to the tables.")
