"""Search: flat Monte Carlo over worlds that a seat cannot tell from its own."""

from __future__ import annotations

from .agent import SearchAgent, Values, searching
from .rollouts import Rollouts, rollouts_by

__all__ = ["Rollouts", "SearchAgent", "Values", "rollouts_by", "searching"]
