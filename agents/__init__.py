"""Players of the games, their measurement, their training, studies of play, and tables for people: eight rooms."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .measure.any_game.game_table import game_table
    from .measure.duplicate_edge import edge

__all__ = ["edge", "game_table"]

_HOMES = {"edge": "measure.duplicate_edge", "game_table": "measure.any_game.game_table"}
"""Public name -> the module of this package that defines it."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    return globals()[name]
