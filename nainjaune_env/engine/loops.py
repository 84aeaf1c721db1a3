"""The compiled loops over a batch of tables, written once; ``jit.instantiate`` binds ``game`` to a game's kernel.

No loop knows a game. ``options`` is an ``options.EpisodeOptions``. Arrays are indexed by table: ``legal (B,) int64`` legal
actions as bits, ``mask (B, A) bool`` the same as rows, ``observation (B, size) uint8`` of the seat to act,
``reward (B, n) int32`` net result since the last call, ``credited (B, n) int32`` the part of the running round's payoffs that
was already returned as reward, ``deals (B,) int64`` rounds begun, ``done (B,) bool`` whether an episode ended, and
``scratch (n,) int32``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.compiler.intrinsics import prefetch_record
from nainjaune_env.compiler.jit import inlined, jit, replaced_by
from nainjaune_env.core.bits import count, lowest, nth_lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.prng import advance, mix
from nainjaune_env.core.table import Stage, Table

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""

ONE = np.int64(1)
OK = -1
"""Result of ``first_illegal`` if every action is legal."""
MOST_SKIPPED = 1000
"""Episodes without a decision that a reset skips at a table."""
AHEAD = 3
"""Tables between that of a step and that which is loaded: a load takes about as long as two steps."""
NO_ACTION = -1
"""Stands for the absence of an action."""


@jit
def begin(table: Table, rules: Any, options: Any, values: Any, afresh: Any) -> None:
    """Deals the first round of an episode: of a new match if ``afresh``, or if the match is over or not carried."""
    if afresh or not options.carry or table.stage == Stage.MATCH_OVER:
        game.start(table, rules)
        if values.size > 0:
            game.set_start_values(table, rules, values)
    game.deal(table, rules)


@inlined
def collect(table: Table, rules: Any, reward: Any, credited: Any) -> None:
    """Writes the payoffs not yet credited to ``reward (n,)``, and credits them."""
    game.payoffs(table, rules, reward)
    for seat in range(rules.players):
        payoff = reward[seat]
        reward[seat] = payoff - credited[seat]
        credited[seat] = payoff


@inlined
def play_to_decision(table: Table, rules: Any, options: Any, credited: Any, deals: Any, scratch: Any) -> Any:
    """Plays forced plies up to the next decision or the end of the episode; returns the legal actions, 0 at the end.

    ``credited (n,)`` and ``deals (1,)`` are those of the table. The payoffs of a round that ends on the way are subtracted from
    ``credited``, so that the next reward contains them.
    """
    while True:
        if table.stage != Stage.PLAYING:
            if not options.whole_match or table.stage == Stage.MATCH_OVER:
                return np.int64(0)
            game.payoffs(table, rules, scratch)
            for seat in range(rules.players):
                credited[seat] -= scratch[seat]
            game.deal(table, rules)
            deals[0] += 1
        legal_bits = game.legal(table, rules)
        if not options.skip_forced or game.needs_decision(table, rules, legal_bits):
            return legal_bits
        game.play_forced(table, rules, legal_bits)


@inlined
def write_mask(legal_bits: Any, mask: Any) -> None:
    """Writes the set ``legal_bits`` to ``mask (A,)``, a boolean for each action."""
    for action in range(mask.size):
        mask[action] = legal_bits >> action & 1


@inlined
def refresh(tables: Any, rules: Any, options: Any, i: Any, legal_bits: Any, legal: Any, observation: Any, mask: Any) -> None:
    """Writes the legal actions, the observation and the mask of table ``i``, where ``legal_bits`` are legal."""
    legal[i] = legal_bits
    if options.observe:
        game.encode(tables[i], rules, tables[i].seat, observation[i])
        write_mask(legal_bits, mask[i])


@jit
def reset_tables(
    tables: Any, rules: Any, options: Any, which: Any, seeds: Any, values: Any, afresh: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Begins an episode at the tables ``which (K,) int64``, their generators set to ``seeds (K,) uint64``: see :func:`begin`.

    With autoreset episodes without a decision are skipped, as in :func:`arrive`, at most :data:`MOST_SKIPPED`: under some rules
    no episode has one.
    """
    for k in range(which.size):
        i = which[k]
        tables[i].rng = seeds[k]
        begin(tables[i], rules, options, values[i], afresh)
        enter(tables, rules, options, i, legal, observation, mask, reward, credited, deals, done, scratch)
        skipped = 0
        while done[i] and options.autoreset and skipped < MOST_SKIPPED:
            begin(tables[i], rules, options, values[i], False)
            enter(tables, rules, options, i, legal, observation, mask, reward, credited, deals, done, scratch)
            skipped += 1


