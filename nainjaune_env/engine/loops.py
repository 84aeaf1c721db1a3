"""The compiled loops over a batch of tables, written once; ``engine.compiled.loops_of`` binds a game's kernel.

No loop knows a game. The functions over one table take ``rules`` and ``options``, an ``EpisodeOptions``; the loops over several,
which Python calls, take both as ``packed`` (``compiler.packed``). Kernels for GPUs call the functions over one table.

``a`` is ``TableArrays``. Python passes its fields as ``arrays``, a plain tuple: numba takes half a microsecond to tell the class
of a named one. ``log`` is ``LogArrays`` or None: its type decides what is compiled, so a batch without a log pays nothing for
it. It is no field of ``a``, as numba decides so by arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nainjaune_env.compiler.intrinsics import prefetch_record
from nainjaune_env.compiler.jit import inlined, jit, replaced_by
from nainjaune_env.core.bits import count, is_legal, lowest, nth_lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.prng import advance as next_state
from nainjaune_env.core.prng import mix
from nainjaune_env.core.table import Stage, Table
from nainjaune_env.engine.log_arrays import ACTION, COUNT, DEALT, FIRST, KNOWN, OPENING, SEAT
from nainjaune_env.engine.table_arrays import TableArrays

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
unpack: Callable[[Any], Any]
"""Returns the rules and the options of ``packed``; bound by ``jit.instantiate``."""

OK = -1
"""Result of ``first_illegal`` if every action is legal."""
MAX_SKIPPED = 1000
"""Episodes without a decision that a reset skips at a table."""
PREFETCH_DISTANCE = 3
"""Tables between that of a step and that which is loaded: a load takes about as long as two steps."""
ALL_SEATS = -1
"""Stands for all seats in :func:`credit`."""

# ---- one table ---------------------------------------------------------------------------------------------------------


@inlined
def make_ply(table: Table, rules: Any, action: Any, log: Any, i: Any) -> None:
    """Makes a ply of the seat to act, which is written to row ``i`` of ``log``; ``action`` must be legal.

    A full log counts the ply and does not write it: see ``log.PlyLog.ensure_space``.
    """
    if log is not None:
        place = log.marks[i, COUNT]
        if place < log.plies.shape[1]:
            log.plies[i, place, SEAT] = table.seat
            log.plies[i, place, ACTION] = action
        log.marks[i, COUNT] = place + 1
        if place + 1 >= log.plies.shape[1]:
            log.marks[log.marks.shape[0] - 1, COUNT] = 1
    game.step(table, rules, action)


@inlined
def deal(table: Table, rules: Any, log: Any, i: Any) -> None:
    """Deals the next round of the match."""
    game.deal(table, rules)
    if log is not None:
        log.tables[i, DEALT] = table
        log.marks[i, FIRST] = log.marks[i, COUNT]
        log.marks[i, KNOWN] = 1


@jit
def deal_episode(table: Table, rules: Any, options: Any, log: Any, i: Any, values: Any, new_match: Any) -> None:
    """Deals the first round of an episode: of a new match if ``new_match``, or if the match is over or not carried.

    ``values`` are the table's row of ``start_values``.
    """
    if new_match or not options.carry or table.stage == Stage.MATCH_OVER:
        game.start(table, rules)
        if values.size > 0:
            game.set_start_values(table, rules, values)
    if log is not None:
        log.marks[i, COUNT] = 0
    deal(table, rules, log, i)
    if log is not None:
        log.tables[i, OPENING] = table


@inlined
def advance_round(table: Table, rules: Any, skip_forced: Any, log: Any, i: Any) -> Any:
    """Makes forced plies, with ``skip_forced``, up to the next decision; returns the legal actions, 0 at the round's end."""
    while table.stage == Stage.PLAYING:
        legal_bits = game.legal(table, rules)
        if not skip_forced or game.needs_decision(table, rules, legal_bits):
            return legal_bits
        if log is None:
            game.play_forced(table, rules, legal_bits)  # several at once where the game can
        else:
            make_ply(table, rules, lowest(legal_bits), log, i)
    return np.int64(0)


@inlined
def advance(a: Any, rules: Any, options: Any, log: Any, i: Any) -> Any:
    """Plays on at table ``i`` to the next decision or the end of the episode; returns the legal actions, 0 at the end.

    The payoffs of a round that ends on the way are subtracted from ``a.credited``, so that the next reward contains them.
    """
    table = a.tables[i]
    while True:
        if table.stage != Stage.PLAYING:
            if not options.whole_match or table.stage == Stage.MATCH_OVER:
                return np.int64(0)
            game.payoffs(table, rules, a.scratch)
            for seat in range(rules.players):
                a.credited[i, seat] -= a.scratch[seat]
            deal(table, rules, log, i)
            a.deals[i] += 1
        legal_bits = advance_round(table, rules, options.skip_forced, log, i)
        if legal_bits:
            return legal_bits


