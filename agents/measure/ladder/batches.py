"""The batches in a result's file, checked: they follow each other from deal 0, and no number contradicts another.

This is read from the file alone, whenever results are read. ``check`` plays a random part of the batches again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nainjaune_env.core.errors import RecordError, quoted
from nainjaune_env.core.validation import check_equal, check_keys, check_list

from ...players.program.faults import Fault
from ..stats.differences import Side

KEYS = ("first", "deals", "advantage", "gains")
FAULTS, FORFEITED = "faults", "forfeited"
"""The faults of both entries by kind, where there are any; among them the decisions that were made for a bot."""
DIGEST = re.compile("[0-9a-f]{32}")
MAX_SUM = (1 << 63) - 1
"""Of numerators: they are added in 64 bits."""


def check_batches(where: str, batches: Sequence[Any], programs: Mapping[str, bool]) -> None:
    """Raises :class:`RecordError`, a sentence that begins with ``where``, unless ``batches`` agree with each other.

    They have equally many deals, from 0 on, without a gap. ``programs`` says of both entries, by key, whether each is a program
    whose faults are forfeits.
    """
    following = 0
    for number, batch in enumerate(batches, 1):
        here = f"{where}, batch {number}"
        check_keys(here, batch, KEYS, (FAULTS,))
        deals = batch["deals"]
        if type(deals) is not int or not 1 <= deals <= MAX_SUM:
            raise RecordError(f"{here}: expected 'deals' to be a whole number from 1 to {MAX_SUM}, and it is {quoted(deals)}.")
        check_equal(here, "deals", deals, batches[0]["deals"])
        check_equal(here, "first", batch["first"], following)
        following += deals
        _check_sums(here, batch["advantage"], deals)
        if not isinstance(batch["gains"], str) or not DIGEST.fullmatch(batch["gains"]):
            raise RecordError(f"{here}: expected 'gains' to be 32 hexadecimal digits, and it is {quoted(batch['gains'])}.")
        if FAULTS in batch:
            _check_faults(here, batch[FAULTS], programs)


def _check_sums(here: str, advantage: object, deals: int) -> None:
    count, *sums = check_list(here, "advantage", advantage, int, 7)
    sides = Side(*sums[:3]), Side(*sums[3:])
    if count != deals or sum(side.number for side in sides) > deals or not all(map(_possible, sides)):
        raise RecordError(
            f"{here}: expected 'advantage' to be the count of {deals} whole numbers, with the number, sum and sum of "
            f"squares of those above 0 and of those below, and no such numbers give {quoted(advantage)}."
        )


def _possible(side: Side) -> bool:
    """Returns whether there are whole numbers above 0 with the number, the sum and the sum of squares of ``side``."""
    number, total, squares = map(int, side)
    if number <= 0:
        return number == total == squares == 0
    if not number <= total <= MAX_SUM or (squares - total) % 2:  # x² - x is even
        return False
    low, rest = divmod(total, number)  # the squares are least where all are nearly equal, and most where all but one are 1
    return number * low**2 + rest * (2 * low + 1) <= squares <= (total - number + 1) ** 2 + number - 1


def _check_faults(here: str, faults: object, programs: Mapping[str, bool]) -> None:
    rows = check_list(here, FAULTS, faults, dict, 2)
    if not any(rows):
        raise RecordError(f"{here}: expected {FAULTS!r} of at least one entry, and it is {quoted(faults)}.")
    for row, (key, program) in zip(rows, programs.items(), strict=True):
        if row and not program:
            raise RecordError(f"{here}: expected no faults of {key!r}, which is no program, and they are {quoted(row)}.")
        numbers = all(type(count) is int and count >= 0 for count in row.values())
        if row and not (FORFEITED in row and row.keys() <= {*Fault, FORFEITED} and numbers and any(row.values())):
            raise RecordError(
                f"{here}: expected the faults of {key!r} to be numbers of {', '.join(Fault)} and {FORFEITED}, not all 0, and "
                f"they are {quoted(row)}."
            )
