"""Schedules: values that change in the course of a run."""

from __future__ import annotations


def anneal(first: float, last: float, fraction: float) -> float:
    """Returns the value at ``fraction`` of the line from ``first``, at 0, to ``last``, at 1."""
    return first + (last - first) * min(max(fraction, 0.0), 1.0)