@inlined
def credit(a: Any, rules: Any, i: Any, seat: Any) -> None:
    """Writes to ``a.reward[i]`` what ``seat``, or each with ``ALL_SEATS``, has gained since it was credited; 0 for others."""
    reward, credited = a.reward[i], a.credited[i]
    game.payoffs(a.tables[i], rules, reward)
    for each in range(rules.players):
        payoff = reward[each]
        reward[each] = 0
        if seat == ALL_SEATS or each == seat:
            reward[each] = payoff - credited[each]
            credited[each] = payoff


@inlined
def write_mask(legal_bits: Any, mask: Any) -> None:
    """Writes the set ``legal_bits`` to ``mask (A,)``, a boolean for each action."""
    for action in range(mask.size):
        mask[action] = legal_bits >> action & 1


@inlined
def observe(a: Any, rules: Any, i: Any, seat: Any, legal_bits: Any) -> None:
    """Writes the actions ``legal_bits``, the mask of them and what ``seat`` observes to row ``i``."""
    a.legal[i] = legal_bits
    game.encode(a.tables[i], rules, seat, a.observation[i])
    write_mask(legal_bits, a.mask[i])


@inlined
def write_obs(a: Any, rules: Any, options: Any, i: Any, legal_bits: Any) -> None:
    """Writes the legal actions of the seat to act, and with ``options.observe`` its observation and mask, to row ``i``."""
    if options.observe:
        observe(a, rules, i, a.tables[i].seat, legal_bits)
    else:
        a.legal[i] = legal_bits


@jit
def enter_episode(a: Any, rules: Any, options: Any, log: Any, i: Any) -> None:
    """Begins the episode at table ``i`` as it stands, with nothing credited."""
    for seat in range(rules.players):
        a.reward[i, seat] = 0
        a.credited[i, seat] = 0
    a.deals[i] += 1
    legal_bits = advance(a, rules, options, log, i)
    a.done[i] = legal_bits == 0
    if legal_bits == 0:  # no seat has a decision, so no later step returns the payoffs
        credit(a, rules, i, ALL_SEATS)
    write_obs(a, rules, options, i, legal_bits)


@jit
def reset(a: Any, rules: Any, options: Any, log: Any, i: Any, rng: Any, new_match: Any) -> None:
    """Begins an episode at table ``i``, its generator set to ``rng``: see :func:`deal_episode`.

    With autoreset episodes without a decision are skipped, at most :data:`MAX_SKIPPED`: under some rules no episode has one.
    """
    a.tables[i].rng = rng
    deal_episode(a.tables[i], rules, options, log, i, a.start_values[i], new_match)
    enter_episode(a, rules, options, log, i)
    skipped = 0
    while a.done[i] and options.autoreset and skipped < MAX_SKIPPED:
        deal_episode(a.tables[i], rules, options, log, i, a.start_values[i], False)
        enter_episode(a, rules, options, log, i)
        skipped += 1


@inlined
def step_table(a: Any, rules: Any, options: Any, log: Any, i: Any, action: Any) -> None:
    """Takes the legal ``action`` at table ``i``, except where its episode is over for good."""
    if a.done[i] and not options.autoreset:
        for seat in range(rules.players):
            a.reward[i, seat] = 0
        return
    make_ply(a.tables[i], rules, action, log, i)
    legal_bits = advance(a, rules, options, log, i)
    finish_step(a, rules, options, log, i, legal_bits)


@inlined
def finish_step(a: Any, rules: Any, options: Any, log: Any, i: Any, legal_bits: Any) -> None:
    """Writes the results of a step of table ``i``; ``legal_bits`` 0: the episode is over, and with autoreset another begins."""
    credit(a, rules, i, ALL_SEATS)
    a.done[i] = legal_bits == 0
    if legal_bits == 0 and options.autoreset:
        keep_finished(log, i, a.tables.size + i)
        while legal_bits == 0:  # an episode without a decision is skipped
            deal_episode(a.tables[i], rules, options, log, i, a.start_values[i], False)
            a.deals[i] += 1
            for seat in range(rules.players):
                a.credited[i, seat] = 0
            legal_bits = advance(a, rules, options, log, i)
    write_obs(a, rules, options, i, legal_bits)


