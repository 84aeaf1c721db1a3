"""The compiled loops over a batch of tables, written once; ``jit.instantiate`` binds ``game`` to a game's kernel.

Nothing in here knows a game. A ``mode.Mode`` says how plies make episodes. Arrays are indexed by table:
``legal (B,) int64`` masks as words, ``mask (B, A) bool`` the same as rows, ``observation (B, size) uint8``
of the seat to act, ``reward (B, n) int32`` net result since the last call, ``credited (B, n) int32`` what of
the running round's payoffs has been handed out as reward, ``deals (B,) int64`` rounds begun, ``done (B,) bool`` whether
an episode ended.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.prng import advance, mix

game: Any
"""The kernel module of a game; bound by ``jit.instantiate``."""

PLAYING, MATCH_OVER = 0, 2
ONE = np.int64(1)
OK = -1
"""What ``first_illegal`` gives when every action is legal."""


@jit
def begin(table: Any, rules: Any, mode: Any, values: Any, afresh: Any) -> None:
    """Deal the first round of an episode: of a new match if ``afresh``, or if the match is over or not carried."""
    if afresh or not mode.carry or table.stage == MATCH_OVER:
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
def run_on(table: Any, rules: Any, mode: Any, credited: Any, deals: Any, scratch: Any) -> Any:
    """Go on to where somebody must choose, or to the end of the episode; gives the legal word (0 at the end).

    ``credited`` and ``deals (1,)`` are the table's own. A round that ends on the way leaves what it owes in ``credited``.
    """
    while True:
        if table.stage != PLAYING:
            if not mode.whole_match or table.stage == MATCH_OVER:
                return np.int64(0)
            game.payoffs(table, rules, scratch)
            for seat in range(rules.players):
                credited[seat] -= scratch[seat]
            game.deal(table, rules)
            deals[0] += 1
        moves = game.legal(table, rules)
        if not mode.skip_forced or game.needs_decision(table, rules, moves):
            return moves
        game.play_forced(table, rules, moves)


@inlined
def write_mask(moves: Any, mask: Any) -> None:
    """A legal word as a row of booleans."""
    for action in range(mask.size):
        mask[action] = moves >> action & 1


@inlined
def refresh(tables: Any, rules: Any, mode: Any, i: Any, moves: Any, legal: Any, observation: Any, mask: Any) -> None:
    """Write what there is to see at table ``i``, where ``moves`` are legal."""
    legal[i] = moves
    if mode.observe:
        game.encode(tables[i], rules, tables[i].seat, observation[i])
        write_mask(moves, mask[i])


@jit
def reset_tables(
    tables: Any, rules: Any, mode: Any, which: Any, seeds: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """New matches at the tables ``which (K,) int64``, their generators set to ``seeds (K,) uint64``."""
    for k in range(which.size):
        i = which[k]
        tables[i].rng = seeds[k]
        begin(tables[i], rules, mode, values[i], True)
        enter(tables, rules, mode, i, legal, observation, mask, reward, credited, deals, done, scratch)


@jit
def enter_tables(
    tables: Any, rules: Any, mode: Any, which: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Take up the tables ``which`` as they stand: they were set up from outside."""
    for k in range(which.size):
        enter(tables, rules, mode, which[k], legal, observation, mask, reward, credited, deals, done, scratch)


@jit
def enter(
    tables: Any, rules: Any, mode: Any, i: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Begin to play at table ``i``: nothing has been handed out yet."""
    for seat in range(rules.players):
        reward[i, seat] = 0
        credited[i, seat] = 0
    deals[i] += 1
    moves = run_on(tables[i], rules, mode, credited[i], deals[i : i + 1], scratch)
    done[i] = moves == 0
    if moves == 0:  # nobody had a choice: no step will come that could hand out the payoffs
        collect(tables[i], rules, reward[i], credited[i])
    refresh(tables, rules, mode, i, moves, legal, observation, mask)


@jit
def first_illegal(legal: Any, done: Any, mode: Any, which: Any, actions: Any) -> Any:
    """The first of the tables ``which (K,)`` whose action is not legal, as its place there, or ``OK``; none at rest counts."""
    for k in range(which.size):
        i = which[k]
        if done[i] and not mode.autoreset:
            continue
        action = actions[k]
        if action < 0 or action > 62 or not legal[i] >> action & 1:
            return k
    return OK


@jit
def step_tables(
    tables: Any, rules: Any, mode: Any, which: Any, actions: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """One action at each of the tables ``which (K,) int64`` that is not at rest; all of ``actions (K,)`` must be legal."""
    for k in range(which.size):
        i = which[k]
        if done[i] and not mode.autoreset:
            for seat in range(rules.players):
                reward[i, seat] = 0
            continue
        table = tables[i]
        game.step(table, rules, np.int64(actions[k]))
        moves = run_on(table, rules, mode, credited[i], deals[i : i + 1], scratch)
        arrive(tables, rules, mode, i, moves, values, legal, observation, mask, reward, credited, deals, done, scratch)


@inlined
def arrive(
    tables: Any, rules: Any, mode: Any, i: Any, moves: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Hand out what was gained at table ``i``, where ``moves`` are legal, or none is and the episode over; show what is next."""
    table = tables[i]
    collect(table, rules, reward[i], credited[i])
    done[i] = moves == 0
    if moves == 0 and mode.autoreset:
        while moves == 0:  # an episode without a single choice has nothing to show
            begin(table, rules, mode, values[i], False)
            deals[i] += 1
            for seat in range(rules.players):
                credited[i, seat] = 0
            moves = run_on(table, rules, mode, credited[i], deals[i : i + 1], scratch)
    refresh(tables, rules, mode, i, moves, legal, observation, mask)


@inlined
def any_of(moves: Any, streams: Any, i: Any) -> Any:
    """A uniformly random one of ``moves``, not 0, drawn from number ``i`` of ``streams``; drawn only where there are several."""
    if moves & (moves - 1):
        streams[i] = advance(streams[i])
        skip = np.int64((mix(streams[i]) >> np.uint64(32)) * np.uint64(count(moves)) >> np.uint64(32))
        for _ in range(skip):
            moves &= moves - 1
    return lowest(moves)


@jit
def choose_uniform(legal: Any, streams: Any, actions: Any) -> None:
    """A uniformly random legal action at every table, from ``streams (B,) uint64``; 0 where nothing is legal."""
    for i in range(legal.size):
        actions[i] = any_of(legal[i], streams, i) if legal[i] else 0


@jit
def play_out_tables(
    tables: Any, rules: Any, mode: Any, which: Any, streams: Any, steps: Any, values: Any,
    legal: Any, observation: Any, mask: Any, reward: Any, credited: Any, deals: Any, done: Any, scratch: Any,
) -> None:  # fmt: skip
    """Uniformly random actions at each of the tables ``which (K,) int64`` to the end of its episode; ``steps (B,)`` counts them.

    They are drawn from ``streams (B,) uint64`` as in :func:`choose_uniform`. Tables at rest stay so.
    """
    for k in range(which.size):
        i = which[k]
        steps[i] = 0
        table, moves = tables[i], legal[i]
        while moves:
            game.step(table, rules, any_of(moves, streams, i))
            moves = run_on(table, rules, mode, credited[i], deals[i : i + 1], scratch)
            steps[i] += 1
        if steps[i]:
            arrive(tables, rules, mode, i, moves, values, legal, observation, mask, reward, credited, deals, done, scratch)
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
