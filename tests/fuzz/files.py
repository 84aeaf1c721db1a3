"""Damaged checkpoints and labels: refused in a sentence, or as they were."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import numpy as np

from nainjaune_agents.players.networks.checkpoint import FILE_NAME, Checkpoint, load_checkpoint, save_checkpoint
from nainjaune_agents.players.networks.net_agent import load_net_agent
from nainjaune_agents.train.labels import save_labels
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import CheckpointError, LabelsError
from nainjaune_env.engine.batch import Batch
from tests.agents.players.networks.test_checkpoint import make
from tests.agents.train import test_labels
from tests.support.positions import is_legal, small

from .mutations import JUNK, damage_bytes, damage_value, flip_bit
from .oracle import Fault, Fuzzer, refused

HEAD = 2048
"""The first bytes of a file hold what describes the rest; half of the damage goes there."""


def damage_file(data: bytes, rng: random.Random) -> bytes:
    """Returns ``data`` with a bit flipped, or damaged as a disk does: cut short, pages of zeros."""
    kind = rng.random()
    if kind < 0.75:
        return flip_bit(data, rng, end=HEAD if rng.random() < 0.5 else None)
    if kind < 0.85:
        page = rng.randrange(len(data) // 512 + 1) * 512
        return data[:page] + bytes(len(data[page : page + 512])) + data[page + 512 :]
    return damage_bytes(data, rng)


def equal(one: Checkpoint, two: Checkpoint) -> bool:
    """Returns whether two checkpoints are the same to the bit."""
    plain = [dataclasses.replace(each, tensors={}) for each in (one, two)]
    tensors = [{name: (t.dtype, t.shape, t.tobytes()) for name, t in each.tensors.items()} for each in (one, two)]
    return plain[0] == plain[1] and tensors[0] == tensors[1]


class Checkpoints(Fuzzer):
    """Checkpoints with damaged bytes, and whole ones whose description is damaged."""

    name = "checkpoints"
    short = 100
    long = 1000

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.setup = small()
        self.path = folder / FILE_NAME
        save_checkpoint(self.path, make(self.setup))
        self.whole = self.path.read_bytes()
        self.checkpoint = load_checkpoint(self.path)
        self.about = {
            field.name: getattr(self.checkpoint, field.name)
            for field in dataclasses.fields(Checkpoint)
            if field.name != "tensors"
        }

    def case(self, rng: random.Random) -> None:
        if rng.random() < 0.25:
            self._misdescribed(rng)
        else:
            self._damaged(rng)

    def _damaged(self, rng: random.Random) -> None:
        data = damage_file(self.whole, rng)
        self.path.write_bytes(data)
        loaded: list[Checkpoint] = []
        error = refused(lambda: loaded.append(load_checkpoint(self.path)), CheckpointError, where="a damaged checkpoint")
        if error is None and not equal(loaded[0], self.checkpoint):
            raise Fault("a damaged checkpoint loads, and is another one")

    def _misdescribed(self, rng: random.Random) -> None:
        """A file that is whole, and says of its network what is not so."""
        if rng.random() < 0.5:
            about = {**self.about, rng.choice([*self.about]): rng.choice(JUNK)}
        else:
            about = damage_value(self.about, rng)
        where = f"the agent of a checkpoint described as {about!s:.300}"
        try:
            save_checkpoint(self.path, Checkpoint(**about, tensors=self._tensors(rng)))
        except (TypeError, CheckpointError):  # nothing that the library would write
            return
        made: list[Any] = []
        if refused(lambda: made.append(load_net_agent(self.path, self.setup, "a")), where=where) is None:
            decisions = DecisionBatch(Batch(self.setup, 4, seed=rng.getrandbits(32)), np.arange(4))
            if not is_legal(decisions, made[0].act(decisions, np.random.default_rng(0))):
                raise Fault(f"{where}: its actions are not legal")

    def _tensors(self, rng: random.Random) -> dict[str, Any]:
        tensors = dict(self.checkpoint.tensors)
        name = rng.choice([*tensors])
        kind = rng.randrange(8)
        if kind == 0:
            del tensors[name]
        elif kind == 1:
            tensors[f"{name}.x"] = tensors[name].copy()
        elif kind == 2:
            tensors[name] = tensors[name].flatten()[:-1]
        elif kind == 3:
            with np.errstate(invalid="ignore", over="ignore"):
                tensors[name] = tensors[name].astype(rng.choice((np.float16, np.float64, np.int64, np.bool_)))
        elif kind == 4:
            with np.errstate(invalid="ignore", over="ignore"):
                tensors[name] = tensors[name] * rng.choice((float("nan"), float("inf"), 1e30))
        return tensors


class LabelFiles(Fuzzer):
    """Labels with damaged bytes."""

    name = "labels"
    short = 100
    long = 1000

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        self.path = folder / "labels.npz"
        self.labels = test_labels.some_labels()
        save_labels(self.path, self.labels, test_labels.SETUP, test_labels.FILE)
        self.whole = self.path.read_bytes()

    def case(self, rng: random.Random) -> None:
        self.path.write_bytes(damage_file(self.whole, rng))
        loaded: list[Any] = []
        error = refused(lambda: loaded.append(test_labels.load(self.path)), LabelsError, where="damaged labels")
        if error is None and not test_labels.equal(loaded[0], self.labels):
            raise Fault("damaged labels load, and are others")
