"""Search: flat Monte Carlo over determinizations, tables that the seat to act cannot tell from its own."""

from __future__ import annotations

from .adaptive import AdaptiveSearchAgent
from .agent import SearchAgent, searching
from .inference import UNIFORM, PolicyInference
from .rollouts import Rollouts, rollouts_by
from .values import ActionValues

SEARCHES = {search.modifier: search for search in (SearchAgent, AdaptiveSearchAgent)}
"""The searches over an agent, in any game, by their modifiers (``loading.SEARCHES``)."""

__all__ = [
    "SEARCHES",
    "UNIFORM",
    "ActionValues",
    "AdaptiveSearchAgent",
    "PolicyInference",
    "Rollouts",
    "SearchAgent",
    "rollouts_by",
    "searching",
]
