"""How an environment over one table begins its episodes: seeds, the generator going on, and the options of ``reset``."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.batch import Batch, Episode, loops_of
from nainjaune_env.errors import DealError, choose_one
from nainjaune_env.prng import streams
from nainjaune_env.spec import Setup, Stage

Start = str | Mapping[str, ArrayLike]
"""What ``Batch`` takes as ``start``."""

OPTIONS = ("start", "table")
"""What the options of ``reset`` may name."""


class Opener:
    """Deals the tables that an environment then plays on.

    Dealing is apart from playing so that a table is seen as its episode began, before any forced ply: pictures and
    records start from there.
    """

    def __init__(self, setup: Setup, episode: Episode, start: Start) -> None:
        """As ``Batch``, whose errors it raises."""
        self.setup = setup
        self._episode = episode
        self._carry = isinstance(start, str) and start == "carried"
        self._dealer = self._make_dealer("fresh" if self._carry else start)
        self._begun = False

    def _make_dealer(self, start: Any) -> Batch:
        # it makes no ply, so its table stays as it was dealt
        return Batch(self.setup, 1, episode=self._episode, start=start, skip_forced=False, autoreset=False, observe=False)

    def deal(self, tables: NDArray[Any], seed: int | None, options: Mapping[str, Any]) -> NDArray[Any]:
        """The table, shape ``(1,)``, of the next episode; ``tables`` ``(1,)`` is where the last one stands.

        With ``seed`` it is the table of ``Batch(setup, 1, seed=seed)``; without, the generator goes on, and the first time the
        operating system seeds it. Raises :class:`DealError` for options that are not there or do not fit.
        """
        for name in options:
            if name not in OPTIONS:
                raise DealError(choose_one("reset option", name, OPTIONS))
        if not isinstance(options.get("start", {}), Mapping):
            raise DealError(f"The reset option 'start' is values by name, not {options['start']!r}.")
        if "table" in options:
            if seed is not None or "start" in options:
                raise DealError("The reset option 'table' brings its own generator and chips: no seed or 'start' with it.")
            opening = self._given(options["table"])
        elif self._carry and self._begun and seed is None and not options and tables["stage"][0] == Stage.ROUND_OVER:
            opening = tables.copy()
            loops_of(self.setup.game).deal_one(opening, self.setup.kernel_rules, 0)
        else:
            dealer = self._make_dealer(options["start"]) if "start" in options else self._dealer
            dealer.reset(seeds=self._generators(tables, seed))
            opening = dealer.tables.copy()
        self._begun = True
        return opening

    def _generators(self, tables: NDArray[Any], seed: int | None) -> NDArray[np.uint64]:
        if seed is None and self._begun:
            going_on: NDArray[np.uint64] = tables["rng"]
            return going_on
        entropy = np.random.SeedSequence().generate_state(1, np.uint64)[0] if seed is None else seed
        return streams(operator.index(entropy), 1)

    def _given(self, table: Any) -> NDArray[Any]:
        wanted = self.setup.game.table
        if getattr(table, "dtype", None) != wanted or np.shape(table) != ():
            raise DealError(f"The reset option 'table' is one record of the game's table, not {type(table).__name__}.")
        if table["stage"] != Stage.PLAYING:
            stage = Stage(int(table["stage"])).name
            raise DealError(f"The reset option 'table' is a table in play, not one at the stage {stage}.")
        rows = np.zeros(1, wanted)
        rows[0] = table
        return rows
