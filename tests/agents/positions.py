"""Positions to ask agents about, and small setups: what the tests of agents have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.agent import Turn
from nainjaune_env.batch import Batch
from nainjaune_env.prng import streams
from nainjaune_env.registry import make_setup
from nainjaune_env.spec import Setup


def turns(setup: Setup, seed: int, *, tables: int = 8, steps: int = 25, **options: Any) -> Iterator[Turn]:
    """What every table asks at every step of random play, rounds without end."""
    batch, draws = Batch(setup, tables, seed=seed, **options), streams(seed, tables, stream=9)
    for _ in range(steps):
        yield Turn(batch, np.arange(tables))
        batch.step(batch.sample(draws))


def is_legal(turn: Turn, actions: NDArray[np.int64]) -> bool:
    """Whether every one of ``actions (K,)`` may be played."""
    return bool((turn.legal >> actions & 1).all())


def small(players: int = 3, **knobs: Any) -> Setup:
    """A sheet of the usual game with a fast end."""
    return make_setup("nain_jaune", "classic", players, **{"max_rounds": 2, **knobs})
