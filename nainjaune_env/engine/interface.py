"""One table of a game behind a C interface: functions of WebAssembly modules and libraries; ``build.wasm`` binds a game.

Every function takes ``session``, the address of a block of memory that is laid out as ``wasm.session_dtype`` says and aligned
to 8 bytes; whoever calls sets its ``numbers``, the packed rules (:func:`pack`) and options, and reads results from it. Nothing
inside checks bounds, so numbers that come from outside (knobs, actions, seats, plies, counts) are checked here; a function that
refuses one returns :data:`REFUSED` and changes nothing.
"""

# ruff: noqa: F821  (the names bound at instantiation)
from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.intrinsics import view_at
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core import events as event_rows
from nainjaune_env.core.bits import is_legal
from nainjaune_env.core.prng import advance as next_state
from nainjaune_env.core.prng import mix
from nainjaune_env.core.spec import DETAILS
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.log_arrays import ACTION, COUNT, DEALT, FIRST, KNOWN, OPENING, LogArrays
from nainjaune_env.engine.start_values import MAX_START_VALUE
from nainjaune_env.engine.table_arrays import TableArrays

loops: Any
"""``engine.loops`` of the game; bound by ``jit.instantiate``."""
telling_loops: Any
"""``engine.telling_loops`` of the game."""
game: Any
"""The kernel of the game."""
unpack: Any
"""Returns the rules and the options of the packed numbers."""
table_dtype: Any
"""The dtype of a table."""
at: Any
"""Where each field of a session begins, a named tuple of bytes."""
size: Any
"""The lengths of fields (``wasm.Sizes``)."""

unpack_knobs: Any
"""Returns the knobs, in a tuple of their own, of an array of them."""
compile_rules: Any
"""``GameSpec.compile_rules``, compiled."""
refuse_rules: Any
"""``GameSpec.refuse_rules``, compiled."""
pack_rules: Any
"""Writes compiled rules to an array."""
knob_limits: Any
"""The lowest and the highest number of each knob, one after the other."""

REFUSED = -1
"""The result of a function for an argument that is not allowed, or at the wrong time."""
DONE = 0
"""The result of a function that did what was asked."""
UNTOLD = -1
"""In ``told``: no event of the round was told."""
MAX_SHOWN = 63
"""The highest number in ``shown``; that it is a card of the action is up to the caller."""


@inlined
def _rules(session: Any) -> Any:
    return unpack(view_at(session, at.numbers, (size.numbers,), np.int64))


@inlined
def _is_playable(session: Any) -> Any:
    """Returns whether ``numbers`` are packed rules, and options of a table that does not begin episodes by itself."""
    rules, options = _rules(session)
    return size.fewest <= rules.players <= size.seats and not options.autoreset


@inlined
def _has_begun(session: Any) -> Any:
    """Returns whether there is an episode under these rules."""
    return _is_playable(session) and view_at(session, at.log_marks, (2, 3), np.int64)[0, KNOWN] == 1


@inlined
def _may_take(session: Any, action: Any) -> Any:
    """Returns whether ``action``, any integer, is legal, and the log has space for it."""
    full = view_at(session, at.log_marks, (2, 3), np.int64)[1, COUNT]
    return _has_begun(session) and not full and is_legal(view_at(session, at.legal, (1,), np.int64)[0], action)


@inlined
def _log(session: Any) -> Any:
    return LogArrays(
        view_at(session, at.log_tables, (1, 2), table_dtype),
        view_at(session, at.log_plies, (1, size.plies, 2), np.int8),
        view_at(session, at.log_marks, (2, 3), np.int64),
    )


@inlined
def _events(session: Any) -> Any:
    return event_rows.Events(
        view_at(session, at.rows, (size.events, 8), np.int64),
        view_at(session, at.row_count, (1,), np.int64),
        view_at(session, at.event_memory, (size.event_memory,), np.int64),
        view_at(session, at.shown, (1,), np.int64),
        view_at(session, at.event_rng, (1,), np.uint64),
    )


@inlined
def _forget_events(session: Any) -> None:
    """Notes that there is another round, of which nothing was told."""
    view_at(session, at.told, (1,), np.int64)[0] = UNTOLD


