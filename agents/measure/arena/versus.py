"""Two agents compared over deals, for a fixed number of deals or until a sequential test decides.

A and B play each deal both ways: A in each seat in turn in a field of B, B in each seat in turn in a field of A, and each agent
once in all seats. ``duplicate`` defines gains, and ``advantage`` who is stronger. Advantages on different deals are independent
and identically distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup

from ...base.settings import NonNegativeInt
from ...base.task import CARRIED, DEFAULT_TASK, Task
from ...players.program.counting import BotCounts
from ..distributed.arrays import packed, unpacked
from ..distributed.plan_fields import DealPlan, Deals, Device
from ..distributed.units import Executor, InProcess, Payload, Player, WorkUnit, in_order
from ..stats.differences import Differences, interval_notes
from ..stats.exact_sums import DifferenceSums
from ..stats.intervals import to_json
from ..stats.sequential import SequentialTest, anytime_half_width
from .advantage import doubled_advantage
from .duplicate import CHUNKS_AT_ONCE, check_device, chunks, play_deals, whole_payoff
from .openings import most_chips_at_start, opening_tables

LOOK_EVERY = 256
"""Deals between looks at the test; enough that the first look is at a nearly normal mean."""


class VersusPlan(DealPlan, frozen=True):
    """What a comparison plays. A unit is the deals between two looks, both ways."""

    KIND: ClassVar[str] = "comparison"

    deals: Deals
    """The largest number; a test may stop earlier."""
    seed: NonNegativeInt
    """The deals of a tournament with this seed are played, from the first on."""
    task: Task = DEFAULT_TASK
    device: Device = "cpu"
    """Where the tables are, as in ``Duplicate``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.agents) != 2 or len(set(self.agents)) < 2:
            raise AgentError(f"A comparison takes two agents of different names, not {quoted([*self.agents])}.")

    def units(self) -> Iterator[WorkUnit]:
        """Yields the deals in order; on a GPU they are played ahead of looks."""
        for at, count in chunks(0, self.deals, LOOK_EVERY * CHUNKS_AT_ONCE[self.device]):
            yield WorkUnit(0, at, count)

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a unit."""
        check_device(self.setup, agents, self.device)
        self.task.check(self.setup)

        def play(unit: WorkUnit) -> Payload:
            return {"gains": packed(both_ways(self.setup, agents, self.seed, unit.first, unit.deals, self.device, self.task))}

        return play


class VersusResult:
    """How A and B compare so far."""

    def __init__(self, plan: VersusPlan, test: SequentialTest | None = None) -> None:
        """``test``: what decides when to stop (None: the number of deals is fixed)."""
        self.plan = plan
        self.test = test
        scale, heavy = plan.setup.players**2, plan.task.draws  # gains are whole numbers over the scale
        self._gains = (DifferenceSums(scale, heavy=heavy), DifferenceSums(scale, heavy=heavy))
        self._advantage = DifferenceSums(2 * scale, heavy=heavy)
        self._outlier = most_chips_at_start(plan.setup, plan.task) / 2
        self.bots = BotCounts()
        """What the bots among the agents did wrong."""

    def add(self, gains: NDArray[np.int64]) -> None:
        """Adds the numerators of :func:`both_ways` ``(D, 2)``."""
        self._advantage.add(doubled_advantage(*gains.T))
        for sums, gain in zip(self._gains, gains.T, strict=True):
            sums.add(gain)

    @property
    def advantage(self) -> Differences:
        """The advantages of A over B."""
        return replace(self._advantage.differences(), outlier=self._outlier)

    @property
    def gains(self) -> tuple[Differences, Differences]:
        """A's edge over a field of B, and B's over a field of A."""
        one, other = self._gains
        return one.differences(), other.differences()

    @property
    def decided(self) -> bool:
        """Whether the test has decided."""
        return self.test is not None and self.test.outcome(self.advantage) != "undecided"

    @property
    def notes(self) -> list[str]:
        """Sentences about the intervals (``stats.differences``)."""
        return interval_notes([self.advantage, *self.gains])

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of ``versus.json``."""
        plan, test, advantage = self.plan, self.test, self.advantage
        (a, b) = plan.agents
        return {
            **plan.setup.to_dict(),
            "unit": plan.setup.game.unit,
            "seed": plan.seed,
            **plan.task.to_dict(),
            "a": a,
            "b": b,
            "deals": advantage.count,
            **advantage.estimate.to_dict(),
            "differ": advantage.differing,
            "anytime95": to_json(anytime_half_width(advantage)),
            "edges": [
                {"hero": hero, "field": rival, **gain.estimate.to_dict(), "differ": gain.differing}
                for hero, rival, gain in zip((a, b), (b, a), self.gains, strict=True)
            ],
            "notes": self.notes,
            "test": test and {**asdict(test), "llr": test.llr(advantage), "outcome": test.outcome(advantage)},
            **self.bots.to_dict(),
        }


