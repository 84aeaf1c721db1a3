"""Compiled rounds that are played to their end and tallied on the way; ``jit.instantiate`` binds a game and its tally.

Each seat has a policy number: compiled policies, the numbers of ``search.policies.CompiledPolicy``, play here; the loop stops at
the decisions of other policies.
"""

from __future__ import annotations

from typing import Any

from nainjaune_env.analysis.loops import sharing
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.bits import lowest
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage

game: Kernel
"""The kernel of a game; bound by ``jit.instantiate``."""
measures: Any
"""What the game counts (``stat_hook.Measures``)."""
rollouts: Any
"""Its ``search.rollout_loops``."""

EXTERNAL = -2
"""The first of the policies that do not play in compiled code; the others count down from here."""
BEST = -1
"""A column that is not of the tally: whether no seat got more (``advice_hook.BEST``)."""


@jit
def step(tables: Any, i: Any, rules: Any, legal_bits: Any, action: Any, before: Any, tallies: Any) -> None:
    """Plays and tallies one ply at table ``i``; ``before (1,)`` is scratch for a table."""
    if measures.counts(tables[i], rules, legal_bits, action):
        before[0] = tables[i]
        game.step(tables[i], rules, action)
        measures.ply(before[0], tables[i], rules, legal_bits, action, tallies[i])
    else:
        game.step(tables[i], rules, action)


@jit
def play_to_decision(
    tables: Any, rules: Any, policies: Any, actions: Any, playing: Any,
    before: Any, tallies: Any, legal: Any, observation: Any, acting: Any,
) -> Any:  # fmt: skip
    """Plays one of ``actions (K,) int64`` at each of the tables ``playing[:K]``, and on to an external decision or the end.

    ``policies (n,)`` are numbers by seat. Returns L, the number of tables at an external decision. Writes these to
    ``playing[:L]`` in the same order, and their legal actions, the observations of the seats to act and the indices of the
    external policies to ``legal``, ``observation`` and ``acting``. ``tallies (N, n)`` are those of all tables.
    """
    waiting = 0
    for k in range(actions.size):
        i, table = playing[k], tables[playing[k]]
        step(tables, i, rules, game.legal(table, rules), actions[k], before, tallies)
        while table.stage == Stage.PLAYING:
            legal_bits = game.legal(table, rules)
            if game.needs_decision(table, rules, legal_bits):
                policy = policies[table.seat]
                if policy <= EXTERNAL:
                    playing[waiting], legal[waiting], acting[waiting] = i, legal_bits, EXTERNAL - policy
                    game.encode(table, rules, table.seat, observation[waiting])
                    waiting += 1
                    break
                action = rollouts.choose(table, rules, policy, legal_bits)
            else:
                action = lowest(legal_bits)
            step(tables, i, rules, legal_bits, action, before, tallies)
    return waiting


@jit
def collect(
    tables: Any, rules: Any, seats: Any, before: Any, columns: Any, tallies: Any, numbers: Any, payoff: Any, out: Any
) -> None:
    """Writes the outcomes of ``tables (N,)``, whose rounds are over, for ``seats (N,)`` to ``out (N, 1 + C)``.

    The first column is the payoff minus ``before (N,)``; the others are the ``columns (C,)`` of the seat's tally, or ``BEST``.
    ``numbers (N, n, T) int64`` is a view of ``tallies (N, n)``.
    """
    for i in range(tables.size):
        measures.end(tables[i], rules, tallies[i])
        game.payoffs(tables[i], rules, payoff)
        out[i, 0] = payoff[seats[i]] - before[i]
        for c in range(columns.size):
            if columns[c] == BEST:
                same = sharing(payoff, seats[i])
                out[i, 1 + c] = 1.0 / same if same else 0.0
            else:
                out[i, 1 + c] = numbers[i, seats[i], columns[c]]
