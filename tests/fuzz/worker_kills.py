"""Workers that train together, killed with SIGKILL at random moments: the run goes on by itself and ends with the same bits."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path

from nainjaune_agents.nets.checkpoint import load_checkpoint
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.ppo import Config, train
from nainjaune_agents.trainers.run import Progress, Run

from .oracle import Fault, Fuzzer

KEYS = {
    "tables": 16, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "iterations": 600, "checkpoint_minutes": 0,
    "shards": 4,
}  # fmt: skip
KILLS = 5
"""In each run."""


class Killer(threading.Thread):
    """Kills a worker of each attempt: at some moment from its start to twice the time that the first took to begin training."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self.rng = rng
        self.begun = threading.Event()
        self.over = threading.Event()
        self.kills = 0

    def run(self) -> None:
        started = time.monotonic()
        self.begun.wait()
        takes = time.monotonic() - started
        killed: set[int] = set()
        while self.kills < KILLS and not self.over.is_set():
            alive = {process.pid for process in multiprocessing.active_children() if process.pid} - killed
            if not alive:
                time.sleep(0.01)
                continue
            self.over.wait(self.rng.uniform(0, 2 * takes))
            here = {process.pid for process in multiprocessing.active_children() if process.pid} & alive
            if here:
                os.kill(self.rng.choice(sorted(here)), signal.SIGKILL)
                self.kills += 1
            killed |= alive


class WorkerKills(Fuzzer):
    """Runs of PPO, the number of workers drawn."""

    name = "worker_kills"
    short = 0  # tests/agents/trainers/test_supervisor.py has one kill
    long = 4

    def case(self, rng: random.Random) -> None:
        whole = self.folder / "whole"
        if not whole.exists():
            trained(whole, 1, lambda *_: None)
        folder = self.folder / "killed"
        killer = Killer(rng)
        killer.start()
        workers = rng.choice((2, 3, 4))
        try:
            trained(folder, workers, lambda *_: killer.begun.set())
            killer.over.set()
            killer.join()
            if weights(folder) != weights(whole):
                raise Fault(
                    f"{workers} workers, {killer.kills} kills: other weights than those of the run that nothing disturbed"
                )
            print(f"\n{workers} workers, {killer.kills} kills: the same weights", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def trained(folder: Path, workers: int, progress: Progress) -> None:
    """Trains a run to its end."""
    config = build(Config, {**KEYS, "workers": workers})
    with Run(folder) as run:
        if not train(config, run, run.create(config, resume=False), progress):
            raise Fault(f"{workers} workers: training has stopped before its end")


def weights(folder: Path) -> dict[str, bytes]:
    """Returns the weights and the optimizer's state in the checkpoint of a run."""
    return {name: tensor.numpy().tobytes() for name, tensor in load_checkpoint(folder).tensors.items()}
