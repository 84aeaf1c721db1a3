"""``nainjaune bot``: what it prints of real programs, and its exit status."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from tests.agents.cli.command import Capture, nainjaune
from tests.agents.players.program.programs import HERE


def command(mistake: str) -> str:
    return shlex.join([sys.executable, "-S", str(HERE / "broken_bot.py"), mistake, json.dumps({"deterministic": True})])


@pytest.mark.parametrize("prefix", ["", "exec:"])
def test_a_right_bot_passes(prefix: str, capfd: Capture) -> None:
    status, out, err = nainjaune(capfd, "bot check --preset classic --players 5", prefix + command("none"))
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert all(line.startswith("ok     ") for line in lines[:-1])
    assert lines[0].startswith("ok     hello           broken; wants nothing more; batch 1; deterministic; ready in ")
    assert lines[-1] == f"All {len(lines) - 1} checks passed."


def test_what_is_wrong_is_a_line_with_the_end_of_the_log(capfd: Capture) -> None:
    status, out, _ = nainjaune(capfd, "bot check", command("types"))
    lines = out.splitlines()
    (wrong,) = [number for number, line in enumerate(lines) if line.startswith("WRONG")]
    assert status == 1
    assert lines[wrong].startswith("WRONG  unknown type    The program ended with status 1. Ignore messages of types")
    assert "       its log: ValueError: what is x_check?" in lines
    assert lines[-1] == f"1 of {sum(not line.startswith(' ') for line in lines) - 1} checks found something wrong."
