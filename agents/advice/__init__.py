"""Advice on decisions: what each action comes to, how sure that is, and why; and reviews of matches that were played."""

from __future__ import annotations

from .adviser import Advice, Adviser
from .playouts import Column, Playouts, columns_of

__all__ = ["Advice", "Adviser", "Column", "Playouts", "columns_of"]
