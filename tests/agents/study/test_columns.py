"""Which columns a study's files have."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.study.arrays import bit_names
from nainjaune_agents.study.columns import SEARCHED, Source, decision_columns, round_columns
from nainjaune_env.core.spec import Setup
from tests.support.contract import all_setups


@pytest.mark.parametrize("setup", all_setups("features"))
def test_names_are_told_apart_and_everything_is_said(setup: Setup) -> None:
    for columns in (decision_columns(setup, search=True), round_columns(setup)):
        assert len({column.name.lower() for column in columns}) == len(columns)
        for column in columns:
            assert column.meaning.endswith(".")
            assert column.unit != "payoff", "it is the game's own unit"
            assert column.name.isidentifier()
        assert any(column.unit == setup.game.unit for column in columns)


@pytest.mark.parametrize("setup", all_setups("features")[:4])
def test_what_came_of_it_is_hidden_when_it_is_decided(setup: Setup) -> None:
    hidden = {column.name for column in decision_columns(setup, search=True) if not column.seen}
    assert {"payoff", "best", "to_come", "agent", "deal", "seed"} <= hidden
    assert not {"legal", "action", "move", "earned", "hand", "cards_of_1", *(column.name for column in SEARCHED)} & hidden
    assert all(not column.seen for column in round_columns(setup) if column.source is Source.COUNTED)


def test_sets_are_spelled_in_order() -> None:
    names = ((2, "é"), (0, "a"), (40, "10"))
    assert bit_names(np.array([0, 1, 4, 5, 5 | 1 << 40, 2]), names).to_pylist() == ["", "a", "é", "é a", "é a 10", ""]
    assert bit_names(np.array([], np.int16), names).to_pylist() == []
