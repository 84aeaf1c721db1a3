"""The worked example of docs/new_game.md, with nothing but its own folder, through all that is written once for any game."""

from __future__ import annotations

import re

from nainjaune_agents.players.loading import load_agent
from nainjaune_env.registry import make_setup
from tests.support.edges import edge_of
from tests.support.example import run_example
from tests.support.source import ROOT

SETUP = make_setup("signal_lamps")


def test_duplicate_evaluation() -> None:
    agents = [load_agent("random", SETUP)] * 2
    assert abs(edge_of(SETUP, agents, 500, seed=1).mean) < 0.2


def test_what_the_page_shows_of_it_runs() -> None:
    text = (ROOT / "docs" / "new_game.md").read_text(encoding="utf-8")
    section = text.split("## The spec\n", 1)[1].split("\n## ", 1)[0]
    (code,) = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    run_example(code, "docs/new_game.md")
