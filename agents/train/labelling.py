"""The labels of a generation of expert iteration, made by other processes or on a cluster; a unit is one label file.

The player's weights go to the workers as a file, and labels come back as the bytes of an npz file of plain arrays. The trainer
checks them and writes these bytes, so that a folder of labels is the same with any number of workers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup

from ..base.settings import NonNegativeInt
from ..measure.distributed.identity import run_id
from ..measure.distributed.plan_fields import JsonPlan, Names
from ..measure.distributed.processes import Processes
from ..measure.distributed.units import Executor, Payload, Player, WorkUnit
from ..players.loading import load_agent
from ..players.networks.checkpoint import Checkpoint, save_checkpoint
from ..players.networks.net_agent import NetAgent
from ..players.networks.torch_nets import as_torch
from ..players.program.settings import BotSettings
from . import get_trainer
from .config import PLACEMENT_KEYS, RESUME_KEYS, build
from .labels import LabelFile, Labels, labels_from_text, labels_text

NumberedLabels = tuple[int, Labels, bytes]
"""The number of a label file, its labels, and its bytes."""

ALONE = {"workers": 1, "cluster": None, "threads": 1, "eval_every": 0, "keep_best": False}
"""The keys that differ in a worker."""


def labels_run(config: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of the keys of ``config`` that labels depend on: a run that is resumed keeps them."""
    return run_id({key: value for key, value in config.items() if key not in RESUME_KEYS | PLACEMENT_KEYS | ALONE.keys()})


class LabelPlan(JsonPlan, frozen=True):
    """The label files of a generation. A unit's ``part`` is the generation and its ``first`` the number of the file."""

    KIND: ClassVar[str] = "generation of labels"

    agents: Names
    """The rule that plays the first generation, and once a network has learned the file of its checkpoint."""
    config: Mapping[str, Any]
    generation: NonNegativeInt

    def units(self) -> Iterator[WorkUnit]:
        """Yields a unit for each label file."""
        return (WorkUnit(self.generation, number, 1) for number in range(self.config["shards"]))

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that labels the decisions of a file."""
        rule, *networks = agents
        trainer = get_trainer(self.config["algorithm"])
        labeller = trainer.Trainer(build(trainer.Config, {**self.config, **ALONE, "rule": rule.name}), Path())
        labeller.iteration = self.generation
        for agent in networks:
            assert isinstance(agent, NetAgent)
            labeller.net.load_state_dict(as_torch(agent.net).state_dict())

        def label(unit: WorkUnit) -> Payload:
            label_file = LabelFile(labels_run(self.config), self.generation, unit.first)
            return {"labels": labels_text(labeller.label(unit.first, labeller.experts()), self.setup, label_file)}

        return label


class LabelWorkers:
    """Makes the label files of one generation after the other by an executor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._coming: Generator[NumberedLabels, None, None] | None = None
        self._begun: dict[WorkUnit, float] = {}
        self._started, self._finished = 0.0, 0

    @property
    def files_a_second(self) -> float:
        """Label files of this generation that have been made, over the seconds since the first was begun."""
        return self._finished / (time.monotonic() - self._started)

    @property
    def oldest(self) -> float:
        """Seconds for which the oldest of the label files that are being made has been under way."""
        now = time.monotonic()
        return now - min(self._begun.values(), default=now)

    def next_labels(
        self,
        config: Mapping[str, Any],
        setup: Setup,
        generation: int,
        player: Callable[[], Checkpoint] | None,
        missing: Sequence[int],
    ) -> NumberedLabels:
        """Returns the label file among the ``missing`` ones that is finished next.

        ``player`` returns the network that plays; None before one has learned.
        """
        if self._coming is None:
            self._started, self._finished = time.monotonic(), 0
            self._coming = self._make(config, setup, generation, None if player is None else player(), missing)
        labels = next(self._coming)
        self._finished += 1
        if len(missing) == 1:
            self.close()
        return labels

    def close(self) -> None:
        """Stops what is being made."""
        if self._coming is not None:
            self._coming.close()
        self._coming = None
        self._begun.clear()

    def _make(
        self, config: Mapping[str, Any], setup: Setup, generation: int, player: Checkpoint | None, numbers: Sequence[int]
    ) -> Generator[NumberedLabels, None, None]:
        with tempfile.TemporaryDirectory() as folder:
            names = [config["rule"]]
            if player is not None:
                names.append(str(Path(folder) / "player.safetensors"))
                save_checkpoint(Path(names[1]), player)
            plan = LabelPlan(setup, tuple(names), config, generation)
            bots = BotSettings.from_dict(config.get("bots") or {})
            agents = [load_agent(name, setup, bots=bots) for name in names]
            units = (WorkUnit(generation, number, 1) for number in numbers)
            with closing(self._executor.results(plan, agents, self._noted(units))) as results:
                for unit, payload in results:
                    del self._begun[unit]
                    label_file = LabelFile(labels_run(config), generation, unit.first)
                    read = labels_from_text(payload["labels"], setup, label_file, count=config["shard"])
                    yield unit.first, *read

    def _noted(self, units: Iterator[WorkUnit]) -> Iterator[WorkUnit]:
        """Yields ``units``, and notes when each is taken."""
        for unit in units:
            self._begun[unit] = time.monotonic()
            yield unit


def check_workers(config: Any) -> None:
    """Raises :class:`ConfigError` for ``workers`` or a ``cluster`` beside each other or a GPU."""
    if config.workers > 1 and config.cluster is not None:
        raise ConfigError("'workers' are processes of this machine, and 'cluster' is another place to label: set one of them.")
    if config.device != "cpu" and (config.workers > 1 or config.cluster is not None):
        raise ConfigError("'workers' and 'cluster' label on processors, and with them 'device' is 'cpu'.")


def executor_of(config: Any) -> Executor | None:
    """Returns where labels are made by the keys ``workers`` and ``cluster``; None: in the threads of this process.

    Raises :class:`~nainjaune_env.core.errors.WorkError` if there is no cluster at the address.
    """
    if config.cluster is not None:
        from ..measure.distributed.cluster import Cluster, check_address

        check_address(config.cluster)  # before anything is written
        return Cluster(config.cluster, bots=config.bot_settings)
    return Processes(config.workers, bots=config.bot_settings) if config.workers > 1 else None
