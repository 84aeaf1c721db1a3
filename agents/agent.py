"""The agent protocol: batch first. One table is a batch of one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.batch import Batch
from nainjaune_env.spec import Setup


@dataclass(frozen=True)
class Turn:
    """K decisions to make at once, each with what the seat to act may know and nothing else."""

    _batch: Batch
    """Not for agents: it knows all."""
    index: NDArray[np.int64]
    """The tables, shape ``(K,)``."""

    @property
    def setup(self) -> Setup:
        """The game and its rules, the same at every table."""
        return self._batch.setup

    @property
    def num_actions(self) -> int:
        """How many actions the game has, A."""
        return self._batch.num_actions

    @cached_property
    def seat(self) -> NDArray[np.int64]:
        """The seats that decide, shape ``(K,)``."""
        return self._batch.seat[self.index]

    @cached_property
    def observation(self) -> NDArray[np.uint8]:
        """What the seats to act observe, shape ``(K, size)``."""
        return self._batch.observation[self.index]

    @cached_property
    def legal(self) -> NDArray[np.int64]:
        """Legal actions as words, shape ``(K,)``; bit a = action a."""
        return self._batch.legal[self.index]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Legal actions as rows, shape ``(K, A)``."""
        return self._batch.mask[self.index]

    @cached_property
    def tables(self) -> NDArray[Any]:
        """The tables as records, shape ``(K,)``, wiped of all that the seats to act may not know."""
        return self._batch.redacted(self.index)


@runtime_checkable
class Agent(Protocol):
    """Chooses actions. Stateless between calls unless it says otherwise; all chance comes from ``rng``."""

    name: str

    def act(self, turn: Turn, rng: np.random.Generator) -> NDArray[np.int64]:
        """A legal action for each decision, shape ``(K,)``."""
        ...
