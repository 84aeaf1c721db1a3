"""Legal and illegal actions in words."""

from __future__ import annotations

import pytest

from nainjaune_env.core.illegal import why_illegal

NAMES = ("A", "7d", "pass")


@pytest.mark.parametrize(
    ("action", "what"),
    [(1, "1 (7d)"), (3, "3 (actions are 0 to 2)"), (-1, "-1 (actions are 0 to 2)"), (10**30, f"{10**30} (actions are 0 to 2)")],
)
def test_the_action_and_the_legal_ones_have_their_names(action: int, what: str) -> None:
    assert why_illegal(action, 0b101, NAMES, "table 4") == f"Action {what} is not legal at table 4; legal: 0 (A), 2 (pass)."
