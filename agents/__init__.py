"""Players of the games, their measurement, their training, studies of play, and tables for people: eight rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .measure.duplicate_edge import edge

__all__ = ["edge"]


def __getattr__(name: str) -> Any:
    if name != "edge":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .measure.duplicate_edge import edge

    globals()[name] = edge
    return edge
