"""The bots to copy: built by real toolchains where they are, they pass the check and play tournaments."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.players.loading import named_agents
from nainjaune_agents.players.program.check import check_bot
from nainjaune_agents.players.program.player import load
from nainjaune_agents.players.program.settings import BotSettings
from nainjaune_env import make_setup
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game
from tests.agents.players.program.servers import server
from tests.support.source import ROOT

BOTS = ROOT / "examples" / "bots"
PRESETS = [*get_game("nain_jaune").presets]
BUILT = {
    "lowest.c": ("gcc", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "{out}", "{source}"),
    "seeded.rs": ("rustc", "-O", "-D", "warnings", "-o", "{out}", "{source}"),
}
RUN = {"longest.py": [sys.executable, "-S"], "pots.js": ["node"], "first.sh": ["sh"]}
SERVERS = {"http_bot.py": ("http_bridge.py", "http"), "websocket_bot.py": ("websocket_bridge.py", "ws")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bots")


def program(source: str, folder: Path) -> str:
    """The name of a bot, which is compiled if it must be; skips where its tools are missing."""
    tools = BUILT[source] if source in BUILT else RUN[source]
    if shutil.which(tools[0]) is None:
        pytest.skip(f"{tools[0]} is not installed")
    if source not in BUILT:
        return "exec:" + shlex.join([*tools, str(BOTS / source)])
    out = folder / source.partition(".")[0]
    if not out.exists():
        subprocess.run([word.format(out=out, source=BOTS / source) for word in tools], check=True)
    return f"exec:{shlex.quote(str(out))}"


def numbers(setup: Setup, agent: Any) -> str:
    """All results of a tournament against `closer`, without the agent's name."""
    result = cross_table(setup, [agent, named_agents("nain_jaune")["closer"]], deals=20, seed=3).to_dict()
    for key in ("milliseconds_a_decision", "bots"):  # times, and how bots fared
        result.pop(key, None)
    return json.dumps(result).replace(json.dumps(agent.name), '"it"')


def check_example(name: str, setup: Setup) -> None:
    assert [finding for finding in check_bot(name, setup, BotSettings()) if finding.problem is not None] == []


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("source", "heuristic"), [("lowest.c", "lowest"), ("longest.py", "longest")])
def test_a_copy_of_a_heuristic_has_its_results(source: str, heuristic: str, preset: str, folder: Path) -> None:
    setup = make_setup(preset=preset)
    bot = load(program(source, folder), setup, BotSettings())
    assert numbers(setup, bot) == numbers(setup, named_agents("nain_jaune")[heuristic])
    bot.close()


@pytest.mark.scripts
@pytest.mark.parametrize("source", [*BUILT, *RUN])
def test_programs_pass_the_check_and_play(source: str, folder: Path) -> None:
    name, setup = program(source, folder), make_setup(preset="tableau", players=3)
    check_example(name, setup)
    bot = load(name, setup, BotSettings())
    assert numbers(setup, bot) == numbers(setup, bot)
    bot.close()


@pytest.fixture(params=SERVERS)
def bridged(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a bot that is a server, behind its bridge."""
    bridge, scheme = SERVERS[request.param]
    with server(BOTS / request.param, "0") as port:
        yield "exec:" + shlex.join([sys.executable, str(BOTS / bridge), f"{scheme}://127.0.0.1:{port}"])


def test_servers_behind_bridges_pass_the_check_and_play(bridged: str, folder: Path) -> None:
    check_example(bridged, make_setup(preset="lamps"))
    bots = [load(bridged, make_setup(), BotSettings()) for _ in range(2)]
    if "http" in bridged:
        bots.append(load(program("first.sh", folder), make_setup(), BotSettings()))
    assert len({numbers(make_setup(), bot) for bot in bots}) == 1
    for bot in bots:
        bot.close()
