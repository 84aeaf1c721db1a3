"""An iteration cut into shards that processes share: what they exchange, and sums that do not depend on who has which shard.

A run has a fixed number of shards, and each process has consecutive ones. Whatever depends on all decisions is computed from
rows that every process gathers in the order of the shards, and gradients are added along a binary tree over the shards: first 0
and 1, 2 and 3, then these pairs, and so on. A process adds the subtrees that it has whole before it sends them. So every sum is
rounded in the same way, and weights are the same bits for any number of processes.

The collectives are those of gloo (``torch.distributed``), over TCP on the CPU.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.distributed import FileStore, ProcessGroupGloo, Store  # type: ignore[attr-defined]

from nainjaune_env.core.errors import DivergenceError

from .ppo_loss import Decisions, StepMoments

REDUCTIONS = ("ordered", "all_reduce")
"""How gradients of several processes are added: in a fixed order, or as gloo does, whose order depends on their number."""
TIMEOUT = timedelta(hours=12)
"""Of a collective: the first process may evaluate for long. The end of a process is noticed at once, by its connections."""


class Group:
    """The processes of a run; this one is alone."""

    rank = 0
    size = 1

    def shards(self, count: int, rank: int | None = None) -> range:
        """Returns those of ``count`` shards that the process ``rank`` has (None: this one)."""
        rank = self.rank if rank is None else rank
        return range(count * rank // self.size, count * (rank + 1) // self.size)

    def gather(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Returns the ``rows`` of all processes, ``(N, …)``, in the order of their ranks; they differ in their number alone."""
        return rows

    def gather_tensors(self, tensor: Tensor) -> list[Tensor]:
        """Returns the ``tensor`` of each process, of one shape and dtype, in the order of their ranks."""
        return [tensor]

    def all_reduce(self, tensor: Tensor) -> None:
        """Adds to ``tensor``, in place, those of the other processes, in an order that depends on their number."""

    def any(self, flag: bool) -> bool:
        """Returns whether ``flag`` is true in any process."""
        return bool(self.gather(np.array([flag])).any())

    def from_first(self, data: bytes) -> bytes:
        """Returns the ``data`` of the first process; that of the others is not read."""
        sent = np.frombuffer(data if self.rank == 0 else b"", np.uint8)
        return self.gather(sent).tobytes()

    def barrier(self) -> None:
        """Waits until all processes have called it."""


class GlooGroup(Group):
    """Processes that are connected by gloo, each with its rank."""

    def __init__(self, store: Store, rank: int, size: int, *, loopback: bool = False) -> None:
        """``store``: where they find each other, a new one for each group; ``loopback``: they are all on this machine."""
        self.rank = rank
        self.size = size
        gloo: Any = ProcessGroupGloo  # its collectives are not in torch's type stubs
        options = gloo._Options()
        options._devices = [gloo.create_device(hostname="127.0.0.1") if loopback else gloo.create_default_device()]
        options._timeout = TIMEOUT
        self._gloo = gloo(store, rank, size, options)

    @classmethod
    def on_this_machine(cls, path: Path, rank: int, size: int) -> GlooGroup:
        """Returns the group of ``size`` processes here that meet in the new file at ``path``."""
        return cls(FileStore(str(path), size), rank, size, loopback=True)

    def gather(self, rows: NDArray[Any]) -> NDArray[Any]:
        counts = [int(count) for count in self.gather_tensors(torch.tensor([len(rows)]))]
        most = max(counts)
        padded = np.zeros((most, *rows.shape[1:]), rows.dtype)
        padded[: len(rows)] = rows
        if not padded.size:
            return padded
        gathered = self.gather_tensors(torch.from_numpy(padded.reshape(-1).view(np.uint8)))
        parts = [part.numpy().view(rows.dtype).reshape(padded.shape) for part in gathered]
        return np.concatenate([part[:count] for part, count in zip(parts, counts, strict=True)])

    def gather_tensors(self, tensor: Tensor) -> list[Tensor]:
        gathered = [torch.empty_like(tensor) for _ in range(self.size)]
        self._gloo.allgather([gathered], [tensor.contiguous()]).wait()
        return gathered

    def all_reduce(self, tensor: Tensor) -> None:
        self._gloo.allreduce([tensor]).wait()

    def barrier(self) -> None:
        self._gloo.barrier().wait()


ALONE = Group()


