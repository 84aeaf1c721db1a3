"""Duplicate play of whole matches: the same cards in every round of a match, whichever agents play it.

For a hero and a field, one *block* is one match. It is played with the hero in each seat in turn and the field in all others, and
once with the field in every seat: n + 1 tables. Round r of match m is dealt at all of them by the same state of the generator,
which depends on the seed, m and r only. So these are equal at all tables of a block, as far as they play the round:

- the cards in every seat, where the rules deal from a deck that only earlier deals have ordered, as Nain Jaune's do;
- the dealer, and with it the first seat to act: both are drawn in the first round and move on by the rules;
- the start values of the match, if the task has them.

What agents do makes the rest differ, and differences grow from round to round: pots, stacks, and the round in which the rules end
the match. A table whose match is over counts 0 in later rounds. The block's value is the mean, over seats, of the hero's payoff
in the match minus what the field got in the same seat in the match that it played alone. Blocks are independent, and intervals
are over blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, any_needs_history, check_agents
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.batch import Batch

from ...base.task import CARRIED, DEFAULT_TASK, Task, match_rounds
from ...players.program.counting import BotCounts
from ..stats.differences import Differences, interval_notes
from ..stats.ratio_estimate import Estimate, Ratios
from .duplicate import CHUNK_TABLES, chunks, seat_states
from .play import play_out

MATCH_DEALS = 5 << 32
"""The streams of a seed for matches: the deals of round r, from 0 on, are in stream ``MATCH_DEALS + r``."""
MATCH_SEATS = 9 << 32
"""The streams of a seed for the draws of players in matches, by seat."""


@dataclass
class MatchEdge:
    """The edge of ``hero`` in a field of ``field_name`` over whole matches, in the game's unit."""

    hero: str
    field_name: str
    matches: Differences = field(default_factory=Differences)
    """Gain of the hero in a match."""
    by_round: list[Differences] = field(default_factory=list)
    """Gain in each round, 0 where neither plays it any more."""
    _ratio: Ratios = field(default_factory=lambda: Ratios(1))

    def add(self, gain: NDArray[np.float64], rounds: NDArray[np.float64]) -> None:
        """Adds matches with the hero's ``gain (M, R)`` by round, in the mean over seats, and its mean ``rounds (M,)``."""
        done = self.matches.count
        for number in range(gain.shape[1]):
            if number == len(self.by_round):
                self.by_round.append(Differences(done, heavy=self.matches.heavy))  # earlier matches were shorter
            self.by_round[number].add(gain[:, number])
        for shorter in self.by_round[gain.shape[1] :]:
            shorter.add(np.zeros(len(gain)))
        self.matches.add(gain.sum(axis=1))
        nothing, one = np.zeros(len(gain)), np.ones(len(gain))
        self._ratio.add(np.stack([gain.sum(axis=1), rounds, nothing, one])[None])

    @property
    def per_round(self) -> Estimate:
        """The gain of all matches over the number of rounds that the hero played in them.

        Its interval is wider than the delta method's by as much as that of ``matches`` is than Student's, or missing as that is:
        what varies in it are the gains, most of which may be 0.
        """
        ratio = self._ratio.first(0)
        return Estimate(ratio.mean, ratio.ci95 * self.matches.widening)

    @property
    def rounds(self) -> float:
        """Mean number of rounds of the hero's matches."""
        return float(self._ratio.mean[0, 1])

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry of ``matches.json``."""
        return {
            "hero": self.hero,
            "field": self.field_name,
            "per_match": self.matches.estimate.to_dict(),
            "per_round": self.per_round.to_dict(),
            "rounds": self.rounds,
            "blocks": self.matches.count,
            "by_round": [stats.estimate.to_dict() for stats in self.by_round],
        }


@dataclass(frozen=True)
class MatchResult:
    """Agents rated over whole matches."""

    plan: MatchDuplicate
    matches: int
    edges: list[MatchEdge]
    bots: BotCounts
    """What the bots among the agents did wrong."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals (``stats.differences``)."""
        return interval_notes(edge.matches for edge in self.edges)

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of ``matches.json``."""
        plan = self.plan
        return {
            **plan.setup.to_dict(),
            "unit": plan.setup.game.unit,
            "seed": plan.seed,
            "matches": self.matches,
            "most_rounds": plan.rounds,
            **plan.task.to_dict(),
            "agents": [agent.name for agent in plan.agents],
            "edges": [edge.to_dict() for edge in self.edges],
            "notes": self.notes,
            **self.bots.to_dict(),
        }


class MatchDuplicate:
    """Duplicate play of whole matches among some agents under one setup."""

    def __init__(
        self, setup: Setup, agents: Sequence[Agent], *, seed: int, rounds: int | None = None, task: Task = DEFAULT_TASK
    ) -> None:
        """``rounds``: most rounds of a match (None: as the rules end it, else ``task.MATCH_ROUNDS``).

        ``task``: the payoff that is measured, and the start of a match. Raises :class:`ConfigError` for the start ``carried``,
        since matches have a beginning.
        """
        check_setup(setup)
        check_agents(agents)
        task.check(setup)
        if task.start == CARRIED:
            raise ConfigError(
                "A match carries its chips from its own beginning on: its start is 'fresh' or drawn, not 'carried'."
            )
        self.setup = setup
        self.agents = list(agents)
        self.seed = seed
        self.rounds = match_rounds(setup) if rounds is None else check_whole("The number of rounds of a match", rounds, 1)
        self.task = task

    def result(
        self, pairs: Sequence[tuple[int, int]], matches: int, *, progress: Callable[[int], object] | None = None
    ) -> MatchResult:
        """Returns the edges of the ``pairs`` (hero, field) of agents by number; other arguments as in :meth:`edge`."""
        BotCounts.taken(self.agents)  # what they did before does not count
        edges = [self.edge(hero, rival, matches, progress=progress) for hero, rival in pairs]
        return MatchResult(self, matches, edges, BotCounts.taken(self.agents))

    def edge(self, hero: int, rival: int, matches: int, *, progress: Callable[[int], object] | None = None) -> MatchEdge:
        """Returns the edge of agent number ``hero`` over a field of agent ``rival`` in the first ``matches`` matches of the seed.

        Match m is the same for every pair of agents, as the module says. The random draws of agents depend on the seed, the match
        and the seat, not on other agents or matches. ``progress`` is called with the number of matches done since the
        last call.
        """
        n = self.setup.players
        edge = MatchEdge(self.agents[hero].name, self.agents[rival].name, Differences(heavy=self.task.draws))
        pair = [self.agents[hero], self.agents[rival]]
        seating = np.ones((n + 1, n), np.int64)
        np.fill_diagonal(seating, 0)
        for at, count in chunks(0, check_whole("The number of matches", matches, 1), CHUNK_TABLES // (n + 1)):
            payoff, played = self.play(pair, np.broadcast_to(seating, (count, n + 1, n)), at)
            hero_payoff = payoff[:, range(n), :, range(n)].transpose(1, 2, 0)  # (M, R, n): the hero in each seat
            edge.add((hero_payoff - payoff[:, n]).mean(axis=2), played[:, :n].mean(axis=1))
            if progress is not None:
                progress(count)
        return edge

    def play(self, agents: Sequence[Agent], seating: NDArray[np.int64], first: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Plays the matches from ``first`` on with each of the seatings ``(M, T, n)``, indices into ``agents``.

        Returns the payoffs ``(M, T, R, n)`` by round, as the objective counts them and 0 after a match's end, and the number of
        rounds of each match ``(M, T)``. All tables play round by round.
        """
        matches, tables, n = seating.shape
        count = matches * tables
        log = any_needs_history(agents)
        batch = Batch(self.setup, count, start=CARRIED, autoreset=False, log=log)
        if self.task.draws:
            values = self.task.start_values(self.setup, streams(self.seed, matches, MATCH_DEALS, first=first))
            batch.set_start({name: np.repeat(rows, tables, axis=0) for name, rows in values.items()})
        states = np.repeat(seat_states(self.seed, MATCH_SEATS, first, matches, n), tables, axis=0)
        payoffs: list[NDArray[Any]] = []
        rounds = np.zeros(count, np.int64)
        going = np.arange(count)
        while going.size and len(payoffs) != self.rounds:
            deals = np.repeat(streams(self.seed, matches, MATCH_DEALS + len(payoffs), first=first), tables)
            batch.reset(going, seeds=deals[going], carry=bool(payoffs))
            payoff = play_out(batch, agents, seating.reshape(count, n), states)
            rounds[going] += 1
            finished = np.ones(count, np.bool_)
            finished[going] = False
            payoff[finished] = 0  # their reward is still that of their last step
            payoffs.append(self.task.payoff(payoff))
            going = going[batch.tables["stage"][going] != Stage.MATCH_OVER]
        return np.stack(payoffs, axis=1).reshape(matches, tables, len(payoffs), n), rounds.reshape(matches, tables)
