"""The worked example of docs/new_game.md, with nothing but its own folder, through all that is written once for any game."""

from __future__ import annotations

import re

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test

import nainjaune_env
from nainjaune_agents.arena.duplicate import Duplicate
from nainjaune_agents.loading import load_agent
from nainjaune_env.envs.registration import environment_id
from nainjaune_env.records.record import format_record, parse_record, show_record, verify_record
from nainjaune_env.registry import make_setup
from tests.support.example import run_example
from tests.support.recorded import play
from tests.support.source import ROOT

SETUP = make_setup("signal_lamps")


@pytest.mark.filterwarnings("ignore")
def test_through_pettingzoo() -> None:
    api_test(nainjaune_env.env(game="signal_lamps"), num_cycles=60)


def test_through_gymnasium() -> None:
    env = gymnasium.make(environment_id("signal_lamps"))
    _, info = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        total += float(reward)
    assert total in (0.0, 1.0)


def test_records_replay() -> None:
    for record in play(SETUP, 3, 5):
        assert verify_record(parse_record(format_record(record))) == 5
        assert show_record(record).startswith("Signal Lamps · lamps · seat0, seat1")


def test_duplicate_evaluation() -> None:
    agents = [load_agent("random", SETUP)] * 2
    assert abs(Duplicate(SETUP, agents, seed=1).edge(0, 1, 500).mean) < 0.2


def test_what_the_page_shows_of_it_runs() -> None:
    text = (ROOT / "docs" / "new_game.md").read_text(encoding="utf-8")
    section = text.split("## The spec\n", 1)[1].split("\n## ", 1)[0]
    (code,) = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    run_example(code, "docs/new_game.md")
