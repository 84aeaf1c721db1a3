"""Rollouts on a GPU: worlds are drawn there, and a thread plays one action of one world to the end of the round.

What ``search.rollouts`` does, to the byte where a rule of thumb plays or legal moves are drawn. By a network the rounds go in
step, and torch is asked for all that are at a decision at once.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, RecurrentAgent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.cuda.batch import CudaBatch
from nainjaune_env.engine.cuda.device import OnDevice
from nainjaune_env.engine.determinize import MEMORY

from ..cuda.code import UNIFORM, kernels_of
from ..cuda.players import BY_NET, check_players, play_to_the_end

WORLDS = 1 << 17
"""Worlds that are looked into at once: with five actions each, rollouts for all of an H200's threads a few times over."""
COUNTED = 1 << 10
"""Tables whose deals are counted at once; each takes ``worlds.MEMORY`` numbers to count in, 4 MB: 4 GB in all."""
ROWS = 1 << 17
"""Most rounds that networks play at once."""


@dataclass(frozen=True)
class Worlds:
    """Some of the worlds on a GPU."""

    rows: Any
    """Records on the device."""
    index: NDArray[np.int64]
    """Which of them these are, ``(N,)``."""

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, which: NDArray[Any]) -> Worlds:
        """Those ``which``, by numbers or a row of booleans."""
        return Worlds(self.rows, self.index[which])


class CudaRollouts(OnDevice):
    """What all rollouts on a GPU have in common."""

    def __init__(self, setup: Setup, rule: int = UNIFORM) -> None:
        self._open()
        self._setup = setup
        self._rule = rule
        self._actions = len(setup.game.actions)

    @cached_property
    def _kernels(self) -> ModuleType:  # type: ignore[override]
        return kernels_of(self._setup, self._rule)

    def draw(self, setup: Setup, tables: NDArray[Any], owner: NDArray[np.int64], states: NDArray[np.uint64]) -> Worlds:
        """What ``worlds.determinize`` does, for ``owner (N,)`` that ascend; the worlds stay on the device.

        They are those of the CPU, but where a game counts in floating point: a GPU adds and multiplies in one rounding, and where
        what is drawn falls on a bound, to one part in 10^15, another deal comes.
        """
        first = np.searchsorted(owner, np.arange(len(tables) + 1)).astype(np.int64)
        held = [self.place(array) for array in (tables, first, owner, states)]
        worlds = self._cuda.device_array(len(owner), tables.dtype)
        threads = min(len(tables), COUNTED)
        memory = self._room("memory", (threads, MEMORY), np.float64)
        for at in range(0, len(tables), threads):
            self._run("resample", threads, held[0], at, *held[1:], memory, worlds)
        states[...] = self.fetch(held[3])
        return Worlds(worlds, np.arange(len(owner)))

    def placed(self, worlds: NDArray[Any]) -> Worlds:
        """Worlds of the host, on the device."""
        return Worlds(self.place(worlds), np.arange(len(worlds)))

    @abstractmethod
    def values(self, worlds: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See ``search.rollouts.Rollouts``; ``worlds (N,)`` are what :meth:`draw` gave, some of these, or records of NumPy's."""


class RuleRollouts(CudaRollouts):
    """By a rule of thumb, or at random (:data:`UNIFORM`)."""

    def values(self, worlds: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`CudaRollouts`."""
        there = worlds if isinstance(worlds, Worlds) else self.placed(worlds)
        value = self._room("value", (len(there), self._actions), np.int32)
        kernel = "try_uniform" if self._rule == UNIFORM else "try_by_rule"
        self._run(kernel, len(there) * self._actions, there.rows, self.place(there.index), self.place(actions), value)
        return self.fetch(value).astype(np.float64)


class NetRollouts(CudaRollouts):
    """By a network that remembers nothing; it multiplies in bfloat16, see ``fused_mlp``."""

    def __init__(self, setup: Setup, agent: Agent) -> None:
        super().__init__(setup)
        self._agent = agent

    def values(self, worlds: Any, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`CudaRollouts`."""
        there = worlds if isinstance(worlds, Worlds) else self.placed(worlds)
        which, action = np.nonzero(actions[:, None] >> np.arange(self._actions) & 1)
        value = np.zeros((len(there), self._actions))
        for at in range(0, len(which), ROWS):
            part = slice(at, at + ROWS)
            value[which[part], action[part]] = self._play(there.rows, there.index[which[part]], action[part])
        return value

    def _play(self, worlds: Any, which: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.int32]:
        rows = len(which)
        numbers = self.place(which)
        tables = self._room("tables", (rows,), self._setup.game.table)
        value = self._room("value", (rows,), np.int32)
        self._run("branch", rows, worlds, numbers, self.place(actions), tables)
        batch = CudaBatch(self._setup, rows, autoreset=False, checks="later")
        states = self.fetch(tables)["rng"]  # what is drawn at a table comes from its own world's generator
        batch.set_tables(None, tables)
        play_to_the_end(batch, [self._agent], np.zeros((rows, self._setup.players), np.int64), lambda _: states, quick=True)
        self._run("settle", rows, batch.tables, worlds, numbers, value)
        return self.fetch(value)


def rollouts_there(agent: Agent, setup: Setup) -> CudaRollouts:
    """Rollouts with ``agent`` in every seat, on the GPU.

    Raises :class:`AgentError` where it remembers, or plays on no GPU, and :class:`~nainjaune_env.core.errors.DeviceError`
    without one.
    """
    if isinstance(agent, RecurrentAgent) and agent.state_dtype(setup).itemsize:
        raise AgentError(f"No search can play rounds out by {agent.name!r}, which remembers.")
    (plays,) = check_players([agent], setup)
    return NetRollouts(setup, agent) if plays == BY_NET else RuleRollouts(setup, plays)
