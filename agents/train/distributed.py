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
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from nainjaune_env.core.errors import ConfigError

from ..base.task import CARRIED
from ..players.networks.checkpoint import FILE_NAME, Checkpoint, load_checkpoint
from . import ppo
from .run import Progress, Run

TIMEOUT = timedelta(hours=12)
"""Of an exchange: the first process may evaluate for long. The end of a process is noticed at once, by its connections."""


class DistributedTrainer(ppo.Trainer):
    """PPO's trainer as one of the processes of ``torch.distributed``."""

    def __init__(self, config: ppo.Config) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        if config.minibatch < 2 * self.size:  # each centres the advantages of its part
            raise ConfigError(
                f"Each of {self.size} processes takes 2 decisions of a 'minibatch' or more: at least {2 * self.size}, not "
                f"{config.minibatch}."
            )
        super().__init__(config, config.setup())

    def mean(self, value: float) -> float:
        total = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(total)
        return float(total) / self.size

    def average_gradients(self) -> None:
        grads = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        flat = torch.cat([grad.reshape(-1) for grad in grads])
        distributed.all_reduce(flat)
        for grad, total in zip(grads, torch.split(flat, [grad.numel() for grad in grads]), strict=True):
            torch.div(total.view_as(grad), self.size, out=grad)


def from_first(data: bytes) -> bytes:
    """Returns the ``data`` of the first process, in every process."""
    size = torch.tensor(len(data))
    distributed.broadcast(size, 0)
    first = distributed.get_rank() == 0
    sent = torch.frombuffer(bytearray(data or 1), dtype=torch.uint8) if first else torch.empty(int(size) or 1).byte()
    distributed.broadcast(sent, 0)
    return sent.numpy().tobytes()[: int(size)]


def train_under_torchrun(config: Any, folder: Path, *, resume: bool, progress: Progress) -> bool:
    """Trains as one of the processes that torchrun has started; the first of them has the ``folder`` of the run.

    Raises :class:`ConfigError` for options that need one process, and for another configuration than the first process has.
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
        distributed.init_process_group("gloo", timeout=TIMEOUT)
        try:
            if from_first(repr(config).encode()) != repr(config).encode():  # torchrun then ends the others
                raise ConfigError("All processes train under the configuration of the first, and this one has another.")
            data = run.checkpoint_path.read_bytes() if first and run.checkpoint_path.exists() else b""
            finished = ppo.train(config, run, _checkpoint_in(from_first(data)), progress, DistributedTrainer(config))
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
