"""The content of a row of a ladder, checked where a digest protects from nothing: no number contradicts another.

This is read from the row alone, whenever results are read. ``check`` plays a random part of the rows again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from nainjaune_env.core.errors import RecordError, quoted

from ...base.settings import convert
from ...players.program.faults import Fault
from ..rows import Row
from ..stats.differences import Side

MAX_SUM = (1 << 63) - 1
"""Of numerators: they are added in 64 bits."""
Count = Annotated[int, Meta(ge=0, le=MAX_SUM)]


class BatchSums(Struct, frozen=True, forbid_unknown_fields=True):
    """The sums of a row."""

    advantage: tuple[int, int, int, int, int, int, int]
    """Of the first entry over the second, as ``DifferenceSums.to_json`` writes it."""
    gains: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    """The first digits of the SHA-256 of all gains: by deal, that of the first entry and that of the second."""


class Faults(Struct, frozen=True, forbid_unknown_fields=True):
    """What a program did wrong in a batch, as ``BotCounts`` counts it."""

    decisions: Count
    forfeited: Count
    faults: dict[Fault, Count]
    costs: dict[str, Count] = {}


class BotFaults(Struct, frozen=True, forbid_unknown_fields=True):
    """The faults of entries by key, where there were any."""

    bots: dict[str, Faults] = {}


class Made(Struct, frozen=True, forbid_unknown_fields=True):
    """Calls, decisions and seconds of each entry by key."""

    clocks: dict[str, tuple[Count, Count, Annotated[float, Meta(ge=0, le=1e9)]]] = {}


class Batch(Struct, frozen=True, forbid_unknown_fields=True):
    """What a row of a ladder has beside its key and its deals."""

    sums: BatchSums
    bots: BotFaults
    made: Made


def check_batch(where: str, row: Row, programs: Mapping[str, bool]) -> None:
    """Raises :class:`RecordError`, a sentence that begins with ``where``, unless a ladder may have written the ``row``.

    ``programs`` says of both entries, by key, whether each is a program whose faults are forfeits.
    """
    batch = convert(Batch, {"sums": row.sums, "bots": row.bots, "made": row.made}, where, RecordError)
    count, *sums = batch.sums.advantage
    sides = Side(*sums[:3]), Side(*sums[3:])
    if count != row.deals or sum(side.number for side in sides) > row.deals or not all(map(_possible, sides)):
        raise RecordError(
            f"{where}: expected 'advantage' to be the count of {row.deals} whole numbers, with the number, sum and sum of "
            f"squares of those above 0 and of those below, and no such numbers give {quoted(batch.sums.advantage)}."
        )
    for key, counts in batch.bots.bots.items():
        if not programs.get(key):
            raise RecordError(f"{where}: expected no faults of {quoted(key)}, which is no program here.")
        if not counts.forfeited and not any(counts.faults.values()):
            raise RecordError(f"{where}: expected faults of {quoted(key)}, as it is named among those that had some.")


def _possible(side: Side) -> bool:
    """Returns whether there are whole numbers above 0 with the number, the sum and the sum of squares of ``side``."""
    number, total, squares = map(int, side)
    if number <= 0:
        return number == total == squares == 0
    if not number <= total <= MAX_SUM or (squares - total) % 2:  # x² - x is even
        return False
    low, rest = divmod(total, number)  # the squares are least where all are nearly equal, and most where all but one are 1
    return number * low**2 + rest * (2 * low + 1) <= squares <= (total - number + 1) ** 2 + number - 1
