"""The benchmark of tables in a browser runs and says what it was asked for. How fast it finds us is no test."""

from __future__ import annotations

import re

import pytest

from .commands import command, module


@pytest.mark.long  # two servers and two people; the parts are tested in tests/agents/serve
def test_play_fuzzed_messages_and_a_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module("serve"), "THINKS", (0.0, 0.01))
    few = ["--tables", "2", "--people", "2", "--pace", "0.01", "--seconds", "2", "--warm-up", "0", "--fuzz", "60", "--kills", "1"]
    done = command("serve", "--game", "batasaurus", "--players", "2", *few)
    assert done.returncode == 0, done.stderr
    assert re.search(r"action to view: [1-9]\d* actions, median \d+\.\d ms, 99 % \d+\.\d ms, most \d+\.\d ms\n", done.stdout)
    assert re.search(r"memory: \d+ MB at the start, \d+ MB after a third, \d+ MB at the end\n", done.stdout)
    fuzzed = re.search(r"(\d+) answered, (\d+) closed their connection, 0 tables changed, 0 made\n", done.stdout)
    assert fuzzed is not None
    assert int(fuzzed[1]) + int(fuzzed[2]) == 60
    assert re.search(r"kills during play: 1, [1-9]\d* plies in the file, nothing lost\n", done.stdout)
