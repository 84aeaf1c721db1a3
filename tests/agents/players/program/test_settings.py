"""Settings of bots: an argument of what loads a bot, so that two bots of one process may have different ones."""

from __future__ import annotations

import ast
import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import nainjaune_agents
from nainjaune_agents.measure.distributed.identity import identity
from nainjaune_agents.measure.distributed.processes import Processes
from nainjaune_agents.measure.distributed.resumed import Resumed
from nainjaune_agents.measure.distributed.units import Executor, InProcess
from nainjaune_agents.measure.duplicate_edge import edge
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import make_plan
from nainjaune_agents.players.chat.settings import ChatSettings
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.settings import FORFEIT, STOP, BotSettings
from nainjaune_agents.train import ppo
from nainjaune_agents.train.opponents import Seating
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.engine.batch import Batch
from nainjaune_env.text.seat import FORMS
from tests.agents.players.program.programs import SETUP, lowest

SLOW = lowest(seconds=0.4)
QUICK_FORFEIT, QUICK_STOP = (BotSettings(on_fault, decision_seconds=0.2) for on_fault in (FORFEIT, STOP))
PATIENT = BotSettings(STOP, decision_seconds=5.0)


def act(agent: Any) -> int:
    """The action of an agent at the first decision of a deal."""
    return int(agent.act(DecisionBatch(Batch(SETUP, 1, seed=1), np.array([0])), np.random.default_rng(0))[0])


def test_two_bots_of_one_process_have_different_settings() -> None:
    forfeits, stops, waits = (load_agent(SLOW, SETUP, bots=bots) for bots in (QUICK_FORFEIT, QUICK_STOP, PATIENT))
    asked = [act(waits), act(forfeits), act(waits)]
    with pytest.raises(AgentError, match=r"asked for actions .* timeout"):
        act(stops)
    assert asked[0] == act(waits)
    assert [bot.faults.faults["timeout"] for bot in (forfeits, stops, waits)] == [1, 1, 0]
    assert [bot.faults.forfeited for bot in (forfeits, waits)] == [1, 0]


def test_settings_reach_the_bots_within_agents() -> None:
    with pytest.raises(AgentError, match="timeout"):
        act(load_agent(f"{SLOW}@search=2", SETUP, bots=BotSettings(decision_seconds=0.001)))


@pytest.mark.parametrize("bots", [3, "x", {}])
def test_other_settings_are_a_sentence(bots: Any) -> None:
    with pytest.raises(AgentError, match="bots: expected BotSettings or None, not"):
        load_agent("exec:true", SETUP, bots=bots)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "expected 'bots' to be keys and values, not []."),
        ({"seconds": 3}, "Unknown key 'bots.seconds'. Did you mean 'bots.start_seconds'?"),
        ({"on_fault": "forfiet"}, "Unknown bots.on_fault 'forfiet'. Did you mean 'forfeit'?"),
        ({"decision_seconds": 0}, "'bots.decision_seconds' to be a finite number, above 0 and at most 10000000, or null, not 0."),
        ({"decision_seconds": True}, "at most 10000000, or null, not True."),
        ({"decision_seconds": math.inf}, "expected 'bots.decision_seconds' to be a finite number, not inf."),
        ({"start_seconds": 10**400}, "at most 10000000, or null, not a whole number of 1329 bits."),
        ({"chat": 3}, "expected 'bots.chat' to be keys and values or null, not 3."),
        ({"chat": {"mony": 3}}, "Unknown key 'bots.chat.mony'."),
        ({"chat": {"form": "lng"}}, "Unknown bots.chat.form 'lng'. Did you mean 'long'?"),
        ({"chat": {"temperature": 101}}, "expected 'bots.chat.temperature' to be a finite number from 0 to 100, not 101."),
        ({"chat": {"retries": 1.5}}, "expected 'bots.chat.retries' to be a whole number from 0 to 1000, not 1.5."),
        ({"chat": {"cache": "a\0b"}}, "expected 'bots.chat.cache' to be a text without NUL or null, not 'a"),
    ],
)
def test_settings_in_a_file_are_refused_in_a_sentence(given: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=f"^The settings of bots: .*{re.escape(says)}"):
        BotSettings.from_dict(given)


def test_settings_in_python_are_those_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for form, language in itertools.product(FORMS, LANGUAGES):
        chat: dict[str, Any] = {"form": form, "language": language, "temperature": 1}
        one = BotSettings(chat=ChatSettings(**chat))
        assert BotSettings(chat=chat) == BotSettings.from_dict({"chat": chat}) == one  # type: ignore[arg-type]
        assert json.dumps(one.to_dict()["chat"]["temperature"]) == "1.0"  # equal settings, equal requests
    with pytest.raises(ConfigError, match=r"^BotSettings: expected 'start_seconds' to be a finite number, above 0 .* not 'x'\.$"):
        BotSettings(start_seconds="x")  # type: ignore[arg-type]


def test_the_usual_settings_are_used_where_none_are_given(tmp_path: Path) -> None:
    act(load_agent(lowest(path=tmp_path / "read"), SETUP))
    assert '"seconds":{"start":10.0,"decision":5.0}' in (tmp_path / "read").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "executor",
    [
        lambda folder, bots: Resumed(folder, InProcess(), bots=bots),
        pytest.param(lambda folder, bots: Resumed(folder, Processes(1, bots=bots), bots=bots), marks=pytest.mark.slow),
    ],
)
def test_executors_play_under_their_settings(executor: Callable[[Path, BotSettings], Executor], tmp_path: Path) -> None:
    agents = [load_agent(name, SETUP, bots=QUICK_FORFEIT) for name in (SLOW, "closer")]
    plan = make_plan(OwnGame(SETUP, 1), agents, 2, one_way=True)
    payloads = [payload for _, payload in executor(tmp_path / "parts", QUICK_FORFEIT).results(plan, agents, plan.units())]
    assert sum(payload["bots"][SLOW]["faults"].get("timeout", 0) for payload in payloads) > 0
    assert identity(plan)["bots"] == BotSettings().to_dict()


def test_an_edge_is_played_under_its_settings() -> None:
    with pytest.raises(AgentError, match="timeout"):
        edge(SLOW, "closer", deals=2, bots=BotSettings(decision_seconds=0.001), players=3)


def test_a_configuration_says_how_its_opponents_are_asked() -> None:
    config = ppo.Config(algorithm="ppo", preset="djeco", players=3, opponents=SLOW, eval_deals=0, bots=QUICK_FORFEIT.to_dict())
    assert config.bot_settings == QUICK_FORFEIT
    (opponent,) = Seating(config.shares, config.setup(), bots=config.bot_settings).agents
    act(opponent)
    assert opponent.faults.faults["timeout"] == 1
    assert structs.replace(config, bots=None).bot_settings == BotSettings()


def test_no_module_keeps_settings_of_bots() -> None:
    """Neither settings nor a list or a mapping of them stands in a module."""
    folder, kept = Path(nainjaune_agents.__file__).parent, []
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in (one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None):
            calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
            if any(isinstance(call, ast.Name) and call.id in ("BotSettings", "ChatSettings") for call in calls):
                kept.append(f"{path.relative_to(folder)}:{node.lineno}")
    assert kept == []
