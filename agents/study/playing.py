"""Mass play for a study: episodes in chunks, each told in columns once it has been played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.analysis.features import Trace, study_of, trace
from nainjaune_env.core.errors import AgentError, ConfigError, choose_one
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.engine.determinize import generator_states

from ..arena.duplicate import chunks, start_with
from ..arena.play import play_out
from .action_values import Values, Worth

SeatedAs = Literal["random", "fixed"]
TABLES: dict[str, int] = {"round": 4096, "match": 256}
"""Episodes played at once, by their kind: memory depends on it, and what is played does not."""
SEARCHED_TABLES = 256
"""The same where decisions are searched: so that there is progress to be seen."""


class Stream(IntEnum):
    """Streams of the seed, a generator an episode each; none is of duplicate deals (0), of training (from 1 on) or of matches."""

    DEALS = 1 << 33
    SEATS = DEALS + 1
    AGENTS = DEALS + 2
    SHARE = DEALS + 3
    SEARCH = DEALS + 4


@dataclass(frozen=True)
class Plan:
    """What is to be played. Raises :class:`ConfigError` or :class:`AgentError` for what cannot be."""

    setup: Setup
    agents: Sequence[Agent]
    seed: int
    episode: Episode = "round"
    seating: SeatedAs = "random"
    """``random``: every seat of every episode is held by any of the agents; ``fixed``: seat s by agent s, or all by one."""
    pots: Sequence[int] | None = None
    """What rounds begin with, as ``arena.duplicate.start_with`` takes it."""
    every_ply: bool = False
    """A row for plies without a choice too."""
    worth: Worth | None = None
    """What searches decisions."""
    share: float = 1.0
    """Of the decisions with a choice, which share is searched, drawn at random."""

    def __post_init__(self) -> None:
        n = self.setup.players
        study_of(self.setup.game)
        if self.episode == "match":
            self.setup.game.check_match(self.setup.rules)
        if self.seating not in ("random", "fixed"):
            raise ConfigError(choose_one("seating", self.seating, ("random", "fixed")))
        if not self.agents or (self.seating == "fixed" and len(self.agents) not in (1, n)):
            wanted = "at least one agent" if self.seating == "random" else f"one agent, or {n} in the order of the seats"
            raise AgentError(f"Expected {wanted}, not {len(self.agents)}.")
        if self.seed < 0:
            raise ConfigError(f"The seed is at least 0, not {self.seed}.")
        if not 0 < self.share <= 1:
            raise ConfigError(f"The share of decisions that are searched is above 0 and at most 1, not {self.share:g}.")


@dataclass(frozen=True)
class Chunk:
    """Some episodes that have been played."""

    first: int
    """The number of the first of them."""
    count: int
    trace: Trace
    seats: NDArray[np.int64]
    """Who sat where, as an index into the agents, ``(T, n)``."""
    values: Values | None
    """Of the decisions ``trace.kept_row``, what a search found."""


def play(plan: Plan, episodes: int, *, first: int = 0, tables: int | None = None) -> Iterator[Chunk]:
    """Play the episodes from number ``first`` on, ``tables`` at once.

    All that chance does in an episode depends on the seed and its number alone, so that a longer study begins with a shorter
    one. (A network that is asked for other numbers of decisions at once may round otherwise, and seldom decide otherwise.)
    """
    usual = min(TABLES[plan.episode], SEARCHED_TABLES) if plan.worth else TABLES[plan.episode]
    for at, count in chunks(first, episodes, tables or usual):
        yield _play_chunk(plan, at, count)


def _play_chunk(plan: Plan, at: int, count: int) -> Chunk:
    setup, start = plan.setup, start_with(plan.pots)
    seeds = streams(plan.seed, count, Stream.DEALS, first=at)
    opened = Batch(setup, count, episode=plan.episode, start=start, skip_forced=False, autoreset=False, observe=False)
    opened.reset(seeds=seeds)
    batch = Batch(setup, count, episode=plan.episode, start=start, autoreset=False)
    batch.reset(seeds=seeds)
    seats = _seats(plan, at, count)
    drawn = streams(plan.seed, count, Stream.AGENTS, first=at)
    taken: list[NDArray[np.int8]] = []
    payoff = play_out(
        batch,
        plan.agents,
        seats,
        lambda _, index: RowStreams(drawn, index),
        after_step=lambda actions: taken.append(actions.astype(np.int8)),
    )
    actions = np.array(taken, np.int8).reshape(-1, count)
    keep = None if plan.worth is None else plan.share > _uniform(plan, Stream.SHARE, at, (count, len(actions))).T
    told = trace(setup, opened.tables, actions, episode=plan.episode, every_ply=plan.every_ply, keep=keep)
    _check(told, payoff)
    return Chunk(at, count, told, seats, None if plan.worth is None else _search(plan, plan.worth, told, at, count))


def _uniform(plan: Plan, stream: Stream, at: int, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Uniform numbers for the episodes from ``at`` on, a row each: the first do not depend on how many there are."""
    return RowStreams(streams(plan.seed, shape[0], stream, first=at), np.arange(shape[0])).random(shape)


def _seats(plan: Plan, at: int, count: int) -> NDArray[np.int64]:
    n, agents = plan.setup.players, len(plan.agents)
    if plan.seating == "fixed":
        return np.tile(np.arange(n) % agents, (count, 1))
    return (_uniform(plan, Stream.SEATS, at, (count, n)) * agents).astype(np.int64)


def _search(plan: Plan, worth: Worth, told: Trace, at: int, count: int) -> Values:
    episode = told.episode[told.kept_row]
    # which row of its episode each decision is: on that and the episode its luck depends
    number = told.kept_row - np.searchsorted(told.episode, episode)
    luck = _uniform(plan, Stream.SEARCH, at, (count, int(number.max(initial=0)) + 1))
    legal = np.ascontiguousarray(told.decisions["legal"][told.kept_row])
    return worth.values(told.kept, legal, generator_states(luck[episode, number]))


def _check(told: Trace, payoff: NDArray[np.int64]) -> None:
    """What was played again came to what was played: two roads through the kernel, which the whole study rests on."""
    again = np.zeros_like(payoff)
    np.add.at(again, (told.seat_episode, told.seats["seat"]), told.seats["payoff"])
    if not np.array_equal(again, payoff):
        raise AssertionError("rounds that were played again came to other payoffs: nothing of them can be believed")
