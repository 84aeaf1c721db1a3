"""What every game's checks of tables from outside promise: a table that passes is safe to play on, however it came about."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_env.core.spec import Setup
from tests.support.contract import all_setups
from tests.support.mutated import accepted, midway_tables, mutated, play_checked


@pytest.mark.parametrize("setup", all_setups())
def test_an_altered_table_that_passes_is_played_to_its_end(setup: Setup) -> None:
    rng = np.random.default_rng(1)
    rows = accepted(setup, mutated(midway_tables(setup, 40, rng), rng))
    assert len(rows) > 2
    assert play_checked(setup, rows, 2) > 0
