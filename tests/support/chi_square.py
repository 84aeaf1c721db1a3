"""Whether counts fit what was expected: Pearson's test."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import erfc, sqrt
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def surprising(result: Mapping[Key, int], expected: Mapping[Key, float], *, at: float = 1e-6) -> bool:
    """Whether counts are as far from those ``expected`` (in any unit) as only one draw in 1/``at`` would be, or impossible ones.

    What is expected fewer than five times is counted together.
    """
    draws, whole = sum(result.values()), sum(expected.values())
    if any(number and not expected.get(key) for key, number in result.items()):
        return True
    share = {key: draws * part / whole for key, part in expected.items() if part}
    cells = [(result.get(key, 0), often) for key, often in share.items() if often >= 5]
    rare = [(result.get(key, 0), often) for key, often in share.items() if often < 5]
    if rare:
        cells.append((sum(number for number, _ in rare), sum(often for _, often in rare)))
    freedom = len(cells) - 1
    if freedom < 1:
        return False
    statistic = sum((number - often) ** 2 / often for number, often in cells)
    # Wilson and Hilferty 1931: the cube root of chi square over its freedom is nearly normal
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread)
    return erfc(z / sqrt(2)) / 2 < at
