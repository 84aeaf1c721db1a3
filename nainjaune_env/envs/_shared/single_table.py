"""``SingleTable``: a batch of one table, stepped and observed without the checks of arrays that a batch of many needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.packed import pack
from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Episode
from nainjaune_env.engine.single_loops import single_loops_of
from nainjaune_env.envs._shared.undealt_batch import UndealtBatch


class SingleTable(UndealtBatch):
    """A ``Batch`` of one table without ``autoreset``, for environments with a single one."""

    def __init__(self, setup: Setup, *, episode: Episode = "round", skip_forced: bool = True) -> None:
        """Take the arguments of ``Batch`` and raise its errors."""
        super().__init__(setup, 1, episode=episode, skip_forced=skip_forced, autoreset=False)
        self._numbers = pack(self._rules, self._options)
        self._changed = (*self.written, self._scratch[0])  # the arrays are only ever written in place
        self._single = single_loops_of(setup, self._options)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the modules, which cannot be pickled."""
        return {name: value for name, value in super().__getstate__().items() if name != "_single"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the modules by the game and its rules."""
        super().__setstate__(state)
        self._single = single_loops_of(self.setup, self._options)

    def act(self, action: int) -> int:
        """Take one action and return the seat to act next.

        Raises :class:`IllegalActionError`, which names the legal actions, and then nothing has changed.
        """
        if not 0 <= action < self.num_actions or not int(self.legal[0]) >> action & 1:
            raise IllegalActionError(self.why_illegal(0, action))
        seat: int = self._single.step_single(self.tables, self._numbers, action, *self._changed)
        return seat

    def seen_by(self, first: int, count: int = 1) -> NDArray[np.uint8]:
        """Return what ``count`` seats from ``first`` on observe, at turn or not, ``(count, size)``; a new array."""
        rows = np.zeros((count, self.layout.size), np.uint8)
        self._single.observe_seats(self.tables, self._numbers, first, rows)
        return rows

    @property
    def at_turn(self) -> int:
        """The seat to act."""
        return int(self.tables["seat"][0])
