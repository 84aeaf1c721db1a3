"""A lower bound on best-response gains: what a responder gains in one seat while the agent plays all others.

The gain is the mean over the seats, by a seat's own payoff unless the task says otherwise. Its largest value over all
responders is the mean best-response gain, NashConv divided by the number of seats. The largest gain among the responders tried is
a lower bound of it, so it never shows that an agent cannot be exploited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from ..bots.counting import BotCounts
from ..distributed.plan_fields import DealPlan
from ..distributed.units import Executor, InProcess, Payload, Player, Results, WorkUnit
from ..stats.differences import interval_notes
from ..stats.intervals import to_json
from ..task import DEFAULT_TASK, Task
from .duplicate import Duplicate, Edge, EdgeSums, chunk_deals, chunks


@dataclass(frozen=True)
class BestResponseGap:
    """The largest gain over an agent found among some responders."""

    chosen_by: list[Edge]
    """Each responder's edge over a field of the agent, on the deals used to choose the best one."""
    gain: Edge
    """The chosen responder's edge on other deals, so that choosing the largest does not bias it."""
    bots: BotCounts = field(default_factory=BotCounts)
    """What the bots among the agents did wrong."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals (``stats.differences``)."""
        return interval_notes(edge.moments for edge in (*self.chosen_by, self.gain))

    def to_dict(self) -> dict[str, Any]:
        """Returns the entries of ``exploit.json``."""
        return {
            "responder": self.gain.hero,
            **_gain(self.gain),
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
) -> BestResponseGap:
    """Chooses the best of ``responders`` against ``target`` on ``choosing`` deals, and measures it on ``deals`` others.

    A responder sits in each seat in turn and the target in all others, as in ``duplicate``. A single responder is not put through
    the choice. ``task`` is that of ``Duplicate``. ``progress`` is called with the number of deals done, in all ``choosing *
    len(responders) + deals``. ``executor`` is where deals are played (None: in this process), as in ``tournament``. Raises
    :class:`AgentError` if there is no responder or two agents share a name.
    """
    names = tuple(agent.name for agent in (target, *responders))
    if not responders or len(set(names)) < len(names):
        raise AgentError(f"Expected a target and at least one responder, all with different names, not {[*names]!r}.")
    agents, where, bots = [target, *responders], executor or InProcess(), BotCounts()

    def edges(heroes: tuple[int, ...], first: int, count: int) -> list[Edge]:
        plan = ResponsePlan(setup, names, heroes, first, count, seed, task)
        return plan.edges(where.results(plan, agents, plan.units()), progress, bots)

    numbers = tuple(range(1, len(names)))
    tried = edges(numbers, 0, choosing) if len(responders) > 1 else []
    best = max(numbers, key=lambda number: tried[number - 1].mean) if tried else 1
    (gain,) = edges((best,), choosing, deals)
    return BestResponseGap(tried, gain, bots)


@dataclass(frozen=True)
class ResponsePlan(DealPlan):
    """Some agents in a field of the first one, on the same deals. A unit is one of them on some deals."""

    KIND: ClassVar[str] = "best response"

    heroes: tuple[int, ...]
    """Numbers of agents."""
    first: int
    deals: int
    seed: int
    task: Task

    def units(self) -> Iterator[WorkUnit]:
        """Yields the units of all heroes on the same deals, one chunk after the other."""
        for at, count in chunks(self.first, self.deals, chunk_deals(self.setup)):
            for part in range(len(self.heroes)):
                yield WorkUnit(part, at, count)

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit."""
        duplicate = Duplicate(self.setup, agents, seed=self.seed, task=self.task)

        def play(unit: WorkUnit) -> Payload:
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
