"""A lower bound on best-response gains: what a responder gains in one seat while the agent plays all others.

The gain is the mean over the seats, by a seat's own payoff unless the task says otherwise. Its largest value over all
responders is the mean best-response gain, NashConv divided by the number of seats. The largest gain among the responders tried is
a lower bound of it, so it never shows that an agent cannot be exploited.

The gain is measured with control variates (``control_variate``) where they apply: the same mean with a smaller variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError, ConfigError, as_sentence
from nainjaune_env.core.spec import Setup

from ...base.seeds import Stream, derived_seed
from ...base.settings import NonNegativeInt
from ...base.task import DEFAULT_TASK, Task
from ...players.program.counting import BotCounts
from ...players.program.player import BotAgent
from ..distributed.plan_fields import DealPlan, Deals, Place
from ..distributed.units import Executor, InProcess, Payload, Player, Results, WorkUnit
from ..stats.differences import Differences, interval_notes
from ..stats.intervals import to_json
from .control_variate import check, controlled_gains
from .duplicate import Duplicate, Edge, EdgeSums, chunk_deals, chunks


@dataclass(frozen=True)
class BestResponseGap:
    """The largest gain over an agent found among some responders."""

    chosen_by: list[Edge]
    """Each responder's edge over a field of the agent, on the deals used to choose the best one."""
    gain: Edge
    """The chosen responder's edge on other deals, so that choosing the largest does not bias it."""
    duplicate: Differences | None = None
    """The same edge without control variates; None if it was measured without them anyway."""
    uncontrolled: str | None = None
    """Why the gain was measured without control variates, in a sentence."""
    bots: BotCounts = field(default_factory=BotCounts)
    """What the bots among the agents did wrong."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals (``stats.differences``), and about control variates that do not apply."""
        notes = interval_notes(edge.moments for edge in (*self.chosen_by, self.gain))
        return notes if self.uncontrolled is None else [*notes, self.uncontrolled]

    def to_dict(self) -> dict[str, Any]:
        """Returns the entries of ``exploit.json``."""
        return {
            "responder": self.gain.hero,
            **_gain(self.gain),
            **({} if self.duplicate is None else {"duplicate": self.duplicate.estimate.to_dict()}),
            "by_distance_from_lead": [stats.estimate.to_dict() for stats in self.gain.by_seat],
            "chosen_among": [{"responder": edge.hero, **_gain(edge)} for edge in self.chosen_by],
            "notes": self.notes,
            **self.bots.to_dict(),
        }


def _gain(edge: Edge) -> dict[str, Any]:
    return {"gain": edge.mean, "ci95": to_json(edge.ci95), "deals": edge.moments.count, "differ": edge.moments.differing}


def best_response_gap(
    setup: Setup,
    target: Agent,
    responders: Sequence[Agent],
    *,
    deals: int,
    choosing: int,
    seed: int,
    task: Task = DEFAULT_TASK,
    progress: Callable[[int], object] | None = None,
    executor: Executor | None = None,
    chunk: int | None = None,
) -> BestResponseGap:
    """Chooses the best of ``responders`` against ``target`` on ``choosing`` deals, and measures it on ``deals`` others.

    A responder sits in each seat in turn and the target in all others, as in ``duplicate``. A single responder is not put through
    the choice. The best is measured with control variates where they apply. ``task`` is that of ``Duplicate``, and so is
    ``chunk``, the deals played at once. ``progress`` is called with the number of deals done, in all
    ``choosing * len(responders) + deals``. ``executor`` is where deals are played (None: in this process), as in ``tournament``.
    Raises :class:`AgentError` if there is no responder or two agents share a name.
    """
    names = tuple(agent.name for agent in (target, *responders))
    if not responders or len(set(names)) < len(names):
        raise AgentError(f"Expected a target and at least one responder, all with different names, not {[*names]!r}.")
    agents, where, bots = [target, *responders], executor or InProcess(), BotCounts()

    def played(plan: ResponsePlan) -> Results:
        return where.results(plan, agents, plan.units())

    numbers, tried = tuple(range(1, len(names))), []
    if len(responders) > 1:
        apart = derived_seed(seed, Stream.CHOOSING)  # deals that choose never rate
        choice = ResponsePlan(setup, names, numbers, 0, choosing, apart, task, chunk=chunk)
        tried = choice.edges(played(choice), progress, bots)
    best = max(numbers, key=lambda number: tried[number - 1].mean) if tried else 1
    plan = ResponsePlan(setup, names, (best,), 0, deals, seed, task, chunk=chunk)
    uncontrolled = _without_control(setup, agents[best], target, task)
    if uncontrolled is not None:
        (gain,) = plan.edges(played(plan), progress, bots)
        return BestResponseGap(tried, gain, uncontrolled=uncontrolled, bots=bots)
    plan = structs.replace(plan, controlled=True)
    gain, plain = plan.controlled_edge(played(plan), progress, bots)
    return BestResponseGap(tried, gain, plain, bots=bots)


