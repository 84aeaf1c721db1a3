"""Columns of the decisions of finished episodes (``GameSpec.features``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.analysis.feature_hook import SET, Column, FeatureHooks, row_dtype
from nainjaune_env.analysis.stats import LoggedPlies, loops_of, measures_of, replay_decisions
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Episode
from nainjaune_env.engine.telling import check_space, event_arrays

DECISION: tuple[Column, ...] = (
    Column("round_number", "int32", "number", "The round of the match, from 1."),
    Column("ply", "int32", "number", "The ply of the round, from 1; plies without a choice count too."),
    Column("decision", "int16", "number", "The decision of the round, from 1; null at forced plies.", none=0),
    Column("seat", "int8", "seat", "The seat."),
    Column("distance", "int8", "seats", "Its distance from the seat that acted first in the round."),
    Column("legal", "int64", SET, "Its legal actions, by number."),
    Column("choices", "int8", "actions", "The number of legal actions."),
    Column("action", "int8", "number", "The action taken, by number."),
    Column("forced", "bool", "", "Whether the ply was forced."),
    Column("earned", "int32", "payoff", "Its payoff of the round so far, antes included."),
    Column("to_come", "int32", "payoff", "Its payoff from here to the end of the round: the two sum to the payoff.", seen=False),
    Column("payoff", "int32", "payoff", "Its payoff of the round.", seen=False),
    Column("sharing", "int8", "seats", "The number of seats with the greatest payoff if it is one of them, else 0.", seen=False),
)
"""Columns of a decision in any game. The unit ``payoff`` is the game's own."""

SEAT: tuple[Column, ...] = (
    *(column for column in DECISION if column.name in ("round_number", "seat", "distance")),
    Column("decisions", "int16", "decisions", "The number of its decisions.", seen=False),
    Column("plies", "int32", "plies", "The number of plies of the round, of all seats.", seen=False),
    *(column for column in DECISION if column.name in ("payoff", "sharing")),
)
"""Columns of a seat in a round of any game."""


@dataclass(frozen=True)
class Trace:
    """The rows of T episodes in order: R decisions, or plies, and S seats of rounds."""

    episode: NDArray[np.int64]
    """The episode of each decision, ``(R,)``, ascending."""
    decisions: NDArray[Any]
    """Records of ``row_dtype(DECISION)``, ``(R,)``."""
    positions: NDArray[Any]
    """Positions of the seats to act: records of ``row_dtype(FeatureHooks.POSITION)``, ``(R,)``."""
    choices: NDArray[Any]
    """Their actions: records of ``row_dtype(FeatureHooks.ACTION)``, ``(R,)``."""
    seat_episode: NDArray[np.int64]
    """The episode of each seat of a round, ``(S,)``, ascending; each n rows are one round, by seat."""
    seats: NDArray[Any]
    """Records of ``row_dtype(SEAT)``, ``(S,)``."""
    dealt: NDArray[Any]
    """Their positions after the deal, as ``positions``, ``(S,)``."""
    tallies: NDArray[Any]
    """Their tallies of the round, ``(S,)``."""
    kept: NDArray[Any]
    """Tables at the decisions to keep, redacted for their seats to act, ``(K,)``."""
    kept_row: NDArray[np.int64]
    """The numbers of these decisions, ``(K,)``, ascending."""


def features_of(game: GameSpec) -> FeatureHooks:
    """Returns the columns of ``game``; raises :class:`RecordError` if it has none."""
    if game.features is None:
        raise RecordError(f"{game.title} has no columns for studies (GameSpec.features).")
    return game.features


def trace(
    setup: Setup,
    openings: NDArray[Any],
    actions: ArrayLike,
    *,
    episode: Episode = "round",
    every_ply: bool = False,
    keep: NDArray[np.bool_] | None = None,
) -> Trace:
    """Returns the rows of T episodes that begin with ``openings (T,)``, tables before the first ply.

    ``actions (P, T)`` are the decisions of each in order, without forced plies; values after its end are ignored. ``every_ply``
    and ``keep`` are as in :func:`trace_plies`. Raises :class:`RecordError` for wrong shapes, and if actions are illegal or do
    not finish their episode.
    """
    features_of(setup.game)  # a game without columns is refused before its actions
    plies = replay_decisions(setup, openings, actions, episode=episode)
    shape = np.shape(actions)
    if keep is not None and (keep.shape != shape or keep.dtype != np.bool_):
        raise RecordError(f"Expected keep to be booleans of the shape of the actions, {shape}, not {keep.dtype} {keep.shape}.")
    return trace_plies(setup, openings, plies, every_ply=every_ply, keep=keep)


def trace_plies(
    setup: Setup,
    openings: NDArray[Any],
    plies: LoggedPlies,
    *,
    every_ply: bool = False,
    keep: NDArray[np.bool_] | None = None,
) -> Trace:
    """Returns the rows of T finished episodes from the log of their ``plies``.

    With ``every_ply`` forced plies have rows too. ``keep (D, T)``: for each decision, whether to keep its table if there was a
    choice (None: none).
    """
    hooks, loops = features_of(setup.game), loops_of(setup.game)
    rules, n, count = setup.kernel_rules, setup.players, len(openings)
    if count:
        check_space(setup, openings[0])
    tables, events = np.zeros(1, openings.dtype), event_arrays(setup.game)
    rows, rounds = np.zeros(count, np.int64), np.zeros(count, np.int64)
    loops.count_rows(openings, rules, int(every_ply), *plies, tables, rows, rounds)
    total, seats = rows.sum(), rounds.sum() * n
    wanted = np.zeros((plies.actions.shape[1], count), np.bool_) if keep is None else np.ascontiguousarray(keep)
    most = int(wanted.sum())
    traced = Trace(
        np.repeat(np.arange(count), rows),
        np.zeros(total, row_dtype(DECISION)),
        np.zeros(total, row_dtype(hooks.POSITION)),
        np.zeros(total, row_dtype(hooks.ACTION)),
        np.repeat(np.arange(count), rounds * n),
        np.zeros(seats, row_dtype(SEAT)),
        np.zeros(seats, row_dtype(hooks.POSITION)),
        np.zeros(seats, measures_of(setup.game).TALLY),
        np.zeros(most, openings.dtype),
        np.zeros(most, np.int64),
    )
    number = loops.write_rows(
        openings, rules, int(every_ply), *plies, tables, events,
        traced.decisions, traced.positions, traced.choices, traced.seats, traced.dealt, traced.tallies,
        wanted, traced.kept, traced.kept_row, np.zeros(n, np.int32),
    )  # fmt: skip
    return replace(traced, kept=traced.kept[:number], kept_row=traced.kept_row[:number])


def choices_at(setup: Setup, tables: NDArray[Any], owner: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[Any]:
    """Returns the columns of the legal ``actions (N,)`` of the seats to act at ``tables[owner]``, ``owner (N,)``.

    They are records of ``row_dtype(FeatureHooks.ACTION)``, ``(N,)``. If tables are redacted, hidden columns have no meaning.
    """
    rows = np.zeros(len(owner), row_dtype(features_of(setup.game).ACTION))
    loops_of(setup.game).describe(tables, setup.kernel_rules, owner, actions, rows)
    return rows
