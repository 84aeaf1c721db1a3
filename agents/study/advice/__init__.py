"""Advice on decisions: the expected payoff of each action, its interval, and the reasons; and reviews of recorded matches."""

from __future__ import annotations

from .adviser import Advice, Adviser
from .playouts import Column, Playouts, columns_of

__all__ = ["Advice", "Adviser", "Column", "Playouts", "columns_of"]
