"""Networks are refused at tables that they were not trained for."""

from __future__ import annotations

from typing import Any

import pytest

from nainjaune_agents.players.networks.fit import check_fits, check_rules
from nainjaune_env.core.errors import CheckpointError
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"game": "whist"}, r"it plays 'whist', and this table is for 'nain_jaune'\."),
        ({"players": 4}, r"it was trained with 4 players, and here there are 3\."),
        ({"layout": "abc"}, r"another observation layout \('abc', and here it is "),
        (
            {"layout": "x" * 5000},
            r"another observation layout \('x+\.\.\.x+', and here it is .{16}\): train it again, or play it with the commit "
            r"that wrote it\.$",
        ),
        ({"actions": 7}, r"it chooses among 7 actions, and here there are 24\."),
    ],
)
def test_for_another_table_it_is_refused(other: dict[str, Any], says: str) -> None:
    setup = small()
    check_fits(make(setup), setup, "it")
    with pytest.raises(CheckpointError, match=says):
        check_fits(make(setup, **other), setup, "it")


def test_house_rules_may_differ_only_where_a_round_is_the_same() -> None:
    """The observation means the same at another sheet, so weights may be taken over; how the network plays there is not known."""
    check_fits(make(small()), small(payment="cards", stake=3), "it")
    check_rules(make(small()), small(max_rounds=9, direction="counterclockwise"), "it")
    trained = r"it was trained under payment=points, stake=1, and this table has payment=cards, stake=3"
    with pytest.raises(CheckpointError, match=trained):
        check_rules(make(small()), small(payment="cards", stake=3), "it")
