"""Action spaces that draw legal actions: ``space.sample()`` looks at a mask that the environment keeps up to date.

What is in a space does not change with the mask, so it is equal to the plain one and serves wherever that does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


class LegalDiscrete(spaces.Discrete):
    """``Discrete(A)`` whose :meth:`sample` draws from the legal actions, as long as there are any."""

    def __init__(self, mask: NDArray[np.int8]) -> None:
        """``mask (A,) int8``: 1 = legal. Kept, not copied: written over in place as the game goes on."""
        super().__init__(len(mask))
        self.legal = mask

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """As ``Discrete.sample``; with neither argument a legal action. Where none is legal no episode runs: any action."""
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
        """As ``MultiDiscrete.sample``; with neither argument legal actions ``(B,) int64``, any where none is legal."""
        if mask is not None or probability is not None:
            drawn: NDArray[Any] = super().sample(mask, probability)
            return drawn
        tickets = self.np_random.random(self.legal.shape)
        best: NDArray[Any] = np.argmax(tickets + self.legal, axis=1)  # a legal action's ticket is above all others'
        return best.astype(self.dtype)
