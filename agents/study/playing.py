"""Play for a study: episodes in chunks, each traced after it has been played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.analysis.features import Trace, features_of, trace_plies
from nainjaune_env.analysis.stats import LoggedPlies
from nainjaune_env.core.errors import AgentError, ConfigError, unknown_name_message
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.engine.determinize import generator_states

from ..measure.arena.play import chunks, play_out
from .action_values import ActionEvaluator, RegretValues

SeatedAs = Literal["random", "fixed"]
TABLES: dict[str, int] = {"round": 4096, "match": 256}
"""Episodes played at once, by their kind; memory depends on it, results do not."""
SEARCHED_TABLES = 256
"""Fewer where decisions are searched, so that progress is visible."""


class Stream(IntEnum):
    """Streams of the seed, with a generator an episode; none is a stream of duplicate deals (0), training (1 on) or matches."""

    DEALS = 1 << 33
    SEATS = DEALS + 1
    AGENTS = DEALS + 2
    SHARE = DEALS + 3
    SEARCH = DEALS + 4


class Described(Protocol):
    """What the files of a study say of it, see :class:`StudySettings`."""

    @property
    def setup(self) -> Setup: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def seed(self) -> int: ...
    @property
    def episode(self) -> Episode: ...
    @property
    def seating(self) -> SeatedAs: ...
    @property
    def pots(self) -> Sequence[int] | None: ...
    @property
    def every_ply(self) -> bool: ...
    @property
    def search(self) -> tuple[str, int] | None: ...
    @property
    def share(self) -> float: ...


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study; raises :class:`ConfigError` or :class:`AgentError` for invalid ones."""

    setup: Setup
    agents: Sequence[Agent]
    seed: int
    episode: Episode = "round"
    seating: SeatedAs = "random"
    """``random``: each seat of each episode has a random agent; ``fixed``: seat s has agent s, or all have the only one."""
    pots: Sequence[int] | None = None
    """Chips in the pots before the antes; None: empty."""
    every_ply: bool = False
    """Whether plies without a choice have a row too."""
    evaluator: ActionEvaluator | None = None
    """Searches decisions; None: no search."""
    share: float = 1.0
    """Share of the decisions with a choice that is searched, drawn at random."""

    def __post_init__(self) -> None:
        n = self.setup.players
        features_of(self.setup.game)
        if self.episode == "match":
            self.setup.game.check_match(self.setup.rules)
        if self.seating not in ("random", "fixed"):
            raise ConfigError(unknown_name_message("seating", self.seating, ("random", "fixed")))
        if not self.agents or (self.seating == "fixed" and len(self.agents) not in (1, n)):
            wanted = "at least one agent" if self.seating == "random" else f"one agent, or {n} in the order of the seats"
            raise AgentError(f"Expected {wanted}, not {len(self.agents)}.")
        if self.seed < 0:
            raise ConfigError(f"The seed is at least 0, not {self.seed}.")
        if not 0 < self.share <= 1:
            raise ConfigError(f"The share of decisions that are searched is above 0 and at most 1, not {self.share:g}.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the agents."""
        return tuple(agent.name for agent in self.agents)

    @property
    def search(self) -> tuple[str, int] | None:
        """The name of the agent that searches and its deals; None without a search."""
        return None if self.evaluator is None else (self.evaluator.agent.name, self.evaluator.deals)


@dataclass(frozen=True)
class Chunk:
    """Some episodes after play."""

    first: int
    """The number of the first of them."""
    count: int
    trace: Trace
    seats: NDArray[np.int64]
    """Indices into the agents by seat, ``(T, n)``."""
    values: RegretValues | None
    """Of the decisions ``trace.kept_row``; None without a search."""


def tables_at_once(episode: Episode, *, searched: bool) -> int:
    """Returns the usual number of episodes played at once."""
    return min(TABLES[episode], SEARCHED_TABLES) if searched else TABLES[episode]


def play(settings: StudySettings, episodes: int, *, first: int = 0, tables: int | None = None) -> Iterator[Chunk]:
    """Yields the played episodes from number ``first`` on, ``tables`` at once.

    Random numbers of an episode depend on the seed and its number alone, so the beginning of a longer study is a shorter one.
    (A network in larger batches may round differently, and rarely decide differently.)
    """
    for at, count in chunks(first, episodes, tables or tables_at_once(settings.episode, searched=settings.evaluator is not None)):
        yield play_chunk(settings, at, count)


def play_chunk(settings: StudySettings, at: int, count: int) -> Chunk:
    """Returns ``count`` played episodes from number ``at`` on."""
    setup, start = settings.setup, "fresh" if settings.pots is None else {"pots": settings.pots}
    seeds = streams(settings.seed, count, Stream.DEALS, first=at)
    batch = Batch(setup, count, episode=settings.episode, start=start, autoreset=False, log=True, deal=False)
    batch.reset(seeds=seeds)
    assert batch.log is not None
    seats = _seats(settings, at, count)
    rng_states = streams(settings.seed, count, Stream.AGENTS, first=at)
    payoff = play_out(batch, settings.agents, seats, lambda _, index: RowStreams(rng_states, index))
    plies, keep = LoggedPlies(batch.log.action, batch.log.count), None
    if settings.evaluator is not None:
        keep = settings.share > _uniform(settings, Stream.SHARE, at, (count, plies.actions.shape[1])).T
    traced = trace_plies(setup, batch.log.opening, plies, every_ply=settings.every_ply, keep=keep)
    _check(traced, payoff)
    return Chunk(
        at, count, traced, seats, None if settings.evaluator is None else _search(settings, settings.evaluator, traced, at, count)
    )


def _uniform(settings: StudySettings, stream: Stream, at: int, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Returns uniform numbers for the episodes from ``at`` on, a row each; a row's numbers do not depend on ``shape``."""
    return RowStreams(streams(settings.seed, shape[0], stream, first=at), np.arange(shape[0])).random(shape)


def _seats(settings: StudySettings, at: int, count: int) -> NDArray[np.int64]:
    n, agents = settings.setup.players, len(settings.agents)
    if settings.seating == "fixed":
        return np.tile(np.arange(n) % agents, (count, 1))
    return (_uniform(settings, Stream.SEATS, at, (count, n)) * agents).astype(np.int64)


def _search(settings: StudySettings, evaluator: ActionEvaluator, traced: Trace, at: int, count: int) -> RegretValues:
    episode = traced.episode[traced.kept_row]
    # the row of each decision in its episode: its generator depends on the episode and this
    number = traced.kept_row - np.searchsorted(traced.episode, episode)
    uniform = _uniform(settings, Stream.SEARCH, at, (count, int(number.max(initial=0)) + 1))
    legal = np.ascontiguousarray(traced.decisions["legal"][traced.kept_row])
    return evaluator.values(traced.kept, legal, generator_states(uniform[episode, number]))


def _check(traced: Trace, payoff: NDArray[np.int64]) -> None:
    """Checks that replaying the actions gave the same payoffs as play."""
    again = np.zeros_like(payoff)
    np.add.at(again, (traced.seat_episode, traced.seats["seat"]), traced.seats["payoff"])
    if not np.array_equal(again, payoff):
        raise AssertionError("replaying the actions of a study gave other payoffs than playing them")
