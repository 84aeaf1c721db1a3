"""Episodes that have been played, told decision by decision in columns (``GameSpec.features``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.analysis.feature_hook import SET, Column, FeatureHooks, row_dtype
from nainjaune_env.analysis.stats import measures_of
from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.jit import instantiate
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.engine.batch import Episode, loops_of

DECISION: tuple[Column, ...] = (
    Column("round_number", "int32", "number", "The round of the match, from 1."),
    Column("ply", "int32", "number", "The ply of the round, from 1; those without a choice are counted too."),
    Column("decision", "int16", "number", "The decision of the round, from 1; null where nothing was asked.", none=0),
    Column("seat", "int8", "seat", "The seat."),
    Column("distance", "int8", "seats", "How many places it comes after the seat that acted first in the round."),
    Column("legal", "int64", SET, "Its legal actions, by number."),
    Column("choices", "int8", "actions", "How many they are."),
    Column("action", "int8", "number", "What it does, by number."),
    Column("forced", "bool", "", "Whether it was not asked, as it had no choice."),
    Column("earned", "int32", "payoff", "What it had gained in the round so far, antes included."),
    Column("to_come", "int32", "payoff", "What it gained in the round from here on: the two add up to the payoff.", seen=False),
    Column("payoff", "int32", "payoff", "What it gained in the round.", seen=False),
    Column("sharing", "int8", "seats", "Where no seat gained more, how many gained as much; else 0.", seen=False),
)
"""What there is to say of a decision in any game. The unit ``payoff`` is the game's own."""

SEAT: tuple[Column, ...] = (
    *(column for column in DECISION if column.name in ("round_number", "seat", "distance")),
    Column("decisions", "int16", "decisions", "How many decisions it had.", seen=False),
    Column("plies", "int32", "plies", "Plies of the round, all seats'.", seen=False),
    *(column for column in DECISION if column.name in ("payoff", "sharing")),
)
"""What there is to say of a seat in a round of any game."""


@dataclass(frozen=True)
class Trace:
    """What T episodes came to: R decisions, or plies, and S seats of rounds, those of an episode one after the other."""

    episode: NDArray[np.int64]
    """The episode of each decision, ``(R,)``, ascending."""
    decisions: NDArray[Any]
    """Records of ``row_dtype(DECISION)``, ``(R,)``."""
    positions: NDArray[Any]
    """Where the seat to act stood, as the game tells it: records of ``row_dtype(study.POSITION)``, ``(R,)``."""
    choices: NDArray[Any]
    """What it chose: records of ``row_dtype(study.ACTION)``, ``(R,)``."""
    seat_episode: NDArray[np.int64]
    """The episode of each seat of a round, ``(S,)``, ascending; n in a row are a round's, by seat."""
    seats: NDArray[Any]
    """Records of ``row_dtype(SEAT)``, ``(S,)``."""
    dealt: NDArray[Any]
    """Where each stood when the round had been dealt, as ``positions``, ``(S,)``."""
    tallies: NDArray[Any]
    """What each did in the round: records of the game's tally, ``(S,)``."""
    kept: NDArray[Any]
    """Tables at the decisions that were to be kept, wiped for their seats to act, ``(K,)``."""
    kept_row: NDArray[np.int64]
    """Of which decisions these are, ``(K,)``, ascending."""


def study_of(game: GameSpec) -> FeatureHooks:
    """What ``game`` tells a study; raises :class:`RecordError` where it tells nothing."""
    if game.features is None:
        raise RecordError(f"{game.title} tells a study nothing (GameSpec.features).")
    return game.features


def _loops_of(game: GameSpec) -> ModuleType:
    parts = {"game": game.kernel, "loops": loops_of(game), "measures": measures_of(game), "study": study_of(game)}
    return instantiate("nainjaune_env.analysis.feature_loops", game.name, **parts)


def trace(
    setup: Setup,
    openings: NDArray[Any],
    actions: ArrayLike,
    *,
    episode: Episode = "round",
    every_ply: bool = False,
    keep: NDArray[np.bool_] | None = None,
) -> Trace:
    """Tell T episodes that begin with ``openings (T,)``, tables before any ply.

    ``actions (P, T)`` are the decisions taken in each, in order, forced plies left out, and whatever where an episode was over.
    ``every_ply``: tell forced plies too. ``keep (P, T)``: which decisions' tables to keep, where there was a choice (None: none).
    Raises :class:`RecordError` for shapes that do not fit, and where an episode's actions are not legal or do not bring it to
    its end.
    """
    code, rules, n = _loops_of(setup.game), setup.kernel_rules, setup.players
    given, count = np.asarray(actions), len(openings)
    if given.ndim != 2 or given.shape[1] != count or given.dtype.kind not in "iu":
        raise RecordError(f"Expected a row of whole numbers a step, shape (P, {count}), not {given.dtype} {given.shape}.")
    if keep is not None and (keep.shape != given.shape or keep.dtype != np.bool_):
        raise RecordError(f"What to keep has the shape of the actions, {given.shape}, not {keep.dtype} {keep.shape}.")
    if given.dtype != np.int8:
        given = np.clip(given, -1, GameSpec.MAX_ACTIONS).astype(np.int8)  # what is outside is no action, and refused as such
    given = np.ascontiguousarray(given)
    room = np.zeros(2, openings.dtype)
    rows, rounds = np.zeros(count, np.int64), np.zeros(count, np.int64)
    whole = int(episode == "match")
    wrong = code.survey(openings, rules, whole, int(every_ply), given, room, rows, rounds)
    if wrong >= 0:
        raise RecordError(f"Episode {wrong} is not brought to its end by its actions, at most {len(given)}, or one is not legal.")
    study, total, seats = study_of(setup.game), rows.sum(), rounds.sum() * n
    wanted = np.zeros(given.shape, np.bool_) if keep is None else np.ascontiguousarray(keep)
    most = int(wanted.sum())
    told = Trace(
        np.repeat(np.arange(count), rows),
        np.zeros(total, row_dtype(DECISION)),
        np.zeros(total, row_dtype(study.POSITION)),
        np.zeros(total, row_dtype(study.ACTION)),
        np.repeat(np.arange(count), rounds * n),
        np.zeros(seats, row_dtype(SEAT)),
        np.zeros(seats, row_dtype(study.POSITION)),
        np.zeros(seats, measures_of(setup.game).TALLY),
        np.zeros(most, openings.dtype),
        np.zeros(most, np.int64),
    )
    found = code.retrace(
        openings, rules, whole, int(every_ply), given, room,
        told.decisions, told.positions, told.choices, told.seats, told.dealt, told.tallies,
        wanted, told.kept, told.kept_row, np.zeros(n, np.int32),
    )  # fmt: skip
    return replace(told, kept=told.kept[:found], kept_row=told.kept_row[:found])


def choices_at(setup: Setup, tables: NDArray[Any], owner: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[Any]:
    """What the seats to act at ``tables[owner (N,)]`` would choose by ``actions (N,)``, legal ones, as the game tells it.

    Records of ``row_dtype(study.ACTION)``, ``(N,)``. Where tables are wiped for these seats, columns that are hidden say nothing.
    """
    rows = np.zeros(len(owner), row_dtype(study_of(setup.game).ACTION))
    _loops_of(setup.game).describe(tables, setup.kernel_rules, owner, actions, rows)
    return rows
