"""How far payoffs lie apart at a table, the same number every time: the unit in which one network values many setups."""

from __future__ import annotations

import numpy as np

from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

ROUNDS = 1024
SEED = 271_828
"""Deals and play of these rounds; both are part of what a checkpoint's values mean."""


def random_spread(setup: Setup) -> float:
    """Standard deviation of a seat's payoff beyond the table's mean in rounds of uniformly random play; at least 1.

    In the game's unit (chips, cards). It takes milliseconds, and needs no network and nothing kept: so a network trained at
    many tables has a unit for its value at any other too.
    """
    batch = Batch(setup, ROUNDS, seed=SEED, autoreset=False, observe=False)
    payoff = batch.reward.astype(np.int64)
    chance = streams(SEED, ROUNDS, stream=1)
    while not batch.done.all():
        batch.step(batch.sample(chance))
        payoff += batch.reward
    return max(float((payoff - payoff.mean(axis=1, keepdims=True)).std()), 1.0)
