"""Rollouts on a GPU: determinizations are drawn there, and a thread plays one action of one of them to the end of the round.

For heuristics and the uniform policy, results equal ``search.rollouts`` to the byte. With a network all rounds advance
in step, and torch computes the logits of all tables at a decision at once.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.cuda.batch import CudaBatch
from nainjaune_env.engine.cuda.device import OnDevice
from nainjaune_env.engine.determinize import MEMORY
from nainjaune_env.engine.learner_loops import UNIFORM

from ...base.task import CENTRED, OWN
from ..search.policies import rollout_policy
from .players import BY_NET, check_players, kernels_of, play_to_the_end

DETERMINIZATIONS = 1 << 17
"""Determinizations searched at once: with five actions each, several rollouts for each thread of an H200."""
COUNTED = 1 << 10
"""Tables whose deals are counted at once; each takes ``determinize.MEMORY`` numbers of scratch, 4 MB: 4 GB in all."""
ROWS = 1 << 17
"""Most rounds that networks play at once."""


@dataclass(frozen=True)
class Determinizations:
    """Some of the determinizations on a GPU."""

    rows: Any
    """Records on the device."""
    index: NDArray[np.int64]
    """Which of them these are, ``(N,)``."""

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, which: NDArray[Any]) -> Determinizations:
        """Returns the determinizations with the numbers ``which``, or where the booleans ``which`` are true."""
        return Determinizations(self.rows, self.index[which])


class CudaRollouts(OnDevice):
    """Base class of rollouts on a GPU."""

    def __init__(self, setup: Setup, number: int = UNIFORM, *, objective: str = OWN) -> None:
        self._open()
        self._centred = objective == CENTRED
        self._setup = setup
        self._number = number
        self._actions = len(setup.game.actions)

    @cached_property
    def _kernels(self) -> ModuleType:  # type: ignore[override]
        return kernels_of(self._setup, self._number, centred=self._centred)

    def draw(self, setup: Setup, tables: NDArray[Any], owner: NDArray[np.int64], states: NDArray[np.uint64]) -> Determinizations:
        """Does what ``engine.determinize.determinize`` does, for ascending ``owner (N,)``; the result stays on the device.

        It equals the CPU's, except where a game counts in floating point: a GPU rounds once for a product and sum, and a
        draw within one part in 10^15 of a bound gives another deal.
        """
        first = np.searchsorted(owner, np.arange(len(tables) + 1)).astype(np.int64)
        arrays = [self.place(array) for array in (tables, first, owner, states)]
        determinized = self._cuda.device_array(len(owner), tables.dtype)
        threads = min(len(tables), COUNTED)
        memory = self._buffer("memory", (threads, MEMORY), np.float64)
        for at in range(0, len(tables), threads):
            self._run("resample", threads, arrays[0], at, *arrays[1:], memory, determinized)
        states[...] = self.fetch(arrays[3])
        return Determinizations(determinized, np.arange(len(owner)))

    def placed(self, tables: NDArray[Any] | Determinizations) -> Determinizations:
        """Returns ``tables`` on the device, where they may be already."""
        if isinstance(tables, Determinizations):
            return tables
        return Determinizations(self.place(tables), np.arange(len(tables)))

    @abstractmethod
    def values(self, tables: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See ``search.rollouts.Rollouts``; ``tables (N,)`` are from :meth:`draw`, or a NumPy array of records."""


class CompiledGpuRollouts(CudaRollouts):
    """By a heuristic or the uniform policy."""

    def values(self, tables: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`CudaRollouts`."""
        deals = self.placed(tables)
        value = self._buffer("value", (len(deals), self._actions), np.float64)
        self._run("evaluate_actions", len(deals) * self._actions, deals.rows, self.place(deals.index), self.place(actions), value)
        return self.fetch(value)


class NetGpuRollouts(CudaRollouts):
    """By a network without memory; it multiplies in bfloat16, see ``fused_mlp``."""

    def __init__(self, setup: Setup, agent: Agent, *, objective: str = OWN) -> None:
        super().__init__(setup, objective=objective)
        self._agent = agent

    def values(self, tables: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`CudaRollouts`."""
        deals = self.placed(tables)
        which, action = np.nonzero(actions[:, None] >> np.arange(self._actions) & 1)
        value = np.zeros((len(deals), self._actions))
        for at in range(0, len(which), ROWS):
            part = slice(at, at + ROWS)
            value[which[part], action[part]] = self._play(deals.rows, deals.index[which[part]], action[part])
        return value

    def _play(self, rows: Any, which: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        count = len(which)
        numbers = self.place(which)
        tables = self._buffer("tables", (count,), self._setup.game.table)
        value = self._buffer("value", (count,), np.float64)
        self._run("branch", count, rows, numbers, self.place(actions), tables)
        batch = CudaBatch(self._setup, count, autoreset=False, checks="later")
        states = self.fetch(tables)["rng"]  # draws at a table come from its own generator
        batch.set_tables(None, tables, trusted=True)
        play_to_the_end(batch, [self._agent], np.zeros((count, self._setup.players), np.int64), states[:, None], quick=True)
        self._run("settle", count, batch.tables, rows, numbers, value)
        return self.fetch(value)


def gpu_rollouts(agent: Agent, setup: Setup, objective: str = OWN) -> CudaRollouts:
    """Returns rollouts with ``agent`` in every seat, on the GPU, whose payoffs ``objective`` counts.

    Raises :class:`~nainjaune_env.core.errors.AgentError` if it remembers or cannot play on a GPU, and
    :class:`~nainjaune_env.core.errors.DeviceError` without a GPU.
    """
    rollout_policy(agent, setup)  # raises if it remembers
    (number,) = check_players([agent], setup)
    if number == BY_NET:
        return NetGpuRollouts(setup, agent, objective=objective)
    return CompiledGpuRollouts(setup, number, objective=objective)
