"""The arrays of tables with a learner, an argument of ``learner_loops``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ACTIONS, SEATS, POOL = 0, 1, 2
"""Rows of ``LearnerArrays.streams``."""


class LearnerArrays(NamedTuple):
    """What ``learner_loops`` keep of B tables beside the arrays of ``Batch``; n seats, P agents.

    The class is not in ``learner_loops`` for the reason that ``EpisodeOptions`` gives.
    """

    learner: NDArray[np.int64]
    """``(B,)``: the learner's seat, in self-play the one to act, at the end the one that acted last; -1 before a reset."""
    seats: NDArray[np.int64]
    """``(B, n)``: the number of the agent in each seat; -1 is the learner."""
    policies: NDArray[np.int64]
    """``(P,)``: how each agent is played: ``learner_loops.IN_PYTHON``, ``UNIFORM``, or its number for ``decide``."""
    order: NDArray[np.int64]
    """The numbers of the agents in the seats after the learner's, ``(n - 1,)``; with a pool, of its members."""
    ends: NDArray[np.float64]
    """The cumulated frequencies of a pool's members, the last one 1; empty without a pool."""
    streams: NDArray[np.uint64]
    """``(3, B)``: the generators of the opponents' actions (``ACTIONS``), of the learner's seat (``SEATS``) and of the opponents
    that a pool seats (``POOL``)."""
    undecided: NDArray[np.bool_]
    """``(B,)``: whether the learner has had no decision yet in the episode."""
    redeals: NDArray[np.int64]
    """``(B,)``: deals since the last reset in which the learner had no decision."""
    gained: NDArray[np.float64]
    """``(B,)``: what the seat ``learner`` has gained between its last two decisions, or up to the end."""
    waiting: NDArray[np.int64]
    """``(B,)``: first the tables that the last call left at the turn of another agent."""
    waiting_count: NDArray[np.int64]
    """``(1,)``: how many these are."""
