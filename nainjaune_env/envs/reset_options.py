"""How environments begin their episodes: seeds, generators that continue, and the options of ``reset``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError, RulesError, quoted, unknown_name_message
from nainjaune_env.core.prng import entropy, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import check_seed
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.start_values import Start as Start
from nainjaune_env.engine.start_values import parse_start

OPTIONS = ("start", "table")
"""The options of ``reset``."""

MAX_REDEALS = 10_000
"""Deals in a row without a decision before an environment gives up."""

ONLY = np.zeros(1, np.int64)
"""The index of the table in an environment with a single one."""


class Opening(NamedTuple):
    """How episodes begin, by the options of a reset; None where the options leave it open."""

    table: NDArray[Any] | None
    """The table as it stands, ``(1,)``."""
    start_values: NDArray[np.int32] | None
    """The start values of new matches, ``(B, k)``."""


AS_USUAL = Opening(None, None)
"""The opening of a reset without options."""


class Opener:
    """Prepares the tables of a batch, made with ``deal=False``, for the episodes of an environment."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._begun = np.zeros(batch.num_tables, np.bool_)

    def check(self, seeds: Sequence[int | None], options: Mapping[str, Any]) -> Opening:
        """Returns what ``options`` say; raises :class:`DealError` for unknown ones and for values that do not fit."""
        if not options:
            return AS_USUAL
        check_options(options, OPTIONS)
        if not isinstance(options.get("start", {}), Mapping):
            raise DealError(f"The reset option 'start' is a mapping of values by name, not {quoted(options['start'])}.")
        batch = self._batch
        if "table" not in options:
            values = parse_start(batch.game, batch.num_tables, options["start"])[0] if "start" in options else None
            return Opening(None, values)
        if any(seed is not None for seed in seeds) or "start" in options:
            raise DealError("The reset option 'table' has its own generator and chips: give no seed or 'start' with it.")
        return Opening(self._given(options["table"]), None)

    def prepare(self, which: NDArray[np.int64], seeds: Sequence[int | None], opening: Opening) -> None:
        """Sets the tables ``which (K,)`` of the batch so that the loops begin the episodes of ``opening`` there.

        Seed s deals the table of ``Batch(setup, 1, seed=s)``. With None the table's generator continues; the first time, the
        operating system seeds it. A table that begins a new match is marked as one whose match is over.
        """
        batch, tables = self._batch, self._batch.tables
        if opening.table is not None:
            tables[which] = opening.table
            if batch.log is not None:
                batch.log.begin(which, tables[which])
        else:
            states, stages = tables["rng"], tables["stage"]
            for i, seed in zip(which.tolist(), seeds, strict=True):
                seeded = seed is not None or not self._begun[i]
                if seeded:
                    states[i] = streams(entropy() if seed is None else seed, 1)[0]
                if seeded or opening.start_values is not None:
                    stages[i] = Stage.MATCH_OVER
        self._begun[which] = True

    def _given(self, table: Any) -> NDArray[Any]:
        wanted = self._batch.game.table
        if getattr(table, "dtype", None) != wanted or np.shape(table) != ():
            raise DealError(f"The reset option 'table' is one record of the game's table, not {type(table).__name__}.")
        rows = np.zeros(1, wanted)
        rows[0] = table
        if table["stage"] in (Stage.ROUND_OVER, Stage.MATCH_OVER):
            stage = Stage(int(table["stage"])).name
            raise DealError(f"The reset option 'table' is a table in play, not one at the stage {stage}.")
        self._batch.setup.check_tables(rows)
        return rows


def check_options(options: Iterable[str], valid: Sequence[str]) -> None:
    """Raises :class:`DealError` for a name in ``options`` that is none of the ``valid`` options of a reset."""
    for name in options:
        if name not in valid:
            raise DealError(unknown_name_message("reset option", name, valid))


def options_of(given: object) -> dict[str, Any]:
    """Returns the options of ``reset`` as a new dictionary, empty for None; raises :class:`DealError` for what is no mapping."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DealError(f"The options of reset are a mapping with the keys {', '.join(OPTIONS)}, not {quoted(given)}.")
    return dict(given)


def check_deals(setup: Setup, deals: int) -> None:
    """Raises :class:`RulesError` after ``MAX_REDEALS`` deals in a row in which nobody who is waited for had a decision."""
    if deals >= MAX_REDEALS:
        raise RulesError(
            f"In {deals} deals of {setup.game.title} in a row there was no decision to make, so no episode begins under these "
            f"rules: change them, say the size of hands, or use skip_forced=False, where forced plies are steps too."
        )


def seed_number(seed: object) -> int | None:
    """Returns ``seed`` as an int, or None; raises :class:`DealError` as ``check_seed`` does."""
    return None if seed is None else check_seed(seed)