@jit
def deal_tables(tables: Any, rules: Any, options: Any, which: Any, seeds: Any, values: Any, afresh: Any) -> None:
    """Deals at the tables ``which (K,)``, their generators set to ``seeds (K,) uint64``, and makes no ply: see :func:`begin`."""
    for k in range(which.size):
        i = which[k]
        tables[i].rng = seeds[k]
        begin(tables[i], rules, options, values[i], afresh)


@jit
def enter_tables(
    tables: Any, rules: Any, options: Any, which: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Begins episodes at the tables ``which`` as they stand, after they were set from outside."""
    for k in range(which.size):
        enter(tables, rules, options, which[k], legal, observation, mask, reward, credited, deals, done, scratch)


@jit
def enter(
    tables: Any, rules: Any, options: Any, i: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Begins an episode at table ``i``, with nothing credited."""
    for seat in range(rules.players):
        reward[i, seat] = 0
        credited[i, seat] = 0
    deals[i] += 1
    legal_bits = play_to_decision(tables[i], rules, options, credited[i], deals[i : i + 1], scratch)
    done[i] = legal_bits == 0
    if legal_bits == 0:  # no seat has a decision, so no later step returns the payoffs
        collect(tables[i], rules, reward[i], credited[i])
    refresh(tables, rules, options, i, legal_bits, legal, observation, mask)


@jit
def first_illegal(legal: Any, done: Any, options: Any, which: Any, actions: Any) -> Any:
    """Returns the first k whose action is illegal at table ``which[k]``, or ``OK``; tables at rest are skipped."""
    for k in range(which.size):
        i = which[k]
        if done[i] and not options.autoreset:
            continue
        action = actions[k]
        if action < 0 or action > 62 or not legal[i] >> action & 1:
            return k
    return OK


@replaced_by(prefetch_record)
def prefetch(tables: Any, at: Any) -> None:
    """Begins to load ``tables[at]`` into the cache of the processor."""


@jit
def step_tables(
    tables: Any, rules: Any, options: Any, which: Any, actions: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Takes ``actions (K,)``, all legal, at the tables ``which (K,) int64``, except at those at rest."""
    for k in range(which.size):
        prefetch(tables, which[min(k + AHEAD, which.size - 1)])
        i = which[k]
        if done[i] and not options.autoreset:
            for seat in range(rules.players):
                reward[i, seat] = 0
            continue
        table = tables[i]
        game.step(table, rules, np.int64(actions[k]))
        legal_bits = play_to_decision(table, rules, options, credited[i], deals[i : i + 1], scratch)
        arrive(tables, rules, options, i, legal_bits, values, legal, observation, mask, reward, credited, deals, done, scratch)


@inlined
def arrive(
    tables: Any, rules: Any, options: Any, i: Any, legal_bits: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Writes the results of a step of table ``i``; ``legal_bits`` 0: the episode is over."""
    table = tables[i]
    collect(table, rules, reward[i], credited[i])
    done[i] = legal_bits == 0
    if legal_bits == 0 and options.autoreset:
        while legal_bits == 0:  # an episode without a decision is skipped
            begin(table, rules, options, values[i], False)
            deals[i] += 1
            for seat in range(rules.players):
                credited[i, seat] = 0
            legal_bits = play_to_decision(table, rules, options, credited[i], deals[i : i + 1], scratch)
    refresh(tables, rules, options, i, legal_bits, legal, observation, mask)


@inlined
def random_action(legal_bits: Any, streams: Any, i: Any) -> Any:
    """Returns a uniformly random action of ``legal_bits``, not 0; ``streams[i]`` advances only if there are several."""
    if legal_bits & (legal_bits - 1):
        streams[i] = advance(streams[i])
        n = np.int64((mix(streams[i]) >> np.uint64(32)) * np.uint64(count(legal_bits)) >> np.uint64(32))
        return nth_lowest(legal_bits, n)
    return lowest(legal_bits)


@inlined
def forced_action(table: Table, rules: Any, legal_bits: Any) -> Any:
    """Returns the one action of ``legal_bits`` if the seat to act has no decision to make, else ``NO_ACTION``."""
    if game.needs_decision(table, rules, legal_bits):
        return NO_ACTION
    return lowest(legal_bits)


@inlined
def recorded_action(table: Table, rules: Any, legal_bits: Any, actions: Any, used: Any, t: Any) -> Any:
    """Returns the next action of episode t, and whether it is a decision.

    The decisions are ``actions[:, t]`` of ``actions (P, T) int8``; ``used`` of them were made before. The action is ``NO_ACTION``
    if none is left or the next one is not in ``legal_bits``.
    """
    forced = forced_action(table, rules, legal_bits)
    if forced != NO_ACTION:
        return np.int64(forced), False
    action = np.int64(actions[used, t]) if used < actions.shape[0] else np.int64(NO_ACTION)
    return action if action >= 0 and legal_bits >> action & 1 else np.int64(NO_ACTION), True


@jit
def choose_uniform(legal: Any, streams: Any, actions: Any) -> None:
    """Draws a uniformly random legal action for each table from ``streams (B,) uint64``; 0 where no action is legal."""
    for i in range(legal.size):
        actions[i] = random_action(legal[i], streams, i) if legal[i] else 0


@jit
def play_out_tables(
    tables: Any, rules: Any, options: Any, which: Any, streams: Any, steps: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Plays the tables ``which (K,) int64`` uniformly at random to the end of their episodes; ``steps (B,)`` counts the actions.

    These are drawn from ``streams (B,) uint64`` as in :func:`choose_uniform`. Tables at rest are skipped.
    """
    for k in range(which.size):
        i = which[k]
        steps[i] = 0
        table, legal_bits = tables[i], legal[i]
        while legal_bits:
            game.step(table, rules, random_action(legal_bits, streams, i))
            legal_bits = play_to_decision(table, rules, options, credited[i], deals[i : i + 1], scratch)
            steps[i] += 1
        if steps[i]:
            arrive(
                tables, rules, options, i, legal_bits, values, legal, observation, mask, reward, credited, deals, done, scratch
            )
        else:
            for seat in range(rules.players):
                reward[i, seat] = 0


@jit
def redact_tables(tables: Any, rules: Any, seats: Any) -> None:
    """Wipes from each table all that ``seats[i]`` may not know."""
    for i in range(tables.size):
        game.redact(tables[i], rules, seats[i])


@jit
def resample_tables(tables: Any, rules: Any, owner: Any, states: Any, memory: Any, out: Any) -> None:
    """Writes a determinization of ``tables[owner[w]]`` to ``out[w]`` for each w of ``owner (N,) int64``.

    ``tables (K,)`` are redacted for their seats to act. Those of table i are drawn from ``states[i]``, which advances, of
    ``states (K,) uint64``; adjacent ones of one table are drawn together, with ``memory (M,) float64`` as scratch.
    """
    w = 0
    while w < owner.size:
        i, first = owner[w], w
        while w < owner.size and owner[w] == i:
            out[w] = tables[i]
            states[i] = advance(states[i])
            out[w].rng = mix(states[i])
            w += 1
        game.resample_many(out[first:w], rules, np.int64(tables[i].seat), memory)


@jit
def observe_tables(tables: Any, rules: Any, seats: Any, observation: Any) -> None:
    """Writes what ``seats[i]`` observes at each table to ``observation (B, size) uint8``."""
    for i in range(tables.size):
        game.encode(tables[i], rules, seats[i], observation[i])


@jit
def payoffs_of_tables(tables: Any, rules: Any, payoffs: Any) -> None:
    """Writes the payoffs of the round at each table so far to ``payoffs (B, n) int32``."""
    for i in range(tables.size):
        game.payoffs(tables[i], rules, payoffs[i])


@jit
def legal_at(tables: Any, rules: Any, i: Any) -> Any:
    """Returns the legal actions at table ``i`` as bits."""
    return game.legal(tables[i], rules)


@jit
def step_one(tables: Any, rules: Any, i: Any, action: Any) -> None:
    """Makes one ply at table ``i``; the action must be legal."""
    game.step(tables[i], rules, action)


@jit
def deal_one(tables: Any, rules: Any, i: Any) -> None:
    """Deals the next round of the match at table ``i``."""
    game.deal(tables[i], rules)
