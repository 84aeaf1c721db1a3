"""Batches of a ladder as units of work, for this process, others or a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np

from nainjaune_env.agent import Agent

from ...base.settings import NonNegativeInt
from ..arena.advantage import doubled_advantage
from ..arena.duplicate import chunks
from ..arena.timing import TimedAgent
from ..arena.versus import LOOK_EVERY, both_ways
from ..distributed.plan_fields import DealPlan, Deals, Place
from ..distributed.units import Payload, Player, WorkUnit
from ..stats.exact_sums import DifferenceSums
from .results import pair_seed


class LadderPlan(DealPlan, frozen=True):
    """Some batches at one table. A unit's part is the number of its pair among all pairs of ``agents``, in order.

    A batch is played as ``nainjaune versus`` plays these deals, so that this command repeats the result of a pair.
    """

    KIND: ClassVar[str] = "ladder"

    entries: tuple[str, ...]
    """The keys of the agents' entries, in their order."""
    table: str
    seed: NonNegativeInt
    """Of the ladder."""
    batches: tuple[tuple[NonNegativeInt, Place, Deals], ...]
    """Part, first deal and number of deals."""

    def units(self) -> Iterator[WorkUnit]:
        """Yields the batches."""
        return (WorkUnit(*batch) for batch in self.batches)

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a batch.

        Its result has ``first``, ``deals``, the sums of ``advantage`` (``DifferenceSums.to_json``), the ``gains`` as 32 digits of
        their SHA-256, and the ``times`` of both agents.
        """
        timed = [TimedAgent(agent) for agent in agents]
        pairs = [*combinations(range(len(agents)), 2)]

        def play(unit: WorkUnit) -> Payload:
            numbers = pairs[unit.part]
            seed = pair_seed(self.seed, self.table, *(self.entries[number] for number in numbers))
            two = [timed[number] for number in numbers]
            parts = [
                both_ways(self.setup, two, seed, at, count) for at, count in chunks(unit.first, unit.deals, LOOK_EVERY)
            ]  # fmt: skip
            gains = np.concatenate(parts)
            sums = DifferenceSums(2 * self.setup.players**2)
            sums.add(doubled_advantage(*gains.T))
            digest = hashlib.sha256(np.ascontiguousarray(gains, "<i8").tobytes()).hexdigest()[:32]
            return {
                "first": unit.first,
                "deals": unit.deals,
                "advantage": sums.to_json(),
                "gains": digest,
                "times": [agent.clock.taken() for agent in two],
            }

        return play