def versus(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    test: SequentialTest | None = None,
    progress: Callable[[VersusResult], object] | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> VersusResult:
    """Compares two agents until ``test`` decides (None: over all deals); ``options`` are the other fields of :class:`VersusPlan`.

    ``progress`` is called with the result so far after each :data:`LOOK_EVERY` deals. ``executor`` is where units are played
    (None: in this process); other processes load the agents by their names. Looks are at the deals from the first one on without
    a gap, in whatever order they are played, so the result does not depend on it. Raises :class:`AgentError` unless there are two
    agents of different names that can play there.
    """
    plan = VersusPlan(setup, tuple(agent.name for agent in agents), **options)
    return play_versus(plan, agents, executor or InProcess(), test, progress)


def play_versus(
    plan: VersusPlan,
    agents: Sequence[Agent],
    executor: Executor,
    test: SequentialTest | None = None,
    progress: Callable[[VersusResult], object] | None = None,
) -> VersusResult:
    """Plays the units of ``plan`` until ``test`` decides; arguments as in :func:`versus`."""
    result = VersusResult(plan, test)
    with closing(executor.results(plan, agents, plan.units())) as results:
        for unit, payload in in_order(plan.units(), results):
            result.bots.add(payload)
            gains = unpacked(payload["gains"], (unit.deals, 2), np.int64)
            for first, some in chunks(0, unit.deals, LOOK_EVERY):
                result.add(gains[first : first + some])
                if progress is not None:
                    progress(result)
                if result.decided:
                    return result
    return result


def both_ways(
    setup: Setup,
    agents: Sequence[Agent],
    seed: int,
    at: int,
    count: int,
    device: str = "cpu",
    task: Task = DEFAULT_TASK,
    heroes: tuple[int, ...] = (0, 1),
) -> NDArray[np.int64]:
    """Returns the gains ``(D, heroes)`` of two agents, each in a field of the other, on the deals ``at .. at+count-1``.

    They are numerators over n², since a gain is the mean over n seats of payoffs in whole n-ths. ``heroes`` are the
    numbers of those whose gains are returned.
    """
    if task.start == CARRIED and len(heroes) > 1:  # each way begins with the chips that its own field left: nothing is shared
        ways = [both_ways(setup, agents, seed, at, count, device, task, (who,)) for who in heroes]
        return np.concatenate(ways, axis=1)
    n = setup.players
    numbers: dict[tuple[int, ...], int] = {}  # with two seats, A in one of them is also B in the other

    def play(seating: tuple[int, ...]) -> int:
        return numbers.setdefault(seating, len(numbers))

    alone = {1 - who: play((1 - who,) * n) for who in reversed(heroes)}
    hero = {who: [play((1 - who,) * seat + (who,) + (1 - who,) * (n - 1 - seat)) for seat in range(n)] for who in heroes}
    seating = np.broadcast_to(np.array(list(numbers), np.int64), (count, len(numbers), n))
    field = np.full((count, n), 1 - heroes[0])
    openings = opening_tables(setup, task, seed, at, count, agents, field)
    payoff, _ = play_deals(setup, agents, seating, seed, at, openings=openings, device=device)
    payoff = whole_payoff(task, payoff)
    gains = [payoff[:, hero[who], range(n)] - payoff[:, alone[1 - who]] for who in heroes]  # each (D, n)
    return np.stack([gain.sum(axis=1) for gain in gains], axis=1)
