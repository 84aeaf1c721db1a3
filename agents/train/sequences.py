"""Minibatches for networks with memory, of whole sequences: the decisions of one seat in one round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Sequences:
    """The sequences of a rollout."""

    def __init__(self, trajectory_id: NDArray[np.int64]) -> None:
        """``trajectory_id (T,)`` numbers the sequence of each decision, in order of time; numbers may be missing."""
        self._rows = np.argsort(trajectory_id, kind="stable")  # sequence by sequence, each in order of time
        numbers, self._starts, self.lengths = np.unique(trajectory_id[self._rows], return_index=True, return_counts=True)
        self.count = len(numbers)

    def shuffled(self, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yields all sequences once, in random order, as arrays of their indices: each of about ``size`` decisions."""
        order = rng.permutation(self.count)
        ends = np.cumsum(self.lengths[order])
        parts = max(1, round(int(ends[-1]) / size))
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts, side="left") + 1
        for some in np.split(order, np.unique(cuts)):
            if some.size:
                yield some

    def packed(self, some: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the sequences ``some`` packed: rows of the rollout ``(K,)`` and batch sizes ``(L,)``.

        All first decisions, then all second ones and so on, the longest sequences first each time, as in
        ``torch.nn.utils.rnn.PackedSequence``.
        """
        some = some[np.argsort(-self.lengths[some], kind="stable")]
        lengths = self.lengths[some]
        steps = np.arange(lengths[0])
        present = steps[:, None] < lengths[None, :]  # (L, sequences)
        at = self._starts[some][None, :] + steps[:, None]
        return self._rows[at[present]], present.sum(axis=1)


def packed_minibatches(trajectory_id: NDArray[np.int64], size: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields the rows of all decisions once, in parts of about ``size`` in whole trajectories, packed, and their batch sizes."""
    sequences = Sequences(trajectory_id)
    for some in sequences.shuffled(size, rng):
        rows, batch_sizes = sequences.packed(some)
        yield torch.from_numpy(rows), torch.from_numpy(batch_sizes)