class TreeSum:
    """The sum of tensors, one for each shard, along the binary tree over all shards."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int, Tensor]] = []  # first shard, number of shards, their sum

    def add(self, first: int, tensor: Tensor, size: int = 1) -> None:
        """Adds the sum of the ``size`` shards from ``first`` on, a subtree; it is overwritten. Shards come in their order."""
        while self._parts and self._parts[-1][1] == size and self._parts[-1][0] % (2 * size) == 0:
            first, _, left = self._parts.pop()
            tensor = left.add_(tensor)
            size *= 2
        self._parts.append((first, size, tensor))

    @property
    def parts(self) -> list[tuple[int, int, Tensor]]:
        """The largest subtrees whose shards are all there: first shard, number of shards, and their sum."""
        return self._parts

    def total(self) -> Tensor:
        """Returns the sum of all that was added; nothing may be added after it."""
        *others, (_, _, total) = self._parts
        for _, _, left in reversed(others):
            total = left.add_(total)
        return total


class GradientSum:
    """The gradients of a step, summed over all shards in every process."""

    def __init__(self, parameters: Sequence[Tensor], group: Group, shards: int, reduction: str) -> None:
        """``reduction`` is one of :data:`REDUCTIONS`."""
        self._parameters = parameters
        self._group = group
        self._ordered = reduction == REDUCTIONS[0]
        self._subtrees = [_subtrees(group.shards(shards, rank)) for rank in range(group.size)]
        self._sizes = [parameter.numel() for parameter in parameters]
        self._sum = TreeSum()

    def add(self, shard: int) -> None:
        """Adds ``grad`` of all parameters: the gradient of ``shard``, one of this process, after those before it."""
        self._sum.add(shard, torch.cat([self._grad(parameter).reshape(-1) for parameter in self._parameters]))

    def finish(self) -> None:
        """Sets ``grad`` of all parameters to the sum over all shards, and begins anew."""
        own, self._sum = self._sum, TreeSum()
        if self._group.size > 1 and self._ordered:
            own = self._exchanged(own)
        total = own.total()
        if not self._ordered:
            self._group.all_reduce(total)
        torch._foreach_copy_(
            [self._grad(parameter) for parameter in self._parameters],
            [
                part.view(parameter.shape)
                for part, parameter in zip(torch.split(total, self._sizes), self._parameters, strict=True)
            ],
        )

    def _exchanged(self, own: TreeSum) -> TreeSum:
        """Returns the sum over the shards of all processes from the subtrees of each."""
        rows = own.parts[0][2].new_zeros((max(map(len, self._subtrees)), own.parts[0][2].numel()))
        for row, (_, _, part) in zip(rows, own.parts, strict=False):
            row.copy_(part)
        whole = TreeSum()
        for subtrees, gathered in zip(self._subtrees, self._group.gather_tensors(rows), strict=True):
            for (first, size), row in zip(subtrees, gathered, strict=False):
                whole.add(first, row, size)
        return whole

    @staticmethod
    def _grad(parameter: Tensor) -> Tensor:
        assert parameter.grad is not None
        return parameter.grad


def _subtrees(shards: range) -> list[tuple[int, int]]:
    """Returns the largest subtrees that make up consecutive ``shards``: the first shard and the number of shards of each."""
    found, first = [], shards.start
    while first < shards.stop:
        size = 1
        while first % (2 * size) == 0 and first + 2 * size <= shards.stop:
            size *= 2
        found.append((first, size))
        first += size
    return found


def step_moments(group: Group, steps: Sequence[Sequence[Decisions]], centre: float) -> list[StepMoments]:
    """Returns the moments of the advantages in each of P gradient steps, over the shards of all processes.

    ``steps`` has the P parts of each shard of this process; ``centre`` is a number near all means, so that nothing cancels.
    """
    own = np.zeros((len(steps), len(steps[0]), 3))
    for row, parts in zip(own, steps, strict=True):
        for out, part in zip(row, parts, strict=True):
            off = part.advantage.numpy().astype(np.float64) - centre
            out[:] = len(off), off.sum(), np.square(off).sum()
    count, total, squares = group.gather(own).sum(axis=0).T
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0.0)) + 1e-8
    return [StepMoments(*row) for row in np.stack([count, centre + mean, deviation], axis=1).tolist()]


def summed_stats(group: Group, steps: Sequence[Sequence[dict[str, Tensor]]]) -> list[dict[str, Tensor]]:
    """Returns the statistics of each of P gradient steps, summed over the shards of all processes.

    ``steps`` has the P parts of each shard of this process, every part with the same names.
    """
    names = list(steps[0][0])
    own = np.array([[[float(stats[name]) for name in names] for stats in parts] for parts in steps])
    total = torch.from_numpy(group.gather(own).sum(axis=0))
    return [dict(zip(names, row.unbind(), strict=True)) for row in total]


def check_equal_weights(group: Group, parameters: Sequence[Tensor]) -> None:
    """Raises :class:`DivergenceError` unless the weights of all processes are the same bits, as their steps should leave them."""
    digest = 0
    for parameter in parameters:
        digest = zlib.crc32(parameter.detach().contiguous().numpy().tobytes(), digest)
    if len({*group.gather(np.array([digest])).tolist()}) > 1:
        raise DivergenceError(
            "The processes have different weights after the same steps, so their processors or libraries compute differently. "
            "Train on machines of one kind, with the same versions."
        )
