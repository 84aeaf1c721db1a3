"""The encoders write whole words, which may run past the end of a slot: never past the end of the observation."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_env import Batch
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.compiled import loops_of
from tests.support.contract import all_setups


@pytest.mark.parametrize("setup", all_setups())
def test_encoder_stays_within_the_layout(setup: Setup) -> None:
    batch = Batch(setup, 16, seed=setup.players)
    random = streams(1, 16)
    size = setup.layout.size
    wide = np.empty((16, size + 32), np.uint8)
    for ply in range(60):
        batch.step(batch.sample(random))
        seats = np.full(16, ply % setup.players)
        wide.fill(170)
        loops_of(setup).observe_tables(batch.tables, batch.numbers, seats, wide)
        assert (wide[:, size:] == 170).all()
        assert (wide[:, :size] == batch.observe(seats)).all()
        assert (batch.observe(seats) <= setup.layout.high).all()
