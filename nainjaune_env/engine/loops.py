"""The compiled loops over a batch of tables, written once; ``jit.instantiate`` binds ``game`` to a game's kernel.

Nothing in here knows a game. A ``options.EpisodeOptions`` says how plies make episodes. Arrays are indexed by table:
``legal (B,) int64`` masks as words, ``mask (B, A) bool`` the same as rows, ``observation (B, size) uint8``
of the seat to act, ``reward (B, n) int32`` net result since the last call, ``credited (B, n) int32`` what of
the running round's payoffs has been handed out as reward, ``deals (B,) int64`` rounds begun, ``done (B,) bool`` whether
an episode ended.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest, nth_lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.prng import advance, mix
from nainjaune_env.core.table import Stage

game: Any
"""The kernel module of a game; bound by ``jit.instantiate``."""

ONE = np.int64(1)
OK = -1
"""What ``first_illegal`` returns when every action is legal."""
NO_ACTION = -1
"""In place of an action: there is none."""


@jit
def begin(table: Any, rules: Any, options: Any, values: Any, afresh: Any) -> None:
    """Deal the first round of an episode: of a new match if ``afresh``, or if the match is over or not carried."""
    if afresh or not options.carry or table.stage == Stage.MATCH_OVER:
        game.start(table, rules)
        if values.size > 0:
            game.set_start_values(table, rules, values)
    game.deal(table, rules)


@inlined
def collect(table: Any, rules: Any, reward: Any, credited: Any) -> None:
    """What the seats have gained since the last time, into ``reward``."""
    game.payoffs(table, rules, reward)
    for seat in range(rules.players):
        payoff = reward[seat]
        reward[seat] = payoff - credited[seat]
        credited[seat] = payoff


@inlined
def run_on(table: Any, rules: Any, options: Any, credited: Any, deals: Any, scratch: Any) -> Any:
    """Go on to where somebody must choose, or to the end of the episode; gives the legal word (0 at the end).

    ``credited`` and ``deals (1,)`` are the table's own. A round that ends on the way leaves what it owes in ``credited``.
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
    """A legal word as a row of booleans."""
    for action in range(mask.size):
        mask[action] = legal_bits >> action & 1


@inlined
def refresh(tables: Any, rules: Any, options: Any, i: Any, legal_bits: Any, legal: Any, observation: Any, mask: Any) -> None:
    """Write what there is to see at table ``i``, where ``legal_bits`` are legal."""
    legal[i] = legal_bits
    if options.observe:
        game.encode(tables[i], rules, tables[i].seat, observation[i])
        write_mask(legal_bits, mask[i])