def _without_control(setup: Setup, responder: Agent, target: Agent, task: Task) -> str | None:
    """Returns why control variates do not apply, in a sentence; None if they do."""
    try:
        check(setup, responder, target, task)
    except (AgentError, ConfigError) as error:
        return f"The gain is measured without control variates. {as_sentence(error)}"
    if isinstance(target, BotAgent):
        return f"The gain is measured without control variates: {target.name} would be asked hundreds of times as often."
    return None


class ResponsePlan(DealPlan, frozen=True):
    """Some agents in a field of the first one, on the same deals. A unit is one of them on some deals."""

    KIND: ClassVar[str] = "best response"

    heroes: tuple[NonNegativeInt, ...]
    """Numbers of agents."""
    first: Place
    deals: Deals
    seed: NonNegativeInt
    task: Task
    controlled: bool = False
    """Whether control variates are computed; then there is one hero, to which they apply."""
    chunk: Deals | None = None
    """Deals of a unit, as in ``Duplicate``."""

    def units(self) -> Iterator[WorkUnit]:
        """Yields the units of all heroes on the same deals, one chunk after the other."""
        for at, count in chunks(self.first, self.deals, chunk_deals(self.setup, self.chunk)):
            for part in range(len(self.heroes)):
                yield WorkUnit(part, at, count)

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit."""
        duplicate = Duplicate(self.setup, agents, seed=self.seed, task=self.task, chunk=self.chunk)

        def play(unit: WorkUnit) -> Payload:
            if self.controlled:
                hero = agents[self.heroes[unit.part]]
                played = controlled_gains(
                    self.setup, hero, agents[0], unit.first, unit.deals, seed=self.seed, task=self.task
                )  # fmt: skip
                return {"gains": played.gains.tolist(), "leader": played.leader.tolist()}
            return duplicate.play(self.heroes[unit.part], 0, unit.first, unit.deals)[0].to_json()

        return play

    def edges(self, results: Results, progress: Callable[[int], object] | None, bots: BotCounts) -> list[Edge]:
        """Returns the edge of each hero, from the results of all units, and adds the counts of ``bots``."""
        sums = [EdgeSums(self.setup, measure=False, task=self.task) for _ in self.heroes]
        with closing(results):
            for unit, payload in results:
                bots.add(payload)
                sums[unit.part].merge(EdgeSums.from_json(self.setup, payload))
                if progress is not None:
                    progress(unit.deals)
        return [whole.edge(self.agents[hero], self.agents[0]) for whole, hero in zip(sums, self.heroes, strict=True)]

    def controlled_edge(
        self, results: Results, progress: Callable[[int], object] | None, bots: BotCounts
    ) -> tuple[Edge, Differences]:
        """Returns the hero's edge with control variates, and its differences without, as :meth:`edges` does."""
        parts: dict[int, Payload] = {}
        with closing(results):
            for unit, payload in results:
                bots.add(payload)
                parts[unit.first] = payload
                if progress is not None:
                    progress(unit.deals)
        ordered = [parts[first] for first in sorted(parts)]  # sums of floats depend on the order
        gains = np.concatenate([np.array(part["gains"]) for part in ordered], axis=1)
        leader = np.concatenate([np.array(part["leader"]) for part in ordered])
        plain, moments = (self._differences(each.mean(axis=1)) for each in gains)
        n, deal = self.setup.players, np.arange(len(leader))
        by_seat = [self._differences(gains[1, deal, (leader + distance) % n]) for distance in range(n)]
        return Edge(self.agents[self.heroes[0]], self.agents[0], moments, by_seat), plain

    def _differences(self, gains: NDArray[np.float64]) -> Differences:
        """Returns those of ``gains (D,)``."""
        return replace(Differences.of(gains), heavy=self.task.draws)
