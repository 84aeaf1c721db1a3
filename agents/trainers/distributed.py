"""Training in several processes, which torchrun starts, on one machine or many; one all_reduce is all that they exchange.

  torchrun --nproc-per-node=2 --no-python nainjaune train configs/nain_jaune/large.yaml --out runs/two

Each process plays its part of the tables and learns from its part of each minibatch, and gradients are averaged. So every process
has the same weights, and a run has the same bits with the same number of processes; another number trains another network. The
first process has the run's folder. Where a process is lost, torchrun ends the others; whoever restarts them (a person, Slurm,
Kubernetes) adds ``--resume``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed

from nainjaune_env.core.errors import ConfigError

from ..nets.checkpoint import FILE_NAME, Checkpoint, load_checkpoint
from ..task import CARRIED
from . import get_trainer
from .run import Progress, Run

TIMEOUT = timedelta(hours=12)
"""Of an exchange: the first process may evaluate for long. The end of a process is noticed at once, by its connections."""


class Processes:
    """The processes of a run; this one is alone."""

    rank = 0
    size = 1

    def part(self, count: int) -> slice:
        """Returns those of ``count`` tables that this process has."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def mean(self, value: float) -> float:
        """Returns the mean of ``value`` over all processes."""
        return value

    def average_gradients(self, parameters: Sequence[Tensor]) -> None:
        """Sets the gradient of each parameter to its mean over all processes."""

    def from_first(self, data: bytes) -> bytes:
        """Returns the ``data`` of the first process; that of the others is not read."""
        return data


ALONE = Processes()


class TorchrunProcesses(Processes):
    """The processes that torchrun has started, connected by gloo."""

    def __init__(self) -> None:
        distributed.init_process_group("gloo", timeout=TIMEOUT)
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def mean(self, value: float) -> float:
        total = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(total)
        return float(total) / self.size

    def average_gradients(self, parameters: Sequence[Tensor]) -> None:
        grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([grad.reshape(-1) for grad in grads])
        distributed.all_reduce(flat)
        for grad, total in zip(grads, torch.split(flat, [grad.numel() for grad in grads]), strict=True):
            torch.div(total.view_as(grad), self.size, out=grad)

    def from_first(self, data: bytes) -> bytes:
        size = torch.tensor(len(data))
        distributed.broadcast(size, 0)
        sent = torch.empty(int(size) or 1).byte() if self.rank else torch.frombuffer(bytearray(data or 1), dtype=torch.uint8)
        distributed.broadcast(sent, 0)
        return sent.numpy().tobytes()[: int(size)]


def train_under_torchrun(config: Any, folder: Path, *, resume: bool, progress: Progress) -> bool:
    """Trains as one of the processes that torchrun has started; the first of them has the ``folder`` of the run.

    Raises :class:`ConfigError` for what one process trains alone, and for another configuration than that of the first.
    """
    if config.algorithm != "ppo":
        raise ConfigError(f"PPO trains in several processes, and {config.algorithm!r} in one: start it without torchrun.")
    alone = {"device": config.device != "cpu", "overlap": config.overlap, "recurrent": config.recurrent > 0}
    alone["start"] = config.start == CARRIED
    for key in (key for key, used in alone.items() if used):
        raise ConfigError(f"A run with {key}={getattr(config, key)!r} trains in one process: start it without torchrun.")
    first = os.environ["RANK"] == "0"
    with Run(folder) as run:
        if first:
            run.create(config, resume=resume)
        processes = TorchrunProcesses()
        try:
            if processes.mean(float(processes.from_first(repr(config).encode()) != repr(config).encode())) > 0:
                raise ConfigError("All processes train under the configuration of the first, and some have another one.")
            data = run.checkpoint_path.read_bytes() if first and run.checkpoint_path.exists() else b""
            checkpoint = _checkpoint_in(processes.from_first(data))
            finished: bool = get_trainer(config.algorithm).train(config, run, checkpoint, progress, processes)
            distributed.barrier()  # a process that leaves early would break the connections of the others
        finally:
            distributed.destroy_process_group()
        return finished


def _checkpoint_in(data: bytes) -> Checkpoint | None:
    if not data:
        return None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / FILE_NAME).write_bytes(data)
        return load_checkpoint(Path(folder))
