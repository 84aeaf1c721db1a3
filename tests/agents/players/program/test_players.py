"""Bots by name: the files that decide how they play, and the settings that hold for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.players.program.player import files
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env.core.errors import ConfigError


def test_the_files_of_a_command_are_those_that_it_names(tmp_path: Path) -> None:
    program, weights, data = (tmp_path / name for name in ("a bot.py", "weights", "data"))
    for path in (program, weights, data):
        path.write_text("x")
    command = f"exec:python3 '{program}' --weights={weights} --level 3 {data} {data} {tmp_path}"
    assert files(command) == [program, weights, data]
    assert files(f"exec:{weights} 3") == [weights]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"on_fault": "go on"}, "Unknown on_fault 'go on'"),
        ({"start_seconds": 0}, "start_seconds is a number of seconds above 0, at most 10000000, or None for no limit, not 0."),
        ({"decision_seconds": float("inf")}, "decision_seconds is a number of seconds"),
    ],
)
def test_settings_out_of_their_bounds_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        BotSettings(**settings)
