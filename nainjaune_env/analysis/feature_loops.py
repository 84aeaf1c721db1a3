"""The compiled loops that play episodes again and write down what stood at each decision; ``jit.instantiate`` binds the rest.

They go from openings and the actions taken, as ``counting`` does, so that playing itself has nothing to do with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.bits import count
from nainjaune_env.core.jit import inlined, jit
from nainjaune_env.core.table import Stage

game: Any
"""The kernel of a game; bound by ``jit.instantiate``."""
loops: Any
"""``engine.loops`` for the same game."""
measures: Any
"""What the game counts (``measure.Measures``); bound likewise."""
study: Any
"""What the game tells a study (``study.FeatureHooks``); bound likewise."""

OK = -1
"""What the loops return when every episode came to its end."""


@jit
def survey(openings: Any, rules: Any, whole: Any, every_ply: Any, actions: Any, room: Any, rows: Any, rounds: Any) -> Any:
    """How many ``rows (T,)`` and ``rounds (T,)`` each episode has. The arguments are those of :func:`retrace`.

    Gives the first episode whose actions run out or are not legal, or ``OK``.
    """
    table = room[0]
    for t in range(openings.size):
        room[0] = openings[t]
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
    openings: Any, rules: Any, whole: Any, every_ply: Any, actions: Any, room: Any,
    decisions: Any, positions: Any, choices: Any, seats: Any, dealt: Any, tallies: Any,
    keep: Any, kept: Any, kept_row: Any, payoff: Any,
) -> Any:  # fmt: skip
    """Play T episodes with the decisions ``actions (P, T) int8``, which are legal and enough (:func:`survey`).

    ``whole``: an episode is a match, not a round. ``every_ply``: a row for each ply, not for decisions alone. The rows of the
    episodes stand one after the other: R for plies in ``decisions``, ``positions`` and ``choices``, and S for the seats of each
    round in ``seats``, ``dealt`` and ``tallies``. Where ``keep (P, T)`` says so of a decision with a choice, the table is put
    into ``kept``, wiped for its seat to act, and the row's number into ``kept_row``; gives how many. ``room (2,)`` is for two
    tables, ``payoff (n,) int32`` for payoffs.
    """
    table, before = room[0], room[1]
    n = rules.players
    row, at, number = 0, 0, 0
    for t in range(openings.size):
        room[0] = openings[t]
        used, played = 0, 0
        while True:
            first, leader, ply, decision = row, np.int64(table.seat), 0, 0
            played += 1
            for each in range(n):
                study.position(table, rules, each, dealt[at + each])
            measures.begin(table, rules, tallies[at : at + n])
            while table.stage == Stage.PLAYING:
                seat = np.int64(table.seat)
                legal_bits = game.legal(table, rules)
                action, asked = loops.recorded_action(table, rules, legal_bits, actions, used, t)
                ply += 1
                if asked or every_ply:
                    decision += asked
                    seats[at + seat].decisions += asked
                    game.payoffs(table, rules, payoff)
                    out = decisions[row]
                    out.round_number, out.ply, out.decision = played, ply, decision if asked else 0
                    out.seat, out.distance = seat, (seat + n - leader) % n
                    out.legal, out.choices, out.action, out.forced = legal_bits, count(legal_bits), action, not asked
                    out.earned = payoff[seat]
                    study.position(table, rules, seat, positions[row])
                    study.action(table, rules, action, choices[row])
                    if asked and keep[used, t] and legal_bits & (legal_bits - 1):
                        kept[number] = table
                        game.redact(kept[number], rules, seat)
                        kept_row[number] = row
                        number += 1
                    row += 1
                used += asked
                if measures.counts(table, rules, legal_bits, action):
                    room[1] = table
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
    """What the seat to act at ``tables[owner[i]]`` would choose by ``actions[i]``, into ``choices[i]``."""
    for i in range(owner.size):
        study.action(tables[owner[i]], rules, actions[i], choices[i])


@inlined
def sharing(payoff: Any, seat: Any) -> Any:
    """How many seats got as much as ``seat``, where none got more; else 0."""
    same = 0
    for other in range(payoff.size):
        if payoff[other] > payoff[seat]:
            return 0
        same += payoff[other] == payoff[seat]
    return same