@jit
def reset_tables(
    tables: Any, rules: Any, options: Any, which: Any, seeds: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """New matches at the tables ``which (K,) int64``, their generators set to ``seeds (K,) uint64``."""
    for k in range(which.size):
        i = which[k]
        tables[i].rng = seeds[k]
        begin(tables[i], rules, options, values[i], True)
        enter(tables, rules, options, i, legal, observation, mask, reward, credited, deals, done, scratch)


@jit
def enter_tables(
    tables: Any, rules: Any, options: Any, which: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Take up the tables ``which`` as they stand: they were set up from outside."""
    for k in range(which.size):
        enter(tables, rules, options, which[k], legal, observation, mask, reward, credited, deals, done, scratch)


@jit
def enter(
    tables: Any, rules: Any, options: Any, i: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Begin to play at table ``i``: nothing has been handed out yet."""
    for seat in range(rules.players):
        reward[i, seat] = 0
        credited[i, seat] = 0
    deals[i] += 1
    legal_bits = run_on(tables[i], rules, options, credited[i], deals[i : i + 1], scratch)
    done[i] = legal_bits == 0
    if legal_bits == 0:  # nobody had a choice: no step will come that could hand out the payoffs
        collect(tables[i], rules, reward[i], credited[i])
    refresh(tables, rules, options, i, legal_bits, legal, observation, mask)


@jit
def first_illegal(legal: Any, done: Any, options: Any, which: Any, actions: Any) -> Any:
    """The first of the tables ``which (K,)`` whose action is not legal, as its place there, or ``OK``; none at rest counts."""
    for k in range(which.size):
        i = which[k]
        if done[i] and not options.autoreset:
            continue
        action = actions[k]
        if action < 0 or action > 62 or not legal[i] >> action & 1:
            return k
    return OK


@jit
def step_tables(
    tables: Any, rules: Any, options: Any, which: Any, actions: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """One action at each of the tables ``which (K,) int64`` that is not at rest; all of ``actions (K,)`` must be legal."""
    for k in range(which.size):
        i = which[k]
        if done[i] and not options.autoreset:
            for seat in range(rules.players):
                reward[i, seat] = 0
            continue
        table = tables[i]
        game.step(table, rules, np.int64(actions[k]))
        legal_bits = run_on(table, rules, options, credited[i], deals[i : i + 1], scratch)
        arrive(tables, rules, options, i, legal_bits, values, legal, observation, mask, reward, credited, deals, done, scratch)


@inlined
def arrive(
    tables: Any, rules: Any, options: Any, i: Any, legal_bits: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Writes the reward of table ``i`` and what its next seat observes; ``legal_bits`` 0: the episode is over."""
    table = tables[i]
    collect(table, rules, reward[i], credited[i])
    done[i] = legal_bits == 0
    if legal_bits == 0 and options.autoreset:
        while legal_bits == 0:  # an episode without a single choice has nothing to show
            begin(table, rules, options, values[i], False)
            deals[i] += 1
            for seat in range(rules.players):
                credited[i, seat] = 0
            legal_bits = run_on(table, rules, options, credited[i], deals[i : i + 1], scratch)
    refresh(tables, rules, options, i, legal_bits, legal, observation, mask)


@inlined
def any_of(legal_bits: Any, streams: Any, i: Any) -> Any:
    """Returns a uniformly random one of ``legal_bits``, not 0; ``streams[i]`` moves on only where there are several."""
    if legal_bits & (legal_bits - 1):
        streams[i] = advance(streams[i])
        n = np.int64((mix(streams[i]) >> np.uint64(32)) * np.uint64(count(legal_bits)) >> np.uint64(32))
        return nth_lowest(legal_bits, n)
    return lowest(legal_bits)


@inlined
def forced_action(table: Any, rules: Any, legal_bits: Any) -> Any:
    """The one action of ``legal_bits`` where the seat to act has no decision to make; else ``NO_ACTION``."""
    if game.needs_decision(table, rules, legal_bits):
        return NO_ACTION
    return lowest(legal_bits)


@inlined
def recorded_action(table: Any, rules: Any, legal_bits: Any, actions: Any, used: Any, t: Any) -> Any:
    """The next action of episode t, whose decisions are ``actions[:, t]``, ``(P, T) int8``, ``used`` of them so far.

    Returns the action and whether it is a decision. The action is ``NO_ACTION`` where the decisions have run out or the next one
    is not among the legal ``legal_bits``.
    """
    forced = forced_action(table, rules, legal_bits)
    if forced != NO_ACTION:
        return np.int64(forced), False
    action = np.int64(actions[used, t]) if used < actions.shape[0] else np.int64(NO_ACTION)
    return action if action >= 0 and legal_bits >> action & 1 else np.int64(NO_ACTION), True


@jit
def choose_uniform(legal: Any, streams: Any, actions: Any) -> None:
    """A uniformly random legal action at every table, from ``streams (B,) uint64``; 0 where nothing is legal."""
    for i in range(legal.size):
        actions[i] = any_of(legal[i], streams, i) if legal[i] else 0


@jit
def play_out_tables(
    tables: Any, rules: Any, options: Any, which: Any, streams: Any, steps: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Uniformly random actions at each of the tables ``which (K,) int64`` to the end of its episode; ``steps (B,)`` counts them.

    They are drawn from ``streams (B,) uint64`` as in :func:`choose_uniform`. Tables at rest stay so.
    """
    for k in range(which.size):
        i = which[k]
        steps[i] = 0
        table, legal_bits = tables[i], legal[i]
        while legal_bits:
            game.step(table, rules, any_of(legal_bits, streams, i))
            legal_bits = run_on(table, rules, options, credited[i], deals[i : i + 1], scratch)
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
    """Wipe from each table all that ``seats[i]`` may not know."""
    for i in range(tables.size):
        game.redact(tables[i], rules, seats[i])


@jit
def resample_tables(tables: Any, rules: Any, owner: Any, states: Any, memory: Any, worlds: Any) -> None:
    """Into each of ``worlds (N,)`` the one of ``tables (K,)`` with number ``owner (N,) int64``, what was wiped drawn anew.

    The tables are wiped for their seats to act; what is drawn comes from each one's own of ``states (K,) uint64``, which move on.
    Those of one owner in a row are drawn together, with ``memory (M,) float64`` to count in.
    """
    w = 0
    while w < owner.size:
        i, first = owner[w], w
        while w < owner.size and owner[w] == i:
            worlds[w] = tables[i]
            states[i] = advance(states[i])
            worlds[w].rng = mix(states[i])
            w += 1
        game.resample_many(worlds[first:w], rules, np.int64(tables[i].seat), memory)


@jit
def observe_tables(tables: Any, rules: Any, seats: Any, observation: Any) -> None:
    """What ``seats[i]`` observes at each table, into ``observation (B, size) uint8``."""
    for i in range(tables.size):
        game.encode(tables[i], rules, seats[i], observation[i])


@jit
def legal_word(tables: Any, rules: Any, i: Any) -> Any:
    """The legal actions at table ``i``, as a word."""
    return game.legal(tables[i], rules)


@jit
def step_one(tables: Any, rules: Any, i: Any, action: Any) -> None:
    """One ply at table ``i``; the action must be legal."""
    game.step(tables[i], rules, action)


@jit
def deal_one(tables: Any, rules: Any, i: Any) -> None:
    """The next round of the match at table ``i``."""
    game.deal(tables[i], rules)
