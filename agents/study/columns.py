"""The columns of a study's files, in order: of any game, of the game's own features, and of a search.

The documentation, the files and their metadata are all made from these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from nainjaune_env.analysis.feature_hook import Column, Text, written
from nainjaune_env.analysis.features import DECISION, SEAT, features_of
from nainjaune_env.core.spec import Setup


class Source(Enum):
    """Where the numbers of a column come from."""

    DERIVED = "derived"
    """Computed from others, by the name of the column."""
    ROWS = "rows"
    """Those of a decision or a seat in any game (``Trace.decisions``, ``Trace.seats``)."""
    POSITION = "position"
    """The game's features of the position (``Trace.positions``, ``Trace.dealt``)."""
    ACTION = "action"
    """The game's features of the action (``Trace.choices``)."""
    COUNTED = "counted"
    """The game's counts of the round (``Trace.tallies``)."""


@dataclass(frozen=True)
class ColumnSpec:
    """A column of a file."""

    name: str
    kind: str
    """``bool``, ``int8`` …, ``float``, ``text``, ``list of float`` or ``list of text``."""
    unit: str
    meaning: str
    seen: bool
    """Whether the seat knew it when it decided."""
    source: Source = Source.DERIVED
    field: str = ""
    """The field of the records of ``source``."""
    part: int | None = None
    """Index into the field; None if it is one number."""
    names: tuple[str, ...] = ()
    """Names that are written for the numbers; if empty, numbers are written."""
    none: int | None = None
    """The number written as null."""
    bit_names: tuple[tuple[int, str], ...] = ()
    """Bits of the bit set ``field`` with the names written in their place."""


PRESET = ColumnSpec("preset", "text", "", "The preset; knobs set over it are in the file's metadata.", True)
PLAYERS = ColumnSpec("players", "int8", "seats", "Seats at the table.", True)
SEED = ColumnSpec("seed", "uint64", "number", "The study's seed.", False)
DEAL = ColumnSpec(
    "deal", "int64", "number", "The deal, or match: with the seed it determines the cards. It is the block of intervals.", False
)
AGENT = ColumnSpec("agent", "text", "", "Who plays the seat.", False)
MOVE = ColumnSpec("move", "text", "", "What it does, by the action's name.", True)
BEST = ColumnSpec(
    "best", "float", "share", "1 where no seat gained more in the round, 1/k where k gained as much, else 0.", False
)

HEAD = (PRESET, PLAYERS, SEED, DEAL)

SEARCHED = (
    ColumnSpec("search_move", "list of text", "", "The legal actions, by name; null where nothing was searched.", True),
    ColumnSpec(
        "search_mean", "list of float", "payoff",
        "The value of each: the mean payoff of the round, over deals that the seat cannot tell from its own.", True,
    ),
    ColumnSpec("search_error", "list of float", "payoff", "The standard errors of these.", True),
    ColumnSpec("search_best", "text", "", "The action whose mean is largest.", True),
    ColumnSpec(
        "regret", "float", "payoff",
        "The value of the best action minus that of the one taken. The best is chosen in all deals but one and measured in that "
        "one, each in turn: noisy and sometimes negative for one decision, on average not too large.", True,
    ),
)  # fmt: skip
"""Columns of a search, which knows no more than the seat did."""

OPTION = "option"
"""The column of tried actions, and the prefix of the other columns about them."""

OPTIONS = (
    ColumnSpec(OPTION, "text", "", "A legal action, by name.", True),
    ColumnSpec("option_taken", "bool", "", "Whether it was taken.", True),
    ColumnSpec("option_mean", "float", "payoff", "Its value, as `search_mean`.", True),
    ColumnSpec("option_error", "float", "payoff", "Its standard error.", True),
    ColumnSpec("option_behind", "float", "payoff", "The value of the best action minus its own, as `regret`.", True),
)
"""Columns of an action of a searched decision."""

RENAMED = {"sharing": BEST}
"""Fields of the records that are replaced by another column."""


def of_any_decision() -> tuple[ColumnSpec, ...]:
    """Returns the columns of a decision in any game, without a search's; the unit ``payoff`` stands for the game's own."""
    return (*HEAD, *_general(DECISION, {"seat": AGENT, "action": MOVE}))


def of_any_round() -> tuple[ColumnSpec, ...]:
    """Returns the columns of a seat of a round in any game, likewise."""
    return (*HEAD, *_general(SEAT, {"seat": AGENT}))


def of_position(setup: Setup) -> tuple[ColumnSpec, ...]:
    """Returns the columns of the game's features of a position."""
    return _features(features_of(setup.game).POSITION, Source.POSITION, setup)


def of_action(setup: Setup) -> tuple[ColumnSpec, ...]:
    """Returns the columns of the game's features of an action."""
    return _features(features_of(setup.game).ACTION, Source.ACTION, setup)


def counted(setup: Setup) -> tuple[ColumnSpec, ...]:
    """Returns the columns of the game's counts of a seat in a round; the seat knew none of them before."""
    return tuple(replace(column, seen=False) for column in _features(features_of(setup.game).COUNTED, Source.COUNTED, setup))


def decision_columns(setup: Setup, *, search: bool = False) -> tuple[ColumnSpec, ...]:
    """Returns the columns of the file of decisions."""
    return _with_unit((*of_any_decision(), *of_position(setup), *of_action(setup), *(SEARCHED if search else ())), setup)


def round_columns(setup: Setup) -> tuple[ColumnSpec, ...]:
    """Returns the columns of the file of rounds: a row for each seat of each round, with its position after the deal."""
    return _with_unit((*of_any_round(), *of_position(setup), *counted(setup)), setup)


def option_columns(setup: Setup) -> tuple[ColumnSpec, ...]:
    """Returns the columns of the file of options: a row for each action of each searched decision.

    They identify the decision and give the game's features of the action, as far as the seat knows them.
    """
    position = (column for column in _general(DECISION, {}) if column.name in ("round_number", "ply"))
    features = (replace(column, name=f"{OPTION}_{column.name}") for column in of_action(setup) if column.seen)
    return _with_unit((*HEAD, *position, *OPTIONS, *features), setup)


def _general(columns: Sequence[Column], followed_by: Mapping[str, ColumnSpec]) -> Iterator[ColumnSpec]:
    for column in columns:
        yield RENAMED.get(column.name) or _spec(column, column, None, Source.ROWS)
        if column.name in followed_by:
            yield followed_by[column.name]


def _features(columns: Sequence[Column | Text], source: Source, setup: Setup) -> tuple[ColumnSpec, ...]:
    return tuple(_spec(column, origin, part, source) for column, origin, part in written(columns, setup.players))


def _spec(column: Column | Text, origin: Column | Text, part: int | None, source: Source) -> ColumnSpec:
    if isinstance(column, Text):
        return ColumnSpec(column.name, "text", "", column.meaning, column.seen, source, column.of, bit_names=column.names)
    kind = "text" if column.names else column.dtype
    return ColumnSpec(
        column.name, kind, column.unit, column.meaning, column.seen, source, origin.name, part, column.names, column.none
    )  # fmt: skip


def _with_unit(columns: Sequence[ColumnSpec], setup: Setup) -> tuple[ColumnSpec, ...]:
    """Returns the columns with the game's own unit in place of ``payoff``."""
    return tuple(replace(column, unit=setup.game.unit) if column.unit == "payoff" else column for column in columns)
