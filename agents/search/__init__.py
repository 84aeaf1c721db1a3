"""Search: flat Monte Carlo over determinizations, tables that the seat to act cannot tell from its own."""

from __future__ import annotations

from .adaptive import AdaptiveSearchAgent
from .agent import SearchAgent, Values, searching
from .inference import UNIFORM, PolicyInference
from .rollouts import Rollouts, rollouts_by

__all__ = [
    "UNIFORM",
    "AdaptiveSearchAgent",
    "PolicyInference",
    "Rollouts",
    "SearchAgent",
    "Values",
    "rollouts_by",
    "searching",
]
