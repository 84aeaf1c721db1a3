"""The unit of values at a setup, by random play: so that one network can value many setups."""

from __future__ import annotations

import numpy as np

from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

ROUNDS = 1024
SEED = 271_828
"""The seed of deals and play; like ``ROUNDS`` it fixes the unit of the values in checkpoints."""


def random_payoff_scale(setup: Setup) -> float:
    """Returns the standard deviation of a seat's payoff less the table's mean in uniformly random play; at least 1.

    In the game's unit (chips, cards), the same number every time. It takes milliseconds and no network, so that a network trained
    at many setups has a unit for its values at any other.
    """
    batch = Batch(setup, ROUNDS, seed=SEED, autoreset=False, observe=False)
    payoff = batch.reward.astype(np.int64)
    rng_states = streams(SEED, ROUNDS, stream=1)
    while not batch.done.all():
        batch.step(batch.sample(rng_states))
        payoff += batch.reward
    return max(float((payoff - payoff.mean(axis=1, keepdims=True)).std()), 1.0)
