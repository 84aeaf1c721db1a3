"""Bots by name: the files that decide how they play, and the settings that hold for all."""

from __future__ import annotations

from pathlib import Path

from nainjaune_agents.players.program.player import files


def test_the_files_of_a_command_are_those_that_it_names(tmp_path: Path) -> None:
    program, weights, data = (tmp_path / name for name in ("a bot.py", "weights", "data"))
    for path in (program, weights, data):
        path.write_text("x")
    command = f"exec:python3 '{program}' --weights={weights} --level 3 {data} {data} {tmp_path}"
    assert files(command) == [program, weights, data]
    assert files(f"exec:{weights} 3") == [weights]