@inlined
def _arrays(session: Any, start_values: Any) -> Any:
    """Returns the ``TableArrays`` of the only table, with that many start values."""
    return TableArrays(
        view_at(session, at.tables, (1,), table_dtype),
        view_at(session, at.start_values, (1, start_values), np.int32),
        view_at(session, at.legal, (1,), np.int64),
        view_at(session, at.observation, (1, size.observation), np.uint8),
        view_at(session, at.mask, (1, size.actions), np.bool_),
        view_at(session, at.reward, (1, size.seats), np.int32),
        view_at(session, at.credited, (1, size.seats), np.int32),
        view_at(session, at.deals, (1,), np.int64),
        view_at(session, at.done, (1,), np.bool_),
        view_at(session, at.scratch, (size.seats,), np.int32),
    )


@inlined
def _enter_or_step(session: Any, action: Any) -> None:
    """Makes the ply ``action``, or with -1 begins the episode as the table stands."""
    rules, options = _rules(session)
    arrays = _arrays(session, 0)
    if action < 0:
        loops.enter_episode(arrays, rules, options, _log(session), 0)
    else:
        loops.step_table(arrays, rules, options, _log(session), 0, action)


def pack(session: Any, players: Any) -> Any:
    """Writes the rules that ``knobs`` mean for that many seats to ``numbers``, where the options are already; an episode is over.

    Where the knobs do not go together, returns the number of the sentence that says so, with its numbers in ``details``, and
    changes nothing else.
    """
    knobs = view_at(session, at.knobs, (size.knobs,), np.int64)
    for k in range(size.knobs):
        if knobs[k] < knob_limits[2 * k] or knobs[k] > knob_limits[2 * k + 1]:
            return REFUSED
    if players < size.fewest or players > size.seats:
        return REFUSED
    numbers = view_at(session, at.numbers, (size.numbers,), np.int64)
    (given,) = unpack_knobs(knobs)
    rules = compile_rules(given, np.int64(players))
    _, options = unpack(numbers)
    refusal = refuse_rules(given, rules, options.whole_match, view_at(session, at.details, (DETAILS,), np.int64))
    if refusal == 0:
        pack_rules(rules, numbers)
        view_at(session, at.log_marks, (2, 3), np.int64)[0, KNOWN] = 0
        view_at(session, at.legal, (1,), np.int64)[0] = 0
    return refusal


def begin(session: Any, state: Any, start_values: Any) -> Any:
    """Begins a match or, by the options, a round: its generator has ``state``; ``start_values``: how many there are, or 0."""
    if not _is_playable(session) or (start_values != 0 and start_values != size.start_values):
        return REFUSED
    arrays = _arrays(session, np.int64(start_values))
    for value in arrays.start_values[0]:
        if value < 0 or value > MAX_START_VALUE:
            return REFUSED
    rules, options = _rules(session)
    log = _log(session)
    arrays.tables[0].rng = np.uint64(state)
    log.marks[1, COUNT] = 0
    _forget_events(session)
    loops.deal_episode(arrays.tables[0], rules, options, log, 0, arrays.start_values[0], True)
    arrays.deals[0] = 0
    _enter_or_step(session, np.int64(-1))
    return DONE


@jit
def _write_legal(session: Any) -> None:
    """Writes the legal actions of the seat to act, 0 at the end of a round, and whether the match is over."""
    rules, _ = _rules(session)
    table = view_at(session, at.tables, (1,), table_dtype)[0]
    legal = view_at(session, at.legal, (1,), np.int64)
    legal[0] = game.legal(table, rules) if table.stage == Stage.PLAYING else 0
    view_at(session, at.done, (1,), np.bool_)[0] = table.stage == Stage.MATCH_OVER


