"""Rounds played to their end and counted on the way, in compiled code; ``jit.instantiate`` binds a game and what it counts.

Each seat has a mind: a rule of thumb or chance, which play here, or an agent that must be asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count, lowest
from nainjaune_env.core.jit import jit
from nainjaune_env.core.prng import below

game: Any
"""The kernel module of a game; bound by ``jit.instantiate``."""
measures: Any
"""What the game counts (``measure.Measures``)."""
rules_of_thumb: Any
"""Its module in ``heuristics``; ``no_rules`` where it has none."""

PLAYING = 0
UNIFORM = -1
"""A mind: every legal action alike, drawn from the table's own generator. Numbers from 0 are rules of thumb."""
ASKED = -2
"""The first of the minds that must be asked; the others count down from here."""
BEST = -1
"""In place of a number of the tally: whether no seat got more (``outlook.BEST``)."""


@jit
def step(tables: Any, i: Any, rules: Any, moves: Any, action: Any, before: Any, tallies: Any) -> None:
    """One ply at table ``i``, counted; ``before (1,)`` is room for a table."""
    if measures.counts(tables[i], rules, moves, action):
        before[0] = tables[i]
        game.step(tables[i], rules, action)
        measures.ply(before[0], tables[i], rules, moves, action, tallies[i])
    else:
        game.step(tables[i], rules, action)


@jit
def play_on(
    tables: Any, rules: Any, minds: Any, actions: Any, playing: Any,
    before: Any, tallies: Any, legal: Any, observation: Any, asking: Any,
) -> Any:  # fmt: skip
    """One of ``actions (K,) int64`` at each of the tables ``playing[:K]``, and on to where somebody must be asked, or to the end.

    ``minds (n,)`` are the seats'. The L tables of which something is asked are written to ``playing[:L]``, in the order they had,
    with what is legal there, what the seat to act observes, and the number of who is to be asked, in ``legal``, ``observation``
    and ``asking``; gives L. ``tallies (N, n)`` are those of all tables.
    """
    asked = 0
    for k in range(actions.size):
        i, table = playing[k], tables[playing[k]]
        step(tables, i, rules, game.legal(table, rules), actions[k], before, tallies)
        while table.stage == PLAYING:
            moves = game.legal(table, rules)
            if game.needs_decision(table, rules, moves):
                mind = minds[table.seat]
                if mind <= ASKED:
                    playing[asked], legal[asked], asking[asked] = i, moves, ASKED - mind
                    game.encode(table, rules, table.seat, observation[asked])
                    asked += 1
                    break
                if mind == UNIFORM:
                    action = any_of(table, moves)
                else:
                    action = np.int64(rules_of_thumb.play(mind, table, rules, moves))
            else:
                action = lowest(moves)
            step(tables, i, rules, moves, action, before, tallies)
    return asked


@jit
def any_of(table: Any, moves: Any) -> Any:
    """One of the set ``moves``, each alike."""
    for _ in range(below(table, count(moves))):
        moves &= moves - 1
    return lowest(moves)


@jit
def net(tables: Any, rules: Any, seats: Any, payoff: Any, out: Any) -> None:
    """What ``seats (N,)`` have come to so far at ``tables (N,)``, into ``out (N,)``; ``payoff (n,) int32`` is scratch."""
    for i in range(tables.size):
        game.payoffs(tables[i], rules, payoff)
        out[i] = payoff[seats[i]]


@jit
def collect(
    tables: Any, rules: Any, seats: Any, earned: Any, columns: Any, tallies: Any, numbers: Any, payoff: Any, out: Any
) -> None:
    """What came of ``tables (N,)``, whose rounds are over, for ``seats (N,)``, into ``out (N, 1 + C)``.

    First what the seat got since it had ``earned (N,)``; then the numbers ``columns (C,)`` of its tally, or ``BEST``.
    ``numbers (N, n, T) int64`` is the same memory as ``tallies (N, n)``.
    """
    for i in range(tables.size):
        measures.end(tables[i], rules, tallies[i])
        game.payoffs(tables[i], rules, payoff)
        out[i, 0] = payoff[seats[i]] - earned[i]
        for c in range(columns.size):
            if columns[c] == BEST:
                out[i, 1 + c] = share_of_best(payoff, seats[i])
            else:
                out[i, 1 + c] = numbers[i, seats[i], columns[c]]


@jit
def share_of_best(payoff: Any, seat: Any) -> Any:
    """1 where ``seat`` got most, 1/k where k seats did and it is one of them, else 0."""
    as_good = 0
    for other in range(payoff.size):
        if payoff[other] > payoff[seat]:
            return 0.0
        as_good += payoff[other] == payoff[seat]
    return 1.0 / as_good
