"""A table that is being played: what it refuses."""

from __future__ import annotations

import re

import pytest

from nainjaune_agents.tables.server.live_table import LiveTable
from nainjaune_agents.tables.server.settings import read_settings
from nainjaune_agents.tables.server.store import DEAL
from nainjaune_env.core.errors import ConfigError, IllegalActionError
from tests.agents.tables.server.pages import new_table


@pytest.mark.parametrize("action", [63, None])
def test_an_illegal_action_is_named(action: int | None) -> None:
    live = LiveTable(read_settings(new_table("nain_jaune", persons=3, players=3)), [None] * 3, lambda number, action: None)
    names, legal = live.settings.setup.game.actions, live.table.legal
    wrong = next(a for a in range(len(names)) if a not in legal) if action is None else action
    what = f"{wrong} ({names[wrong]})" if action is None else f"63 (actions are 0 to {len(names) - 1})"
    with pytest.raises(
        IllegalActionError, match=re.escape(f"chose the illegal action {what}.")
    ):  # without legal ones: they are cards
        live.go_on(wrong)
    with pytest.raises(ConfigError, match=re.escape(f"its ply 1 is illegal when it is repeated: {what}.")):
        live.replay([wrong])
    with pytest.raises(ConfigError, match=r"its ply 1 is illegal when it is repeated: a deal\."):
        live.replay([DEAL])
