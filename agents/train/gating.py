"""Gating: whether a new generation of a network is taken, by duplicate play against the one before.

As in AlphaGo Zero's evaluator, but with a test in place of a share of wins: the new network is refused if it is weaker at a
one-sided level of 5 %. A network that is equally strong is taken in 95 of 100 cases, for it learned from newer labels.

Source: Silver et al., "Mastering the game of Go without human knowledge", 2017 (evaluator).
"""

from __future__ import annotations

from statistics import NormalDist

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup

from ..base.task import Task
from ..measure.arena.openings import most_chips_at_start
from ..measure.edges import Edge, FieldAlone
from ..measure.own_game import OwnGame
from ..measure.stats.intervals import Z_95

LEVEL = 0.05
"""Probability that a network that is not weaker is refused, at most."""


def edge_over(current: Agent, candidate: Agent, setup: Setup, *, deals: int, seed: int, task: Task) -> Edge:
    """Returns the edge of ``candidate`` in a field of ``current`` at ``task``, on ``deals`` duplicate deals."""
    edge = FieldAlone(OwnGame(setup, seed, task), current, deals).edge(candidate)
    edge.moments.outlier = most_chips_at_start(setup, task) / 2
    return edge


def is_weaker(edge: Edge) -> bool:
    """Returns whether the one-sided upper bound of ``edge`` is below 0; not where too few deals differ.

    Deals that decide all chips in the pots may be missing; they count as in ``stats.sequential``.
    """
    moments = edge.moments.with_outliers()
    bound: float = moments.mean + moments.nominal_half_width * NormalDist().inv_cdf(1 - LEVEL) / Z_95  # may be NaN
    return bound < 0
