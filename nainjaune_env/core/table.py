"""What every game's table has in common, for kernels and for compiled loops."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

Table: TypeAlias = Any
"""One record of a game's structured dtype (``GameSpec.table``): compiled code and ``np.record`` read its fields as attributes.

Every game's table has the fields ``rng`` (uint64, the state of its generator), ``seat`` (the seat to act) and ``stage``.
"""


class Stage(IntEnum):
    """Where a table stands; compiled code uses the members as they are."""

    PLAYING = 0
    """A seat is to act."""
    ROUND_OVER = 1
    """The round is settled; the match goes on with ``deal``."""
    MATCH_OVER = 2
    """The round is settled, and it was the match's last."""
