"""Compiled loops that replay episodes and write the columns of each decision; ``jit.instantiate`` binds the names below.

They replay episodes from their openings and decisions, as ``stat_loops`` does, so that play itself writes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.feature_hook import FeatureHooks
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage

game: Kernel
"""The kernel of a game."""
loops: Any
"""``engine.loops`` for the same game."""
measures: Measures
"""The statistics of the game."""
features: FeatureHooks
"""The columns of the game."""

OK = -1
"""Result of :func:`survey` if every episode reached its end."""


@jit
def survey(openings: Any, rules: Any, whole: Any, every_ply: Any, actions: Any, scratch: Any, rows: Any, rounds: Any) -> Any:
    """Counts the ``rows (T,)`` and ``rounds (T,)`` of each episode; other arguments are those of :func:`retrace`.

    Returns the first episode whose actions run out or are illegal, or ``OK``.
    """
    table = scratch[0]
    for t in range(openings.size):
        scratch[0] = openings[t]
        used, plies = 0, 0
        rounds[t] = 1
        while True:
            while table.stage == Stage.PLAYING:
                legal_bits = game.legal(table, rules)
                action, decided = loops.recorded_action(table, rules, legal_bits, actions, used, t)
                if action == loops.NO_ACTION:
                    return t
                game.step(table, rules, action)
                used += decided
                plies += 1
            if not whole or table.stage == Stage.MATCH_OVER:
                break
            game.deal(table, rules)
            rounds[t] += 1
        rows[t] = plies if every_ply else used
    return OK


@jit
def retrace(
    openings: Any, rules: Any, whole: Any, every_ply: Any, actions: Any, scratch: Any,
    decisions: Any, positions: Any, choices: Any, seats: Any, dealt: Any, tallies: Any,
    keep: Any, kept: Any, kept_row: Any, payoff: Any,
) -> Any:  # fmt: skip
    """Replays T episodes with the decisions ``actions (P, T) int8``, which :func:`survey` has checked, and writes their rows.

    ``whole``: an episode is a match, not a round. ``every_ply``: there is a row for each ply, not only for decisions. Rows are in
    the order of episodes: R rows of plies in ``decisions``, ``positions`` and ``choices``, S rows of the seats of each round in
    ``seats``, ``dealt`` and ``tallies``. For decisions with a choice where ``keep (P, T)`` is true, the table, redacted for its
    seat to act, goes to ``kept`` and the row number to ``kept_row``. Returns the number of these. ``scratch (2,)`` holds two
    tables, ``payoff (n,) int32`` the payoffs.
    """
    table, before = scratch[0], scratch[1]
    n = rules.players
    row, at, number = 0, 0, 0
    for t in range(openings.size):
        scratch[0] = openings[t]
        used, played = 0, 0
        while True:
            first, leader, ply, decision = row, np.int64(table.seat), 0, 0
            played += 1
            for each in range(n):
                features.position(table, rules, each, dealt[at + each])
            measures.begin(table, rules, tallies[at : at + n])
            while table.stage == Stage.PLAYING:
                seat = np.int64(table.seat)
                legal_bits = game.legal(table, rules)
                action, decided = loops.recorded_action(table, rules, legal_bits, actions, used, t)
                ply += 1
                if decided or every_ply:
                    decision += decided
                    seats[at + seat].decisions += decided
                    game.payoffs(table, rules, payoff)
                    out = decisions[row]
                    out.round_number, out.ply, out.decision = played, ply, decision if decided else 0
                    out.seat, out.distance = seat, (seat + n - leader) % n
                    out.legal, out.choices, out.action, out.forced = legal_bits, count(legal_bits), action, not decided
                    out.earned = payoff[seat]
                    features.position(table, rules, seat, positions[row])
                    features.action(table, rules, action, choices[row])
                    if decided and keep[used, t] and legal_bits & (legal_bits - 1):
                        kept[number] = table
                        game.redact(kept[number], rules, seat)
                        kept_row[number] = row
                        number += 1
                    row += 1
                used += decided
                if measures.counts(table, rules, legal_bits, action):
                    scratch[1] = table
                    game.step(table, rules, action)
                    measures.ply(before, table, rules, legal_bits, action, tallies[at : at + n])
                else:
                    game.step(table, rules, action)
            measures.end(table, rules, tallies[at : at + n])
            game.payoffs(table, rules, payoff)
            for each in range(n):
                mine = seats[at + each]
                mine.round_number, mine.seat, mine.distance, mine.plies = played, each, (each + n - leader) % n, ply
                mine.payoff, mine.sharing = payoff[each], sharing(payoff, each)
            for earlier in range(first, row):
                out = decisions[earlier]
                out.payoff, out.sharing = payoff[out.seat], sharing(payoff, out.seat)
                out.to_come = out.payoff - out.earned
            at += n
            if not whole or table.stage == Stage.MATCH_OVER:
                break
            game.deal(table, rules)
    return number


@jit
def describe(tables: Any, rules: Any, owner: Any, actions: Any, choices: Any) -> None:
    """Writes the columns of ``actions[i]`` of the seat to act at ``tables[owner[i]]`` to ``choices[i]``."""
    for i in range(owner.size):
        features.action(tables[owner[i]], rules, actions[i], choices[i])


@inlined
def sharing(payoff: Any, seat: Any) -> Any:
    """Returns the number of seats with the payoff of ``seat`` if none has more, else 0."""
    same = 0
    for other in range(payoff.size):
        if payoff[other] > payoff[seat]:
            return 0
        same += payoff[other] == payoff[seat]
    return same
