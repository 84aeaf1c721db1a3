"""What ``Batch.save`` returns, checked before it is restored: compiled code relies on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import as_array
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.log_arrays import COUNT, FIRST, KNOWN, OPENING, LogArrays
from nainjaune_env.engine.options import EpisodeOptions
from nainjaune_env.engine.undo import replay_episodes

SAVED = ("tables", "legal", "observation", "mask", "reward", "_credited", "deals", "done")
"""The arrays of a batch that are its state."""
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


def check_state(setup: Setup, options: EpisodeOptions, state: Mapping[str, NDArray[Any]]) -> None:
    """Raises :class:`DealError` unless the tables in ``state`` can occur, at a decision or done, and fit the other arrays.

    The last ``reward`` cannot be told from the tables; nor what is credited of rounds of a match that no seat had a decision in.
    """
    setup.check_tables(state["tables"])
    count, players = state["reward"].shape
    tables, payoffs, scratch = state["tables"].copy(), np.zeros((count, players), np.int32), np.zeros(players, np.int32)
    entered = {name: np.zeros_like(state[name]) for name in SAVED[1:]}
    order = ("legal", "observation", "mask", "reward", "_credited", "deals", "done")  # that of the loops' arguments
    loops, numbers = loops_of(setup), numbers_of(setup, options._replace(autoreset=0))
    loops.enter_tables(tables, numbers, None, np.arange(count), *(entered[name] for name in order), scratch)
    loops.payoffs_of_tables(state["tables"], numbers, payoffs)
    for name, right, expected in _comparisons(options, state, tables, entered, payoffs):
        if not right.all():
            i = int(np.argmin(right))
            raise DealError(
                f"{OF_OTHER}: of table {i}, expected {name!r} to be {expected}, not {quoted(state[name][i].tolist())}."
            )
    if "log_marks" in state:
        _check_log(setup, options, state)


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
        (again.state["tables"][:count], state["tables"]),
        (again.log.marks, state["log_marks"][np.append(used, -1)]),
        (again.log.tables, state["log_tables"][used]),
        (again.log.plies[made], state["log_plies"][used][made]),
    )
    equal = [one.tobytes() == other.tobytes() for one, other in pairs]
    if again.wrong >= 0 or not again.state["done"][count:].all() or not all(equal):
        raise DealError(f"{OF_OTHER}: expected its log to hold the plies that lead to the tables.")


def _comparisons(
    options: EpisodeOptions,
    state: Mapping[str, NDArray[Any]],
    tables: NDArray[Any],
    entered: Mapping[str, NDArray[Any]],
    payoffs: NDArray[np.int32],
) -> Iterator[tuple[str, NDArray[np.bool_], str]]:
    """Yields names of arrays with whether each table's row is right, and what is expected of it."""
    yield "tables", _equal(state["tables"], tables), "at a decision, or at the end of an episode"
    is_done = entered["legal"] == 0
    yield "legal", state["legal"] == entered["legal"], "the bits of the actions that the rules allow"
    # with autoreset `done` is of the episode before
    done_agrees = state["done"] | ~is_done if options.autoreset else state["done"] == is_done
    yield "done", done_agrees, "whether the episode is over"
    if options.observe:
        yield "observation", _equal(state["observation"], entered["observation"]), "what the seat to act observes"
        yield "mask", _equal(state["mask"], entered["mask"]), "the actions that the rules allow"
    if not (options.whole_match and options.skip_forced):
        credited = state["_credited"]
        right = _equal(credited, payoffs) | (~is_done & (credited == 0).all(axis=1))
        yield "_credited", right, "the payoffs of the round so far, or zeros before the first reward"
    yield "deals", state["deals"] >= 1, "the number of rounds begun, at least 1"


def _equal(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns whether rows have equal bytes, ``(B,)``."""
    rows = (np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1) for array in (one, other))
    first, second = rows
    return np.asarray((first == second).all(axis=1), np.bool_)
