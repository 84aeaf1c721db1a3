"""Batches of a ladder as units of work, for this process, others or a cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from nainjaune_env.agent import Agent

from ...base.settings import NonNegativeInt
from ...players.program.counting import KEY as BOTS
from ...players.program.counting import BotCounts
from ..distributed.plan_fields import DealPlan, Deals, Place
from ..distributed.units import Payload, Player, WorkUnit
from ..edges import EdgeSums
from ..plan import Cell, Measurement, MeasurePlan
from ..stats.exact_sums import DifferenceSums
from ..timing import TimedAgent

CELLS = (Cell(0, 0), Cell(1, 1), Cell(0, 1), Cell(1, 0))
"""What two entries play on each deal: both alone, and each in a field of the other."""


class PairDeals(NamedTuple):
    """Some deals of two agents of a plan, by their numbers."""

    one: NonNegativeInt
    other: NonNegativeInt
    seed: NonNegativeInt
    """Of the pair's deals."""
    first: Place
    deals: Deals


class LadderPlan(DealPlan, frozen=True):
    """Batches of different pairs at one table, which workers share. A unit's part is the number of its batch.

    Every pair has a seed, and so a ``MeasurePlan``, of its own, of which a unit plays all cells.
    """

    KIND: ClassVar[str] = "ladder"

    batches: tuple[PairDeals, ...]

    def units(self) -> Iterator[WorkUnit]:
        """Yields the batches."""
        return (WorkUnit(part, batch.first, batch.deals) for part, batch in enumerate(self.batches))

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that plays a batch.

        Its result has the ``sums`` of a row (:class:`~.batches.BatchSums`), and for both agents the ``clocks`` and the
        ``counts`` of its bot (None: it is none).
        """
        timed = [TimedAgent(agent) for agent in agents]

        def play(unit: WorkUnit) -> Payload:
            batch = self.batches[unit.part]
            two = [timed[batch.one], timed[batch.other]]
            names = tuple(agent.name for agent in two)
            plan = MeasurePlan(self.setup, names, batch.seed, unit.deals, unit.first, parts=(CELLS,))
            edges = [EdgeSums(plan.source, plan.source.seats**2) for _ in two]
            advantage, gains, bots = DifferenceSums(2 * edges[0].gain.scale), hashlib.sha256(), BotCounts()
            for block in Measurement(plan, two).blocks():
                alone_one, alone_other, one, other = (block.rows[cell] for cell in CELLS)
                gain = edges[0].add(one.values, alone_other.values, one.leader)
                back = edges[1].add(other.values, alone_one.values, other.leader)
                advantage.add(gain - back)
                gains.update(np.stack([gain, back], axis=1).astype("<i8").tobytes())
                for row in block.rows.values():
                    bots.add(row.bots)
            counts = bots.to_dict().get(BOTS, {})
            return {
                "sums": {"advantage": advantage.to_json(), "gains": gains.hexdigest()[:32]},
                "clocks": [agent.clock.taken() for agent in two],
                "counts": [counts.get(name) for name in names],
            }

        return play
