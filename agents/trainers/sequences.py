"""Decisions sorted into chains, the decisions of one seat in one round, for networks that learn along them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


class Chains:
    """The chains of a rollout."""

    def __init__(self, chain: NDArray[np.int64]) -> None:
        """``chain (T,)`` numbers the chain that each decision belongs to, in order of time; not every number need occur."""
        self._rows = np.argsort(chain, kind="stable")  # chain by chain, each in order of time
        numbers, self._starts, self.lengths = np.unique(chain[self._rows], return_index=True, return_counts=True)
        self.count = len(numbers)

    def shuffled(self, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """All chains once, in random order, as arrays of their places: each of about ``size`` decisions, at least one chain."""
        order = rng.permutation(self.count)
        ends = np.cumsum(self.lengths[order])
        parts = max(1, round(int(ends[-1]) / size))
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts, side="left") + 1
        for some in np.split(order, np.unique(cuts)):
            if some.size:
                yield some

    def packed(self, some: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The decisions of the chains ``some`` as a packed sequence: rows of the rollout ``(K,)`` and batch sizes ``(L,)``.

        All first decisions, then all second ones and so on, the longest chains first each time, as
        ``torch.nn.utils.rnn.PackedSequence`` wants them.
        """
        some = some[np.argsort(-self.lengths[some], kind="stable")]
        lengths = self.lengths[some]
        steps = np.arange(lengths[0])
        there = steps[:, None] < lengths[None, :]  # (L, chains)
        at = self._starts[some][None, :] + steps[:, None]
        return self._rows[at[there]], there.sum(axis=1)