def place(session: Any, opens: Any) -> Any:
    """Begins an episode with the table that the caller has put in ``tables``, one that can occur, for :func:`ply`.

    With ``opens`` the table has what chance and the round before have put there, and the round begins (``Kernel.open_round``).
    """
    if not _is_playable(session):
        return REFUSED
    rules, _ = _rules(session)
    tables = view_at(session, at.tables, (1,), table_dtype)
    log_tables = view_at(session, at.log_tables, (1, 2), table_dtype)
    marks = view_at(session, at.log_marks, (2, 3), np.int64)
    if opens:
        game.open_round(tables[0], rules)
    log_tables[0, OPENING] = tables[0]
    log_tables[0, DEALT] = tables[0]
    marks[0, COUNT], marks[0, FIRST], marks[0, KNOWN], marks[1, COUNT] = 0, 0, 1, 0
    view_at(session, at.deals, (1,), np.int64)[0] = 1
    _forget_events(session)
    _write_legal(session)
    return DONE


def ply(session: Any, action: Any) -> Any:
    """Makes one ply and nothing else: no forced one after it, no deal, no reward; ``legal`` is 0 at the end of the round."""
    if not _may_take(session, action):
        return REFUSED
    rules, _ = _rules(session)
    log = _log(session)
    loops.make_ply(view_at(session, at.tables, (1,), table_dtype)[0], rules, np.int64(action), log, 0)
    _write_legal(session)
    return DONE


def deal(session: Any) -> Any:
    """Deals the next round after one that :func:`ply` has ended."""
    tables = view_at(session, at.tables, (1,), table_dtype)
    if not _has_begun(session) or tables[0].stage != Stage.ROUND_OVER:
        return REFUSED
    rules, _ = _rules(session)
    log = _log(session)
    loops.deal(tables[0], rules, log, 0)
    view_at(session, at.deals, (1,), np.int64)[0] += 1
    _forget_events(session)
    _write_legal(session)
    return DONE


def tell(session: Any, action: Any, shown: Any, viewer: Any) -> Any:
    """Makes one ply as :func:`ply` does and writes what happens to ``rows``, an event a row; returns the number of rows.

    The ``action`` -1 opens a round that has just been dealt, and makes no ply; all plies of the round are then made by this
    function. ``shown`` is the number of the card that is played where several are one action, -1 to draw it. What ``viewer``, a
    seat, may not know is hidden in the rows; -1 sees all, -2 what every seat sees.
    """
    rules, _ = _rules(session)
    marks = view_at(session, at.log_marks, (2, 3), np.int64)
    told = view_at(session, at.told, (1,), np.int64)
    if shown < event_rows.DRAWN or shown > MAX_SHOWN or viewer < event_rows.PUBLIC or viewer >= rules.players:
        return REFUSED
    if action == event_rows.OPENING:
        if not _has_begun(session) or marks[0, COUNT] != marks[0, FIRST]:
            return REFUSED
    elif told[0] != marks[0, COUNT] or not _may_take(session, action):
        return REFUSED
    events = _events(session)
    events.shown[0] = shown
    worlds = view_at(session, at.worlds, (size.worlds,), table_dtype)
    worlds[0] = view_at(session, at.tables, (1,), table_dtype)[0]  # so that the ply itself is made, and logged, in one place
    rows = telling_loops.tell_ply(worlds[0], rules, np.int64(action), events, np.int64(viewer))
    if action != event_rows.OPENING:
        loops.make_ply(view_at(session, at.tables, (1,), table_dtype)[0], rules, np.int64(action), _log(session), 0)
        _write_legal(session)
    told[0] = marks[0, COUNT]
    return rows


def hide(session: Any, count: Any, viewer: Any) -> Any:
    """Hides in the first ``count`` of ``rows`` what ``viewer`` may not know (:func:`tell`)."""
    rules, _ = _rules(session)
    if not _has_begun(session) or count < 0 or count > size.events or viewer < event_rows.PUBLIC or viewer >= rules.players:
        return REFUSED
    rows = view_at(session, at.rows, (size.events, 8), np.int64)
    for k in range(count if viewer != event_rows.OMNISCIENT else 0):
        game.hide(rows[k], rules, np.int64(viewer))
    return DONE


def step(session: Any, action: Any) -> Any:
    """Takes ``action`` for the seat to act, and plays on to the next decision."""
    if not _may_take(session, action):
        return REFUSED
    _enter_or_step(session, np.int64(action))
    return DONE


