"""Who is stronger of two agents: one meaning for tournaments, for comparisons of two agents, and for all reports.

On a deal that is played with A in a field of B and with B in a field of A, the *advantage* of A over B is half of A's gain minus
B's gain, in the game's unit a round (``duplicate`` defines gains). It is antisymmetric: swapping A and B changes its sign. A is
**stronger** than B if the 95 % interval of the mean advantage over deals lies above 0. A sequential test compares the same mean
with two bounds. Both agents may gain in a field of the other, or lose there; edges show this, and the advantage does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..stats.differences import Differences


def doubled_advantage(gain: NDArray[np.int64], back: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns twice the advantages of A: its gains in a field of B less B's gains ``back`` in a field of A, on the same deals.

    Where gains are numerators over a scale, advantages are these numbers over twice the scale.
    """
    return gain - back


def stronger(advantage: Differences) -> int:
    """Returns 1 if A is stronger than B by the advantages of A over deals, -1 if B is stronger than A, else 0."""
    return advantage.estimate.sign
