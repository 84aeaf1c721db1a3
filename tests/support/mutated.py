"""Tables with a few numbers altered, and play to the end of their round that checks each ply."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize

MAX_PLIES = 20_000
"""More than any round takes."""


def midway_tables(setup: Setup, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Returns ``(count,)`` tables of random play, stopped after different numbers of plies."""
    batch = Batch(setup, count, seed=int(rng.integers(1 << 32)), autoreset=False, skip_forced=False)
    draws, stops = streams(int(rng.integers(1 << 32)), count), rng.integers(0, 80, count)
    for ply in range(stops.max()):
        playing = np.flatnonzero((stops > ply) & ~batch.done)
        batch.step(batch.sample(draws)[playing], playing)
    return batch.tables.copy()


def mutated(rows: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Returns a copy of ``rows (K,)`` with up to three numbers of each altered: slightly, in a bit, to a limit or to another."""
    rows = rows.copy()
    for k in range(len(rows)):
        for _ in range(rng.integers(1, 4)):
            values = rows[rng.choice(rows.dtype.names)][k : k + 1]
            limits, at = np.iinfo(values.dtype), rng.integers(values.size)
            old = int(values.flat[at])
            new = (
                old + int(rng.integers(-2, 3)),
                old ^ 1 << int(rng.integers(limits.bits - 1)),
                int(rng.choice([limits.min, 0, limits.max])),
                int(values.flat[rng.integers(values.size)]),
            )[rng.integers(4)]
            values.flat[at] = min(max(new, int(limits.min)), int(limits.max))
    return rows


def accepted(setup: Setup, rows: NDArray[Any]) -> NDArray[Any]:
    """Returns those of ``rows (K,)`` that pass the checks of tables from outside."""

    def passes(k: int) -> bool:
        try:
            setup.check_tables(rows[k : k + 1])
        except DealError:
            return False
        return True

    return rows[[k for k in range(len(rows)) if passes(k)]]


def play_checked(setup: Setup, rows: NDArray[Any], seed: int) -> int:
    """Plays ``rows (K,)`` at random to the end of their rounds; returns the number of plies.

    Asserts at each ply that tables pass the checks, that each seat's observation is as the layout says, that a determinization of
    a redacted table passes, too, with the same legal actions, and at the end that rewards sum to the payoffs.
    """
    batch = Batch(setup, len(rows), deal=False, autoreset=False, skip_forced=False)
    batch.set_tables(None, rows)
    draws, total, paid = streams(seed, len(rows)), np.zeros(batch.reward.shape, np.int64), np.zeros_like(batch.reward)
    for ply in range(MAX_PLIES):
        total += batch.reward
        setup.check_tables(batch.tables)
        for seat in range(setup.players):
            assert (batch.observe(seat) <= setup.layout.high).all()
        playing = np.flatnonzero(~batch.done)
        if not playing.size:
            for table, payoffs in zip(batch.tables, paid, strict=True):
                setup.game.kernel.payoffs(table, setup.kernel_rules, payoffs)
            assert np.array_equal(total, paid)
            return ply
        drawn = determinize(setup, batch.redacted(playing), np.arange(playing.size), streams(ply, playing.size))
        setup.check_tables(drawn)
        legal = np.zeros(playing.size, np.int64)
        batch._loops.legal_of_tables(drawn, batch.numbers, legal)
        assert np.array_equal(legal, batch.legal[playing])
        batch.step(batch.sample(draws)[playing], playing)
        batch.reward[np.setdiff1d(np.arange(len(rows)), playing)] = 0
    raise AssertionError(f"{setup.to_dict()}: no end after {MAX_PLIES} plies")
