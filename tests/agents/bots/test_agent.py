"""A program as an agent: it plays like the heuristic that it copies, whatever it wants to be sent."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.arena.tournament import tournament
from nainjaune_agents.bots.agent import BotAgent
from nainjaune_agents.loading import load_agent, named_agents
from nainjaune_env import make_setup

LOWEST = Path(__file__).parent / "lowest_bot.py"
SETUP = make_setup(players=3)


def command(program: Path, *words: str) -> str:
    """The name of a bot that is a Python program."""
    return "exec:" + shlex.join([sys.executable, "-S", str(program), *words])


def named(name: str) -> BotAgent:
    bot = load_agent(name, SETUP)
    assert isinstance(bot, BotAgent)
    return bot


def numbers(bot: Any) -> Any:
    """The result of a tournament against `closer`, without the bot's name."""
    result = tournament(SETUP, [bot, load_agent("closer", SETUP)], deals=30, seed=3).to_dict()
    for key in ("milliseconds_a_decision", "bots"):
        result.pop(key, None)
    return json.loads(json.dumps(result).replace(json.dumps(bot.name)[1:-1], "the bot"))


@pytest.mark.parametrize("ready", [{}, {"wants": ["features", "observation", "moves", "text", "plies"], "batch": 7}])
def test_a_program_that_plays_like_a_heuristic_has_its_results(ready: dict[str, Any]) -> None:
    bot = named(command(LOWEST, json.dumps(ready)))
    assert numbers(bot) == numbers(named_agents("nain_jaune")["lowest"])
    bot.close()