@inlined
def keep_finished(log: Any, i: Any, row: Any) -> None:
    """Copies the log of the episode that has ended at table ``i`` to ``row``."""
    if log is not None:
        for mark in range(log.marks.shape[1]):
            log.marks[row, mark] = log.marks[i, mark]
        log.tables[row, OPENING] = log.tables[i, OPENING]
        log.tables[row, DEALT] = log.tables[i, DEALT]
        for place in range(min(log.marks[i, COUNT], log.plies.shape[1])):
            log.plies[row, place, SEAT] = log.plies[i, place, SEAT]
            log.plies[row, place, ACTION] = log.plies[i, place, ACTION]


@inlined
def random_action(legal_bits: Any, streams: Any, i: Any) -> Any:
    """Returns a uniformly random action of ``legal_bits``, not 0; ``streams[i]`` advances only if there are several."""
    if legal_bits & (legal_bits - 1):
        streams[i] = next_state(streams[i])
        n = np.int64((mix(streams[i]) >> np.uint64(32)) * np.uint64(count(legal_bits)) >> np.uint64(32))
        return nth_lowest(legal_bits, n)
    return lowest(legal_bits)


@jit
def play_out(a: Any, rules: Any, options: Any, log: Any, i: Any, streams: Any, steps: Any) -> None:
    """Plays table ``i`` uniformly at random to the end of its episode; ``steps[i]`` counts the actions."""
    steps[i] = 0
    legal_bits = a.legal[i]
    while legal_bits:
        make_ply(a.tables[i], rules, random_action(legal_bits, streams, i), log, i)
        legal_bits = advance(a, rules, options, log, i)
        steps[i] += 1
    if steps[i]:
        finish_step(a, rules, options, log, i, legal_bits)
    else:
        for seat in range(rules.players):
            a.reward[i, seat] = 0


@jit
def resample(tables: Any, rules: Any, owner: Any, states: Any, memory: Any, out: Any) -> None:
    """Writes a determinization of ``tables[owner[w]]`` to ``out[w]`` for each w of ``owner (N,) int64``.

    ``tables (K,)`` are redacted for their seats to act. Those of table i are drawn from ``states[i]``, which advances, of
    ``states (K,) uint64``; adjacent ones of one table are drawn together, with ``memory (M,) float64`` as scratch.
    """
    w = 0
    while w < owner.size:
        i, first = owner[w], w
        while w < owner.size and owner[w] == i:
            out[w] = tables[i]
            states[i] = next_state(states[i])
            out[w].rng = mix(states[i])
            w += 1
        game.resample_many(out[first:w], rules, np.int64(tables[i].seat), memory)


# ---- the tables of a call, from Python -----------------------------------------------------------------------------------


@jit
def reset_tables(arrays: Any, packed: Any, log: Any, which: Any, rng_states: Any, new_match: Any) -> None:
    """Begins an episode at the tables ``which (K,) int64``, from ``rng_states (K,) uint64``: see :func:`reset`."""
    a = TableArrays(*arrays)
    rules, options = unpack(packed)
    for k in range(which.size):
        reset(a, rules, options, log, which[k], rng_states[k], new_match)


@jit
def enter_tables(arrays: Any, packed: Any, log: Any, which: Any) -> None:
    """Begins episodes at the tables ``which`` as they stand, after they were set from outside."""
    a = TableArrays(*arrays)
    rules, options = unpack(packed)
    for k in range(which.size):
        enter_episode(a, rules, options, log, which[k])


@jit
def first_illegal(legal: Any, done: Any, autoreset: Any, which: Any, actions: Any) -> Any:
    """Returns the first k whose action is illegal at table ``which[k]``, or ``OK``; tables that are done are skipped."""
    for k in range(which.size):
        i = which[k]
        if done[i] and not autoreset:
            continue
        if not is_legal(legal[i], actions[k]):
            return k
    return OK


@replaced_by(prefetch_record)
def prefetch(tables: Any, at: Any) -> None:
    """Begins to load ``tables[at]`` into the cache of the processor."""


@jit
def step_tables(a: Any, packed: Any, log: Any, which: Any, actions: Any) -> None:
    """Takes ``actions (K,)``, all legal, at the tables ``which (K,) int64``, except where they are done."""
    rules, options = unpack(packed)
    for k in range(which.size):
        prefetch(a.tables, which[min(k + PREFETCH_DISTANCE, which.size - 1)])
        step_table(a, rules, options, log, which[k], np.int64(actions[k]))


