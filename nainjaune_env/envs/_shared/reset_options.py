"""How environments begin their episodes: seeds, generators that continue, and the options of ``reset``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nainjaune_env.core.errors import DealError, RulesError, choose_one, quoted
from nainjaune_env.core.prng import entropy, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import check_seed
from nainjaune_env.engine.batch import Episode, loops_of
from nainjaune_env.envs._shared.undealt_batch import UndealtBatch

Start = str | Mapping[str, ArrayLike]
"""The type of ``Batch``'s argument ``start``."""

OPTIONS = ("start", "table")
"""The options of ``reset``."""

MOST_DEALS = 10_000
"""Most deals in a row without a decision before an environment gives up."""

ONLY = np.zeros(1, np.int64)
"""The index of the table in an environment with a single one."""


def check_option(name: str, valid: Sequence[str]) -> None:
    """Raise :class:`DealError` unless ``name`` is one of the ``valid`` options of a reset."""
    if name not in valid:
        raise DealError(choose_one("reset option", name, valid))


class Opener:
    """Deals the tables of an environment's episodes.

    Pictures and records begin with a table as it was dealt, before any forced ply, so dealing is separate from playing.
    """

    def __init__(self, setup: Setup, episode: Episode, start: Start, num_tables: int = 1) -> None:
        """Take the arguments of ``Batch`` and raise its errors."""
        self.setup = setup
        self._num_tables = num_tables
        self._episode = episode
        self.carries = isinstance(start, str) and start == "carried"
        """Whether a table's next episode is the next round of its match."""
        self._dealer = self._make_dealer("fresh" if self.carries else start)
        self._begun = np.zeros(num_tables, np.bool_)

    def _make_dealer(self, start: Any) -> UndealtBatch:
        return UndealtBatch(self.setup, self._num_tables, episode=self._episode, start=start, autoreset=False, observe=False)

    def set_start_values(self, values: Mapping[str, ArrayLike]) -> None:
        """Set what later matches begin with, as ``Batch``'s ``start`` does; raises :class:`DealError` where they do not fit."""
        self._dealer = self._make_dealer(values)

    @property
    def start_values(self) -> NDArray[np.int32]:
        """The start values of a match at each table, shape ``(B, k)``."""
        return self._dealer._values

    def deal(
        self, tables: NDArray[Any], which: NDArray[np.int64], seeds: Sequence[int | None], options: Mapping[str, Any]
    ) -> NDArray[Any]:
        """Return tables ``(K,)`` that begin the next episodes at ``which (K,)``; ``tables (B,)`` are the current ones.

        Nothing changes by it: call :meth:`began` where these episodes are played.
        Seed s deals the table of ``Batch(setup, 1, seed=s)``. With None the table's generator continues; the first time, the
        operating system seeds it. Raises :class:`DealError` for unknown options and for values that do not fit.
        """
        for name in options:
            check_option(name, OPTIONS)
        if not isinstance(options.get("start", {}), Mapping):
            raise DealError(f"The reset option 'start' is a mapping of values by name, not {quoted(options['start'])}.")
        seeded = np.array([seed is not None for seed in seeds], np.bool_)
        if "table" in options:
            if seeded.any() or "start" in options:
                raise DealError("The reset option 'table' has its own generator and chips: give no seed or 'start' with it.")
            openings = self._given(options["table"], len(which))
        else:
            openings = tables[which].copy()
            carried = self._begun[which] & ~seeded & (openings["stage"] == Stage.ROUND_OVER)
            if not self.carries or options:
                carried[:] = False
            for k in np.flatnonzero(carried):
                loops_of(self.setup.game).deal_one(openings, self.setup.kernel_rules, k)
            fresh = np.flatnonzero(~carried)
            dealer = self._make_dealer(options["start"]) if "start" in options else self._dealer
            dealer.deal(which[fresh], self._generators(tables, which[fresh], [seeds[int(k)] for k in fresh]))
            openings[fresh] = dealer.tables[which[fresh]]
        return openings

    def began(self, which: NDArray[np.int64]) -> None:
        """Note that the episodes that :meth:`deal` returned for the tables ``which (K,)`` are being played."""
        self._begun[which] = True

    def set_generators(self, tables: NDArray[Any], which: NDArray[np.int64], seeds: Sequence[int | None]) -> None:
        """Set the generators of ``tables (B,)`` at ``which (K,)``, so that the loops deal there what :meth:`deal` would return.

        A table with a seed, or without an episode so far, is marked as one whose match is over, after which a new one begins.
        """
        tables["rng"][which] = self._generators(tables, which, seeds)
        new = ~self._begun[which] | np.array([seed is not None for seed in seeds], np.bool_)
        tables["stage"][which[new]] = Stage.MATCH_OVER
        self.began(which)

    def _generators(self, tables: NDArray[Any], which: NDArray[np.int64], seeds: Sequence[int | None]) -> NDArray[np.uint64]:
        states = tables["rng"][which]
        for k, seed in enumerate(seeds):
            if seed is not None or not self._begun[which[k]]:
                states[k] = streams(entropy() if seed is None else seed, 1)[0]
        return states

    def _given(self, table: Any, count: int) -> NDArray[Any]:
        wanted = self.setup.game.table
        if getattr(table, "dtype", None) != wanted or np.shape(table) != ():
            raise DealError(f"The reset option 'table' is one record of the game's table, not {type(table).__name__}.")
        rows = np.zeros(count, wanted)
        rows[:] = table
        if table["stage"] in (Stage.ROUND_OVER, Stage.MATCH_OVER):
            stage = Stage(int(table["stage"])).name
            raise DealError(f"The reset option 'table' is a table in play, not one at the stage {stage}.")
        self.setup.check_tables(rows[:1])
        return rows


def options_of(given: object) -> dict[str, Any]:
    """Return the options of ``reset`` as a new dictionary, empty for None; raises :class:`DealError` for what is no mapping."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DealError(f"The options of reset are a mapping with the keys {', '.join(OPTIONS)}, not {quoted(given)}.")
    return dict(given)


def check_deals(setup: Setup, deals: int) -> None:
    """Raise :class:`RulesError` after ``MOST_DEALS`` deals in a row in which nobody who is waited for had a decision."""
    if deals >= MOST_DEALS:
        raise RulesError(
            f"In {deals} deals of {setup.game.title} in a row there was no decision to make, so no episode begins under these "
            f"rules: change them, say the size of hands, or use skip_forced=False, where forced plies are steps too."
        )


def seed_number(seed: object) -> int | None:
    """Return ``seed`` as an int, or None; raises :class:`DealError` as ``check_seed`` does."""
    return None if seed is None else check_seed(seed)
