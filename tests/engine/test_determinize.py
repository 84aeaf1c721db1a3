"""Determinizations: many tables that a seat could not tell from its own, drawn at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.determinize import determinize, generator_states
from tests.support.contract import all_setups, helper
from tests.support.positions import small, turns


@pytest.mark.parametrize("setup", all_setups())
def test_worlds_are_what_the_seat_knows_with_the_rest_drawn_anew(setup: Setup) -> None:
    for decisions in turns(setup, seed=3, tables=4, steps=12):
        determinizations = decisions.determinizations(3, np.random.default_rng(1))
        assert (determinizations.shape, determinizations.dtype) == ((4, 3), setup.game.table)
        assert len(np.unique(determinizations["rng"])) == 12
        for i in range(4):
            for determinization in determinizations[i]:
                rows = np.array([determinization])
                setup.game.kernel.redact(rows[0], setup.kernel_rules, int(determinization.seat))
                assert rows[0].tobytes() == decisions.tables[i].tobytes()
        assert helper(setup).leaks(setup, decisions.tables[0], int(decisions.seat[0])) == []


def test_worlds_depend_on_the_generator_and_on_nothing_else() -> None:
    for decisions in turns(small(4), seed=3, tables=4, steps=5):
        one, two, three = (decisions.determinizations(5, np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert one.tobytes() == two.tobytes()
        assert one["hand"].tobytes() != three["hand"].tobytes()
        assert len(np.unique(one["hand"].reshape(20, -1), axis=0)) > 10
        # with a generator for each row, a row's determinizations are its own, however many there are
        whole = decisions.determinizations(5, RowStreams(streams(7, 4), np.arange(4)))
        alone = DecisionBatch(decisions._batch, np.array([2])).determinizations(3, RowStreams(streams(7, 4), np.array([2])))
        assert alone.tobytes() == whole[2:3, :3].tobytes()


def test_the_state_of_the_generator_is_written_on() -> None:
    setup = small(4)
    tables = Batch(setup, 3, seed=2).redacted()
    states = streams(5, 3)
    first = determinize(setup, tables, np.array([0, 0, 2]), states)
    assert (states == streams(5, 3)).tolist() == [False, True, False]
    more = determinize(setup, tables, np.array([0, 2]), states)
    at_once = determinize(setup, tables, np.array([0, 0, 0, 2, 2]), streams(5, 3))
    assert at_once.tobytes() == np.concatenate([first[:2], more[:1], first[2:], more[1:]]).tobytes()


def test_generator_states_take_all_the_bits_of_a_number() -> None:
    states: Any = generator_states(np.array([0.0, 0.5, 1 - 2.0**-53]))
    assert states.dtype == np.uint64
    assert states.tolist() == [0, 1 << 63, (1 << 64) - (1 << 11)]
