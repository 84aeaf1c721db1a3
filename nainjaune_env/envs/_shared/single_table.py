"""``SingleTable``: a batch of one table, stepped and observed without the checks of arrays that a batch of many needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.envs._shared.reset_options import ONLY


class SingleTable(Batch):
    """A ``Batch`` of one table without ``autoreset``, for environments with a single one."""

    def __init__(self, setup: Setup, *, episode: Episode = "round", skip_forced: bool = True) -> None:
        """Take the arguments of ``Batch`` and raise its errors."""
        self._action = np.zeros(1, np.int64)
        self._observed = np.arange(setup.players).reshape(-1, 1)
        super().__init__(setup, 1, episode=episode, skip_forced=skip_forced, autoreset=False)
        changed = (*self.written, self._scratch[0])
        self._arguments = (self.tables, self._rules, self._options, ONLY, self._action, self._values, *changed)
        """Those of ``loops.step_tables``: the arrays are only ever written in place."""

    def act(self, action: int) -> None:
        """Take one action; raises :class:`IllegalActionError`, which names the legal ones, and then nothing has changed."""
        if not 0 <= action < self.num_actions or not int(self.legal[0]) >> action & 1:
            raise IllegalActionError(self.why_illegal(0, action))
        self._action[0] = action
        self._loops.step_tables(*self._arguments)

    def seen_by(self, seat: int) -> NDArray[np.uint8]:
        """Return what ``seat`` observes, at turn or not, ``(size,)``; a new array."""
        rows = np.zeros_like(self.observation)
        self._loops.observe_tables(self.tables, self._rules, self._observed[seat], rows)
        seen: NDArray[np.uint8] = rows[0]
        return seen

    @property
    def at_turn(self) -> int:
        """The seat to act."""
        at_turn: Any = self.tables["seat"]
        return int(at_turn[0])
