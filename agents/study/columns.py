"""The columns of a study's files, in order: what any game has, what the game tells of itself, and what a search found.

The documentation, the files and what is kept in them as metadata are all made from these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from nainjaune_env.analysis.feature_hook import Column, Text, written
from nainjaune_env.analysis.features import DECISION, SEAT, study_of
from nainjaune_env.core.spec import Setup


class Source(Enum):
    """Where a column's numbers are."""

    MADE = "made"
    """Nowhere: they are made of others, by the column's name."""
    ROWS = "rows"
    """What any game has of a decision or a seat (``Trace.decisions``, ``Trace.seats``)."""
    POSITION = "position"
    """What the game tells of where the seat stands (``Trace.positions``, ``Trace.dealt``)."""
    ACTION = "action"
    """What it tells of the choice (``Trace.choices``)."""
    COUNTED = "counted"
    """What it counts (``Trace.tallies``)."""


@dataclass(frozen=True)
class Filed:
    """A column of a file."""

    name: str
    kind: str
    """``bool``, ``int8`` …, ``float``, ``text``, ``list of float`` or ``list of text``."""
    unit: str
    meaning: str
    seen: bool
    """Whether the seat could know it when it decided."""
    source: Source = Source.MADE
    field: str = ""
    """The field of the records there."""
    part: int | None = None
    """Which number of the field."""
    names: tuple[str, ...] = ()
    """What the numbers stand for, where names are written in their place."""
    none: int | None = None
    """The number that is written as null."""
    spelled: tuple[tuple[int, str], ...] = ()
    """Bits of the set ``field`` and their names, where these are written."""


PRESET = Filed("preset", "text", "", "The rule sheet; knobs set over it are in the file's metadata.", True)
PLAYERS = Filed("players", "int8", "seats", "Seats at the table.", True)
SEED = Filed("seed", "int64", "number", "The study's seed.", False)
DEAL = Filed("deal", "int64", "number", "The deal, or match: with the seed it says what is dealt. Intervals go by it.", False)
AGENT = Filed("agent", "text", "", "Who plays the seat.", False)
MOVE = Filed("move", "text", "", "What it does, by the action's name.", True)
BEST = Filed("best", "float", "share", "1 where no seat gained more in the round, 1/k where k gained as much, else 0.", False)

HEAD = (PRESET, PLAYERS, SEED, DEAL)

SEARCHED = (
    Filed("search_move", "list of text", "", "The actions it could take, by name; null where nothing was searched.", True),
    Filed(
        "search_mean", "list of float", "payoff",
        "What each comes to: the mean payoff of the round, in worlds that the seat cannot tell from its own.", True,
    ),
    Filed("search_error", "list of float", "payoff", "The standard errors of these.", True),
    Filed("search_best", "text", "", "The action whose mean is largest.", True),
    Filed(
        "regret", "float", "payoff",
        "How much less the action taken comes to than the best, which is chosen in all worlds but one and measured in that one, "
        "each in turn: for one decision noisy and now and then negative, on average not too much.", True,
    ),
)  # fmt: skip
"""What a search adds. It knows no more than the seat did."""

OPTION = "option"
"""The actions that were tried, and the beginning of the names of their columns: these stand beside those of decisions."""

OPTIONS = (
    Filed(OPTION, "text", "", "An action that it could take, by name.", True),
    Filed("option_taken", "bool", "", "Whether it did.", True),
    Filed("option_mean", "float", "payoff", "What it comes to, as `search_mean`.", True),
    Filed("option_error", "float", "payoff", "The standard error of that.", True),
    Filed("option_behind", "float", "payoff", "How much less it comes to than the best action, as `regret`.", True),
)
"""Of an action of a decision that was searched."""

RENAMED = {"sharing": BEST}
"""Fields of the records that are written as something else."""


def of_any_decision() -> tuple[Filed, ...]:
    """The columns of a decision in any game, but for what a search found; their unit ``payoff`` is the game's own."""
    return (*HEAD, *_general(DECISION, {"seat": AGENT, "action": MOVE}))


def of_any_round() -> tuple[Filed, ...]:
    """The columns of a seat of a round in any game, likewise."""
    return (*HEAD, *_general(SEAT, {"seat": AGENT}))


def of_position(setup: Setup) -> tuple[Filed, ...]:
    """What the game tells of where a seat stands."""
    return _told(study_of(setup.game).POSITION, Source.POSITION, setup)


def of_action(setup: Setup) -> tuple[Filed, ...]:
    """What it tells of what is chosen there."""
    return _told(study_of(setup.game).ACTION, Source.ACTION, setup)


def counted(setup: Setup) -> tuple[Filed, ...]:
    """What it counts of a seat in a round; nothing of it is known before."""
    return tuple(replace(column, seen=False) for column in _told(study_of(setup.game).COUNTED, Source.COUNTED, setup))


def decision_columns(setup: Setup, *, search: bool = False) -> tuple[Filed, ...]:
    """The columns of the file of decisions."""
    return _with_unit((*of_any_decision(), *of_position(setup), *of_action(setup), *(SEARCHED if search else ())), setup)


def round_columns(setup: Setup) -> tuple[Filed, ...]:
    """The columns of the file of rounds, which has a row for each seat of each round: where it stood when it had been dealt."""
    return _with_unit((*of_any_round(), *of_position(setup), *counted(setup)), setup)


def option_columns(setup: Setup) -> tuple[Filed, ...]:
    """The columns of the file of options, which has a row for each action of each decision that was searched.

    It says of the decision what it takes to find it; of the action what the game tells of it, as far as the seat knows that.
    """
    found = (column for column in _general(DECISION, {}) if column.name in ("round_number", "ply"))
    own = (replace(column, name=f"{OPTION}_{column.name}") for column in of_action(setup) if column.seen)
    return _with_unit((*HEAD, *found, *OPTIONS, *own), setup)


def _general(columns: Sequence[Column], followed_by: Mapping[str, Filed]) -> Iterator[Filed]:
    for column in columns:
        yield RENAMED.get(column.name) or _filed(column, column, None, Source.ROWS)
        if column.name in followed_by:
            yield followed_by[column.name]


def _told(columns: Sequence[Column | Text], source: Source, setup: Setup) -> tuple[Filed, ...]:
    return tuple(_filed(column, origin, part, source) for column, origin, part in written(columns, setup.players))


def _filed(column: Column | Text, origin: Column | Text, part: int | None, source: Source) -> Filed:
    if isinstance(column, Text):
        return Filed(column.name, "text", "", column.meaning, column.seen, source, column.of, spelled=column.names)
    kind = "text" if column.names else column.dtype
    return Filed(
        column.name, kind, column.unit, column.meaning, column.seen, source, origin.name, part, column.names, column.none
    )  # fmt: skip


def _with_unit(columns: Sequence[Filed], setup: Setup) -> tuple[Filed, ...]:
    """Payoffs in the game's own unit."""
    return tuple(replace(column, unit=setup.game.unit) if column.unit == "payoff" else column for column in columns)
