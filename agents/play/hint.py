"""Hints for a person: the move that advice finds best, with rounds played to their end by the game's best heuristic."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup

from ..advice.adviser import Adviser
from ..advice.models import in_seats, players
from ..heuristics import yardstick
from ..seeds import Stream, generator

DEALS = 1000
"""Deals in which each move is tried."""


def best_move(setup: Setup, seed: int, tables: NDArray[Any]) -> int:
    """Returns the best action at a table, an array of one, for its seat to act; only what that seat may know is used.

    Random numbers are not the game's. Raises :class:`~nainjaune_env.core.errors.RulesError` for a game without advice.
    """
    adviser = Adviser(setup, players(setup, in_seats(setup, [yardstick(setup.game.name)])))
    return int(adviser.advise(tables, generator(seed, Stream.ADVICE), deals=DEALS).best[0])