def rewind(session: Any, plies: Any) -> Any:
    """Plays the episode again up to ``plies`` of its log, and on to the decision there; later plies are forgotten.

    The next ``reward`` counts from the beginning of the round.
    """
    tables = view_at(session, at.tables, (1,), table_dtype)
    log = _log(session)
    if not _has_begun(session) or plies < 0 or plies > log.marks[0, COUNT] or log.marks[1, COUNT]:
        return REFUSED
    tables[0] = log.tables[0, OPENING]
    log.tables[0, DEALT] = log.tables[0, OPENING]
    log.marks[0, FIRST] = 0
    log.marks[0, COUNT] = 0
    _forget_events(session)
    deals = view_at(session, at.deals, (1,), np.int64)
    deals[0] = 0
    rules, _ = _rules(session)
    for place in range(plies):
        while tables[0].stage != Stage.PLAYING:
            loops.deal(tables[0], rules, log, 0)
            deals[0] += 1
        loops.make_ply(tables[0], rules, np.int64(log.plies[0, place, ACTION]), log, 0)
    _enter_or_step(session, np.int64(-1))
    return DONE


def observe(session: Any, seat: Any) -> Any:
    """Writes what ``seat`` observes to ``observation``; returns its bytes."""
    rules, _ = _rules(session)
    if not _has_begun(session) or seat < 0 or seat >= rules.players:
        return REFUSED
    table = view_at(session, at.tables, (1,), table_dtype)[0]
    return game.encode(table, rules, np.int64(seat), view_at(session, at.observation, (size.observation,), np.uint8))


def redact(session: Any, seat: Any) -> Any:
    """Copies the table to ``worlds[0]`` without what ``seat`` may not know."""
    rules, _ = _rules(session)
    if not _has_begun(session) or seat < 0 or seat >= rules.players:
        return REFUSED
    worlds = view_at(session, at.worlds, (size.worlds,), table_dtype)
    worlds[0] = view_at(session, at.tables, (1,), table_dtype)[0]
    game.redact(worlds[0], rules, np.int64(seat))
    return DONE


@jit
def draw_worlds(session: Any, count: Any) -> None:
    """Writes ``count`` determinizations for the seat to act to ``worlds``, drawn from the generator ``rng``, which advances."""
    rules, _ = _rules(session)
    table = view_at(session, at.tables, (1,), table_dtype)[0]
    worlds = view_at(session, at.worlds, (size.worlds,), table_dtype)
    rng = view_at(session, at.rng, (1,), np.uint64)
    seat = np.int64(table.seat)
    worlds[0] = table
    game.redact(worlds[0], rules, seat)
    for w in range(1, count):
        worlds[w] = worlds[0]
    for w in range(count):
        rng[0] = next_state(rng[0])
        worlds[w].rng = mix(rng[0])
    game.resample_many(worlds[:count], rules, seat, view_at(session, at.memory, (size.memory,), np.float64))


def resample(session: Any, state: Any, count: Any) -> Any:
    """Writes ``count`` determinizations for the seat to act to ``worlds``, drawn from a generator with ``state``."""
    if count < 1 or count > size.worlds or view_at(session, at.legal, (1,), np.int64)[0] == 0:
        return REFUSED
    view_at(session, at.rng, (1,), np.uint64)[0] = np.uint64(state)
    draw_worlds(session, np.int64(count))
    return DONE


FUNCTIONS = {
    "pack": ("int32(voidptr, int32)", pack),
    "begin": ("int32(voidptr, int64, int32)", begin),
    "step": ("int32(voidptr, int32)", step),
    "place": ("int32(voidptr, int32)", place),
    "ply": ("int32(voidptr, int32)", ply),
    "deal": ("int32(voidptr)", deal),
    "tell": ("int32(voidptr, int32, int32, int32)", tell),
    "hide": ("int32(voidptr, int32, int32)", hide),
    "rewind": ("int32(voidptr, int32)", rewind),
    "observe": ("int32(voidptr, int32)", observe),
    "redact": ("int32(voidptr, int32)", redact),
    "resample": ("int32(voidptr, int64, int32)", resample),
}
"""The exported functions by name, with numba's signatures."""
