"""The space of observations, and action spaces whose ``sample()`` draws legal actions.

They draw from a mask that the environment keeps up to date. The mask does not change which actions a space contains, so it equals
the plain space and can replace it anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from nainjaune_env.core.layout import Layout

OBSERVATION_DTYPES = ("uint8", "float32")
"""The dtypes in which a learner may observe the same numbers."""


def observation_space(layout: Layout, dtype: DTypeLike = np.uint8) -> spaces.Box:
    """Returns ``Box(0, layout.high, dtype)``, shape ``(size,)``."""
    high = layout.high.astype(dtype)
    return spaces.Box(np.zeros_like(high), high, dtype=high.dtype.type)


def masked_space(layout: Layout, actions: int) -> spaces.Dict:
    """Returns the space of an observation beside a mask, ``(actions,) int8``, as PettingZoo's classic games have it."""
    return spaces.Dict({"observation": observation_space(layout), "action_mask": spaces.Box(0, 1, (actions,), np.int8)})


class LegalDiscrete(spaces.Discrete):
    """``Discrete(A)`` whose :meth:`sample` draws a legal action."""

    def __init__(self, mask: NDArray[np.int8]) -> None:
        """``mask (A,) int8``: 1 = legal. Kept, not copied: the environment writes to it in place."""
        super().__init__(len(mask))
        self.legal = mask

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Draws as ``Discrete.sample`` does; without arguments a legal action, or any action where no episode runs."""
        if mask is None and probability is None and self.legal.any():
            mask = self.legal
        return super().sample(mask, probability)


class LegalMultiDiscrete(spaces.MultiDiscrete):
    """``MultiDiscrete([A] * B)`` whose :meth:`sample` draws from the legal actions of each table."""

    def __init__(self, mask: NDArray[np.int8]) -> None:
        """``mask (B, A) int8``: 1 = legal. Kept, not copied."""
        tables, actions = mask.shape
        super().__init__(np.full(tables, actions))
        self.legal = mask

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[Any]:
        """Draws as ``MultiDiscrete.sample`` does; without arguments legal actions ``(B,)``, or any where no episode runs."""
        if mask is not None or probability is not None:
            return np.asarray(super().sample(mask, probability))
        uniforms = self.np_random.random(self.legal.shape)
        best: NDArray[Any] = np.argmax(uniforms + self.legal, axis=1)  # a legal action has 1 + uniform, above all others
        return best.astype(self.dtype)
