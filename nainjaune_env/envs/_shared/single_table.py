"""``SingleTable``: a batch of one table, stepped and observed without the checks of arrays that a batch of many needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.envs._shared.reset_options import ONLY, Opener, Start


class SingleTable(Batch):
    """A ``Batch`` of one table with a log and without ``autoreset``, for environments with a single one."""

    def __init__(self, setup: Setup, *, episode: Episode = "round", start: Start = "fresh", skip_forced: bool = True) -> None:
        """Take the arguments of ``Batch`` and raise its errors; call :meth:`begin` before the first action."""
        super().__init__(setup, 1, episode=episode, start=start, skip_forced=skip_forced, autoreset=False, log=True, deal=False)
        self._opener = Opener(self)

    def begin(self, seed: int | None, options: Mapping[str, Any]) -> None:
        """Begin an episode by the options of a reset; raises the errors of ``Opener.check``, and then nothing has changed."""
        opening = self._opener.check([seed], options)
        self._opener.prepare(ONLY, [seed], opening)
        if opening.table is not None:
            self._loop(self._loops.enter_tables, ONLY)
            return
        values = self.start_values if opening.start_values is None else opening.start_values
        new_match = bool(self.tables["stage"][0] != Stage.ROUND_OVER)
        self._loop(self._loops.reset_tables, ONLY, self.tables["rng"].copy(), others=(values, new_match))

    def act(self, action: int) -> int:
        """Take one action and return the seat to act next.

        Raises :class:`IllegalActionError`, which names the legal actions, and then nothing has changed.
        """
        if not 0 <= action < self.num_actions or not int(self.legal[0]) >> action & 1:
            raise IllegalActionError(self.why_illegal(0, action))
        seat: int = self._loops.step_single(
            self.tables, self.numbers, self.log_arrays, action, self.start_values, *self.written, self._scratch[0]
        )
        self.make_space()
        return seat

    def seen_by(self, first: int, count: int = 1) -> NDArray[np.uint8]:
        """Return what ``count`` seats from ``first`` on observe, at turn or not, ``(count, size)``; a new array."""
        rows = np.zeros((count, self.layout.size), np.uint8)
        self._loops.observe_seats(self.tables, self.numbers, first, rows)
        return rows

    @property
    def at_turn(self) -> int:
        """The seat to act."""
        return int(self.tables["seat"][0])
