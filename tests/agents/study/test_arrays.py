"""Arrow's arrays of what was played; most is tested where it is read again, in ``test_files``."""

from __future__ import annotations

import numpy as np

from nainjaune_agents.study.arrays import KINDS, bit_names
from nainjaune_agents.study.columns import decision_columns, option_columns, round_columns
from tests.support.contract import all_setups


def test_sets_are_spelled_in_order() -> None:
    names = ((2, "é"), (0, "a"), (40, "10"))
    assert bit_names(np.array([0, 1, 4, 5, 5 | 1 << 40, 2]), names).to_pylist() == ["", "a", "é", "é a", "é a 10", ""]
    assert bit_names(np.array([], np.int16), names).to_pylist() == []


def test_every_kind_of_column_has_a_type() -> None:
    kinds = set()
    for case in all_setups("features"):
        (setup,) = case.values
        for columns in (decision_columns(setup, search=True), round_columns(setup), option_columns(setup)):
            kinds |= {column.kind for column in columns}
    assert kinds == KINDS.keys()
