"""Advantages along each seat's own decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.jit import jit


@jit
def _backward(chain: Any, earned: Any, value: Any, final: Any, lam: Any, out: Any, later: Any) -> None:
    for t in range(chain.size - 1, -1, -1):
        c = chain[t]
        if later[c, 3] == 0.0:
            later[c, 0] = final[c]
        delta = later[c, 0] - earned[t] + later[c, 1] - value[t]
        out[t] = delta + lam * later[c, 2]
        later[c, 0] = earned[t]
        later[c, 1] = value[t]
        later[c, 2] = out[t]
        later[c, 3] = 1.0


def gae(
    chain: NDArray[np.int64],
    earned: NDArray[np.float32],
    value: NDArray[np.float32],
    final: NDArray[np.float32],
    lam: float,
) -> NDArray[np.float32]:
    """Generalised advantage estimates of T decisions, undiscounted, every chain of decisions played to its end.

    ``chain (T,)`` numbers the (table, seat) that decides, in order of time; ``earned (T,)`` is what that seat had netted
    when it decided, ``final (C,)`` what each chain netted in the end, ``value (T,)`` the critic's estimate of the rest. The
    reward of a decision is what came in until the same seat's next one. With ``lam = 1``: what was still to come, minus
    the value.

    Schulman, Moritz, Levine, Jordan and Abbeel, "High-dimensional continuous control using GAE", 2016, eq. 16.
    """
    out = np.empty(len(chain), np.float32)
    later = np.zeros((len(final), 4))  # per chain: earned, value and advantage at its next decision; 1 = it has one
    _backward(chain, earned, value, final, lam, out, later)
    return out
