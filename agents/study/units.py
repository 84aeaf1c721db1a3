"""A study in units, which processes of this machine, a cluster or the jobs of an array play; a unit is some of its episodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from nainjaune_env.agent import Agent
from nainjaune_env.engine.batch import Episode

from ..base.settings import NonNegativeInt, PositiveInt, Share
from ..measure.arena.play import chunks
from ..measure.distributed.plan_fields import Deals, JsonPlan, Names, Place
from ..measure.distributed.units import Payload, Player, WorkUnit
from .action_values import ActionEvaluator
from .playing import SeatedAs, StudySettings, play_chunk, tables_at_once


class StudyPlan(JsonPlan, frozen=True):
    """What a study plays, in plain values; :class:`~.playing.StudySettings` explains the shared ones."""

    KIND: ClassVar[str] = "study"

    names: Names
    """Of the agents that play."""
    seed: NonNegativeInt
    first: Place
    """The number of the first episode."""
    episodes: Deals
    episode: Episode = "round"
    seating: SeatedAs = "random"
    pots: tuple[NonNegativeInt, ...] | None = None
    every_ply: bool = False
    search: tuple[str, PositiveInt] | None = None
    """The agent that searches and its deals."""
    share: Share = 1.0
    chunk: Deals | None = None
    """Episodes of a unit, played at once (None: ``tables_at_once``)."""
    command: str | None = None
    """Reproduces the study."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of all agents, the searching one included, each once."""
        return tuple(dict.fromkeys([*self.names, *([] if self.search is None else self.search[:1])]))

    def units(self) -> Iterator[WorkUnit]:
        """Yields the episodes in order, a chunk a unit."""
        size = self.chunk or tables_at_once(self.episode, searched=self.search is not None)
        return (WorkUnit(0, at, count) for at, count in chunks(self.first, self.episodes, size))

    def playing(self, agents: Sequence[Agent]) -> StudySettings:
        """Returns the settings of play with the loaded ``agents``, in the order of :attr:`agents`; raises as they do."""
        by_name = dict(zip(self.agents, agents, strict=True))
        evaluator = None if self.search is None else ActionEvaluator(self.setup, by_name[self.search[0]], self.search[1])
        return StudySettings(
            self.setup, [by_name[name] for name in self.names], self.seed, episode=self.episode, seating=self.seating,
            pots=self.pots, every_ply=self.every_ply, evaluator=evaluator, share=self.share,
        )  # fmt: skip

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit and yields the rows of all files."""
        from .files import rows_text  # pyarrow is an extra, and merging a tournament does not need it

        settings = self.playing(agents)

        def play(unit: WorkUnit) -> Payload:
            return rows_text(settings, play_chunk(settings, unit.first, unit.deals))

        return play
