"""The arrays of tables, an argument of the compiled loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import inlined
from nainjaune_env.core.spec import Setup


class TableArrays(NamedTuple):
    """The arrays of B tables of n seats, indexed by table, which the loops read and write; A actions.

    The class is not in ``loops`` for the reason that ``EpisodeOptions`` gives.
    """

    tables: NDArray[Any]
    """``(B,)`` records."""
    start_values: NDArray[np.int32]
    """``(B, k)``: the start values of the next match; k is 0 where matches begin as the rules say."""
    legal: NDArray[np.int64]
    """``(B,)``: the legal actions of the seat to act, as bits."""
    observation: NDArray[np.uint8]
    """``(B, size)``: what the seat to act observes."""
    mask: NDArray[np.bool_]
    """``(B, A)``: the legal actions."""
    reward: NDArray[np.int32]
    """``(B, n)``: net result since the last call."""
    credited: NDArray[np.int32]
    """``(B, n)``: the part of the running round's payoffs that was already returned as reward."""
    deals: NDArray[np.int64]
    """``(B,)``: rounds begun."""
    done: NDArray[np.bool_]
    """``(B,)``: whether an episode ended."""
    scratch: NDArray[np.int32]
    """``(n,)``: of the thread, not of a table."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Returns the arrays by name that are the state of the tables: all but ``start_values`` and ``scratch``."""
        return {name: array for name, array in self._asdict().items() if name not in ("start_values", "scratch")}


def new_arrays(setup: Setup, count: int, start_values: NDArray[np.int32] | None = None) -> TableArrays:
    """Returns arrays of zeros for ``count`` tables, with the ``start_values`` of their matches, if any."""
    n = setup.players
    return TableArrays(
        tables=np.zeros(count, setup.game.table),
        start_values=np.zeros((count, 0), np.int32) if start_values is None else start_values,
        legal=np.zeros(count, np.int64),
        observation=np.zeros((count, setup.layout.size), np.uint8),
        mask=np.zeros((count, len(setup.game.actions)), np.bool_),
        reward=np.zeros((count, n), np.int32),
        credited=np.zeros((count, n), np.int32),
        deals=np.zeros(count, np.int64),
        done=np.zeros(count, np.bool_),
        scratch=np.zeros(n, np.int32),
    )


@inlined
def with_scratch(a: Any, scratch: Any) -> TableArrays:
    """Returns ``a`` with other ``scratch`` memory, in compiled code too."""
    return TableArrays(a.tables, a.start_values, a.legal, a.observation, a.mask, a.reward, a.credited, a.deals, a.done, scratch)
