"""``UndealtBatch``: a batch for environments, which deal when they are reset."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.engine.batch import Batch


class UndealtBatch(Batch):
    """A ``Batch`` that deals nothing when it is made, so that no code is compiled for a deal that nobody sees."""

    _made = False

    def __init__(self, *args: Any, **settings: Any) -> None:
        """Take the arguments of ``Batch`` and raise its errors."""
        super().__init__(*args, **settings)
        self._made = True

    def reset(self, *args: Any, **settings: Any) -> None:
        """Begin new matches, as ``Batch.reset`` does; nothing while the batch is made."""
        if self._made:
            super().reset(*args, **settings)

    def deal(self, which: NDArray[np.int64], states: NDArray[np.uint64]) -> None:
        """Deal new matches at the tables ``which (K,)`` from ``states (K,)`` of their generators; no ply is made."""
        self._loops.deal_tables(self.tables, self._rules, self._options, which, states, self._values, True)
