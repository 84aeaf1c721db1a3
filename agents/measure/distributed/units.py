"""A plan cut into units, and what executors do with them: the interface between what is played and where.

A :class:`WorkPlan` says what is played, in plain values. It is cut into units at multiples of a fixed chunk, and a unit depends
on the plan and its own numbers alone. So units may be played in any order, anywhere, and again where a worker was lost. What a
unit yields is JSON, the same for files, processes and machines; a plan's own sums merge it exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import NainJauneError, as_sentence
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import resolve_setup

from ...base.settings import convert
from ...players.program.counting import counted

T = TypeVar("T")


class WorkUnit(NamedTuple):
    """Some deals of one part of a plan, such as a pair of agents; a plan may count rounds, matches or shards in their place."""

    part: int
    first: int
    """The number of the first deal."""
    deals: int


Payload = dict[str, Any]
"""What a unit yields, as JSON values; with the counts of bots, if any played (``program.counting``)."""
Results = Generator[tuple[WorkUnit, Payload], None, None]
Player = Callable[[WorkUnit], Payload]


class WorkPlan(Protocol):
    """What is played."""

    KIND: ClassVar[str]

    @property
    def setup(self) -> Setup:
        """The game, its rules and the seats."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents, as ``load_agent`` takes them."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the plan as JSON values, which ``plan_fields.read_plan`` reads."""

    def units(self) -> Iterator[WorkUnit]:
        """Yields all units in order; each call yields the same."""

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit with ``agents``, in the order of their names."""


class Executor(Protocol):
    """Where units are played."""

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields what each of ``units`` yields, in the order in which they are finished.

        ``agents`` are the plan's, in this process. ``units`` are taken a few at a time. When the iterator is closed, what
        is being played is stopped. Raises :class:`WorkError` where workers fail.
        """


class SetupValues(Struct, frozen=True, forbid_unknown_fields=True):
    """What ``Setup.to_dict`` writes."""

    game: str
    preset: str
    rules: dict[str, Any]
    players: int

    def setup(self) -> Setup:
        """Returns the setup; raises :class:`~nainjaune_env.core.errors.RulesError` where the game does not have it."""
        return resolve_setup(self.game, self.preset, self.players, self.rules)


def convert_with_setup(kind: type[T], values: object, what: str, error: type[NainJauneError]) -> T:
    """Returns ``values``, of JSON, as the struct ``kind``, whose field ``setup`` is in them as ``Setup.to_dict`` wrote it.

    Raises ``error``, whose message begins with ``what`` has the values, for all that does not fit.
    """
    try:
        if isinstance(values, Mapping) and "setup" in values:
            values = {**values, "setup": convert(SetupValues, values["setup"], what, error, key="setup").setup()}
        return convert(kind, values, what, error)
    except error:
        raise
    except NainJauneError as reason:  # of the setup, or values that do not go together
        raise error(f"{what}: {as_sentence(reason)}") from None


class InProcess:
    """Plays units one after the other in this process."""

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields the results in order."""
        play = counted(plan.player(agents), agents)
        for unit in units:
            yield unit, play(unit)
