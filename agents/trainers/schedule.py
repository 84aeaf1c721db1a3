"""Values that change in the course of a run."""

from __future__ import annotations


def anneal(first: float, last: float, fraction: float) -> float:
    """From ``first`` to ``last`` in a straight line as ``fraction`` goes from 0 to 1."""
    return first + (last - first) * min(max(fraction, 0.0), 1.0)