@jit
def step_legal(arrays: Any, packed: Any, log: Any, which: Any, actions: Any) -> Any:
    """Takes ``actions (K,)``, any integers, as :func:`step_tables` does, if :func:`first_illegal` gives ``OK``; returns that."""
    a = TableArrays(*arrays)
    _, options = unpack(packed)
    wrong = first_illegal(a.legal, a.done, options.autoreset, which, actions)
    if wrong == OK:
        step_tables(a, packed, log, which, actions)
    return wrong


@jit
def step_single(arrays: Any, packed: Any, log: Any, action: Any) -> Any:
    """Takes the legal ``action`` at the only table; returns the seat to act."""
    a = TableArrays(*arrays)
    rules, options = unpack(packed)
    step_table(a, rules, options, log, 0, np.int64(action))
    return np.int64(a.tables[0].seat)


@jit
def step_round(tables: Any, packed: Any, log: Any, action: Any) -> Any:
    """Makes a ply at the only table, if ``action`` is not negative, and plays on within the round: see :func:`advance_round`.

    Returns the seat to act and the legal actions, 0 at the end of the round.
    """
    rules, options = unpack(packed)
    if action >= 0:
        make_ply(tables[0], rules, np.int64(action), log, 0)
    legal_bits = advance_round(tables[0], rules, options.skip_forced, log, 0)
    return np.int64(tables[0].seat), legal_bits


@jit
def play_out_tables(arrays: Any, packed: Any, log: Any, which: Any, streams: Any, steps: Any) -> None:
    """Plays the tables ``which (K,) int64`` uniformly at random to the end of their episodes; ``steps (B,)`` counts the actions.

    These are drawn from ``streams (B,) uint64`` as in :func:`choose_uniform`. Tables that are done are skipped.
    """
    a = TableArrays(*arrays)
    rules, options = unpack(packed)
    for k in range(which.size):
        play_out(a, rules, options, log, which[k], streams, steps)


@jit
def choose_uniform(legal: Any, streams: Any, actions: Any) -> None:
    """Draws a uniformly random legal action for each table from ``streams (B,) uint64``; 0 where no action is legal."""
    for i in range(legal.size):
        actions[i] = random_action(legal[i], streams, i) if legal[i] else 0


@jit
def redact_tables(tables: Any, packed: Any, seats: Any) -> None:
    """Wipes from each table all that ``seats[i]`` may not know."""
    rules, _ = unpack(packed)
    for i in range(tables.size):
        game.redact(tables[i], rules, seats[i])


@jit
def resample_tables(tables: Any, packed: Any, owner: Any, states: Any, memory: Any, out: Any) -> None:
    """Writes determinizations: see :func:`resample`."""
    rules, _ = unpack(packed)
    resample(tables, rules, owner, states, memory, out)


@jit
def observe_tables(tables: Any, packed: Any, seats: Any, observation: Any) -> None:
    """Writes what ``seats[i]`` observes at each table to ``observation (B, size) uint8``."""
    rules, _ = unpack(packed)
    for i in range(tables.size):
        game.encode(tables[i], rules, seats[i], observation[i])


@jit
def observe_seats(tables: Any, packed: Any, first: Any, observation: Any) -> None:
    """Writes what the K seats from ``first`` on observe at the only table to ``observation (K, size)``."""
    rules, _ = unpack(packed)
    for k in range(observation.shape[0]):
        game.encode(tables[0], rules, first + k, observation[k])


@jit
def observe_scaled(tables: Any, packed: Any, seat: Any, zero: Any, scale: Any, observation: Any, tensor: Any) -> None:
    """Writes what ``seat`` observes at the only table to ``observation (size,)``, and scaled to ``tensor (n + size,) float32``.

    The first n numbers of the tensor are 1 for the seat and 0 for others; ``zero`` and ``scale`` are ``(size,)``.
    """
    rules, _ = unpack(packed)
    game.encode(tables[0], rules, seat, observation)
    for each in range(rules.players):
        tensor[each] = each == seat
    for i in range(observation.size):
        tensor[rules.players + i] = (np.float32(observation[i]) - zero[i]) / scale[i]


@jit
def legal_of_tables(tables: Any, packed: Any, legal: Any) -> None:
    """Writes the legal actions at each table to ``legal (B,) int64``, as bits."""
    rules, _ = unpack(packed)
    for i in range(tables.size):
        legal[i] = game.legal(tables[i], rules)
