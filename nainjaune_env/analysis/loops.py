"""Compiled loops that replay episodes from the log of their plies, to count and describe them, so that play itself does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.analysis.feature_hook import FeatureHooks
from nainjaune_env.analysis.stat_hook import Measures
from nainjaune_env.compiler.jit import inlined, jit
from nainjaune_env.core.bits import count
from nainjaune_env.core.kernel import Kernel
from nainjaune_env.core.table import Stage

# bound by ``jit.instantiate``: the kernel of a game, its statistics, what counts by them, and its columns (None if it has none)
game: Kernel
measures: Measures
counting: Any
features: FeatureHooks


@jit
def count_rounds(
    openings: Any, rules: Any, actions: Any, counts: Any, rows: Any,
    tables: Any, events: Any, tallies: Any, numbers: Any, sums: Any,
) -> None:  # fmt: skip
    """Replays T finished rounds and adds the tallies of the seats to ``sums (R, C) int64``.

    Round t begins with the table ``openings[t]`` and has ``counts[t]`` plies in ``actions (T, P) int8``. The tally of its seat s
    is added to ``sums[rows[t, s]]``, or to none if ``rows[t, s]`` is negative. ``tables (1,)`` and ``events``, an ``Events``, are
    scratch, ``tallies (n,)`` a tally for each seat, and ``numbers (n, C) int64`` a view of them.
    """
    table = tables[0]
    for t in range(openings.size):
        tables[0] = openings[t]
        for seat in range(rules.players):
            for column in range(numbers.shape[1]):
                numbers[seat, column] = 0
        counting.begin_count(table, rules, events, tallies)
        for ply in range(counts[t]):
            counting.count_ply(table, rules, game.legal(table, rules), np.int64(actions[t, ply]), events, tallies)
        measures.end(table, rules, tallies)
        for seat in range(rules.players):
            row = rows[t, seat]
            if row >= 0:
                for column in range(numbers.shape[1]):
                    sums[row, column] += numbers[seat, column]


@jit
def count_rows(openings: Any, rules: Any, every_ply: Any, actions: Any, counts: Any, tables: Any, rows: Any, rounds: Any) -> None:
    """Counts the ``rows (T,)`` and ``rounds (T,)`` of each episode; other arguments are as in :func:`write_rows`."""
    table = tables[0]
    for t in range(openings.size):
        tables[0] = openings[t]
        decisions = 0
        rounds[t] = 1
        for ply in range(counts[t]):
            if table.stage != Stage.PLAYING:
                game.deal(table, rules)
                rounds[t] += 1
            decisions += game.needs_decision(table, rules, game.legal(table, rules))
            game.step(table, rules, np.int64(actions[t, ply]))
        rows[t] = counts[t] if every_ply else decisions


@jit
def write_rows(
    openings: Any, rules: Any, every_ply: Any, actions: Any, counts: Any, tables: Any, events: Any,
    decisions: Any, positions: Any, choices: Any, seats: Any, dealt: Any, tallies: Any,
    keep: Any, kept: Any, kept_row: Any, payoff: Any,
) -> Any:  # fmt: skip
    """Replays T finished episodes, which have ``counts (T,)`` plies in ``actions (T, P) int8``, and writes their rows.

    ``every_ply``: there is a row for each ply, not only for decisions. Rows are in the order of episodes: R rows of plies in
    ``decisions``, ``positions`` and ``choices``, S rows of the seats of each round in ``seats``, ``dealt`` and ``tallies``. For
    decisions with a choice where ``keep (D, T)`` is true, the table, redacted for its seat to act, goes to ``kept`` and the row
    number to ``kept_row``. Returns the number of these. ``tables (1,)``, ``events`` and ``payoff (n,) int32`` are scratch.
    """
    table, n = tables[0], rules.players
    row, at, number = 0, 0, 0
    for t in range(openings.size):
        tables[0] = openings[t]
        used, played, place = 0, 0, 0
        while True:
            first, leader, ply, decision = row, np.int64(table.seat), 0, 0
            played += 1
            for each in range(n):
                features.position(table, rules, each, dealt[at + each])
            counting.begin_count(table, rules, events, tallies[at : at + n])
            while table.stage == Stage.PLAYING:
                seat = np.int64(table.seat)
                legal_bits, action = game.legal(table, rules), np.int64(actions[t, place])
                decided = game.needs_decision(table, rules, legal_bits)
                place += 1
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
                counting.count_ply(table, rules, legal_bits, action, events, tallies[at : at + n])
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
            if place == counts[t]:
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
