"""The start of the rounds of a batch, as its argument ``start`` gives it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.core.errors import DealError, quoted, unknown_name_message
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.core.validation import as_array

Start = str | Mapping[str, ArrayLike]
"""``"fresh"``, ``"carried"`` or values by name: the argument ``start`` of a batch."""

MAX_START_VALUE = 1 << 28
"""The highest; none is below 0."""


def parse_start(game: GameSpec, num_tables: int, start: object) -> tuple[NDArray[np.int32], bool]:
    """Returns the start values of matches, ``(num_tables, k)``, and whether rounds carry on with them.

    ``start`` is ``"fresh"``, ``"carried"`` or values by name; k is 0 without values. Raises :class:`DealError` for anything else.
    """
    if isinstance(start, str):
        if start not in ("fresh", "carried"):
            raise DealError(unknown_name_message("start", start, ("fresh", "carried")))
        return np.zeros((num_tables, 0), np.int32), start == "carried"
    if not isinstance(start, Mapping):
        raise DealError(f"start is 'fresh', 'carried' or values by name, not {quoted(start)}.")
    if start and not game.start_values:
        raise DealError(f"{game.title} has no start values, so start is 'fresh' or 'carried'.")
    for name in start:
        if name not in game.start_values:
            raise DealError(unknown_name_message("start value", name, game.start_values))
    columns = []
    for name, size in game.start_values.items():
        if name in start:
            columns.append(_column(f"start[{name!r}]", num_tables, size, start[name]))
        else:
            columns.append(np.zeros((num_tables, size), np.int32))
    return np.concatenate([np.zeros((num_tables, 0), np.int32), *columns], axis=1), False


def _column(what: str, num_tables: int, size: int, values: ArrayLike) -> NDArray[np.int32]:
    given = as_array(f"{what} is rows of one length, not", values)
    if given.shape not in ((size,), (num_tables, size)):
        raise DealError(f"{what} has shape ({size},) or ({num_tables}, {size}), not {given.shape}.")
    if given.dtype.kind not in "iu":
        raise DealError(f"{what} are whole numbers, not an array of {given.dtype}.")
    if given.size and not 0 <= given.min() <= given.max() <= MAX_START_VALUE:
        raise DealError(f"Start values are from 0 to {MAX_START_VALUE}; got {given.min()} to {given.max()}.")
    return np.broadcast_to(given, (num_tables, size)).astype(np.int32)
