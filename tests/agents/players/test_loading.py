"""Agents by name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.heuristics.batasaurus import Forgetful
from nainjaune_agents.players.loading import SEARCHES, base_name, kept_checkpoints, load_agent, run_named, setup_of_runs
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.search import SEARCHES as LOADED_SEARCHES
from nainjaune_env.agent import find_agent
from nainjaune_env.core.errors import AgentError, CheckpointError
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run's folder, as `runs/a` from where we are."""
    monkeypatch.chdir(tmp_path)
    save_checkpoint(tmp_path / "runs" / "a" / FILE_NAME, make(small()))
    return "runs/a"


@pytest.mark.parametrize("drawn", ["", "@sample"])
@pytest.mark.parametrize("ending", ["", "/", f"/{FILE_NAME}"])
@pytest.mark.parametrize("prefix", ["", "ppo:", "./"])
def test_a_run_by_its_path(run: str, prefix: str, ending: str, drawn: str) -> None:
    agent = load_agent(prefix + run + ending + drawn, small())
    assert isinstance(agent, NetAgent)
    assert (agent.name, agent.stochastic) == (prefix + run + ending + drawn, bool(drawn))


def test_kept_checkpoints_of_a_run_by_name(run: str) -> None:
    for name in ("best", "iteration-000100"):
        save_checkpoint(Path(run) / f"{name}.safetensors", replace(make(small()), iteration=77))
    for name in (f"{run}@best", f"ppo:{run}@best", f"{run}@100@sample", f"{run}/best.safetensors"):
        agent = load_agent(name, small())
        assert isinstance(agent, NetAgent)
        assert agent.stochastic == name.endswith("@sample")
    assert run_named(f"ppo:{run}@100@sample@search=50") == ("ppo", Path(run) / "iteration-000100.safetensors")
    assert list(kept_checkpoints(Path(run))) == [f"{run}@100", f"{run}@best"]
    with pytest.raises(AgentError, match=r"There is no run or checkpoint at 'runs/a/iteration-000200\.safetensors'"):
        load_agent(f"{run}@200", small())
    os.rename(run, "runs/b@100")  # a folder of that name is itself
    assert run_named("runs/b@100") == (None, Path("runs/b@100"))


def test_a_heuristic_goes_before_a_folder_of_its_name(run: str) -> None:
    Path(run).rename("lowest")
    assert not isinstance(load_agent("lowest", small()), NetAgent)
    assert isinstance(load_agent("./lowest", small()), NetAgent)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("lowset", r"Unknown agent 'lowset'\. Did you mean 'lowest'\? Valid: random, .*tally[,.].* The path of a run's"),
        ("runs/zzz", r"There is no run or checkpoint at 'runs/zzz'\."),
        ("ppo:runs/zzz@sample", r"There is no run or checkpoint at 'ppo:runs/zzz'\."),
        ("x" * 10**6, r"^Unknown agent 'x{,200}\.\.\..{,300}\. The path of a run's folder is also an agent\.$"),
        ("ppo:" + "x" * 10**6, r"^There is no agent 'ppo:x+\.\.\.x+': no Python module 'ppo' in the .*, and no run .{,300}\.$"),
        ("ppo:missing", r"no Python module 'ppo' in the working directory .*, and no run or checkpoint at 'missing'\.$"),
        ("my.bots:missing", r"no Python module 'my\.bots' in the working directory or among what is installed\.$"),
        ("bot.py", r"'bot\.py' is no run or checkpoint: a player in such a file is named 'bot\.py:make_agent'\."),
        ("model.zip@sample", r"'model\.zip' is no run or checkpoint: a player in such a file is named 'sb3:model\.zip'\."),
        ("ppo:a.onnx", r"'a\.onnx' is no run or checkpoint: a player in such a file is named 'onnx:a\.onnx'\."),
        ("./program@search=2", r"'program' is no run or checkpoint: a player in such a file is named 'exec:\./program'\."),
        ("dqn:runs/a", r"'runs/a' was trained by 'ppo', not by 'dqn'\."),
        ("lowest@remember=0.5", r"agent's name in Nain Jaune: '@remember'\..* Valid: @heed=, @search=, @adaptive=\."),
    ],
)
@pytest.mark.usefixtures("run")
def test_who_is_nobody(name: str, says: str) -> None:
    for file in ("bot.py", "model.zip", "a.onnx", "program"):
        Path(file).touch(0o755)
    with pytest.raises((AgentError, CheckpointError), match=says):
        load_agent(name, small())


def test_a_run_for_other_seats_is_refused(run: str) -> None:
    with pytest.raises(CheckpointError, match=r"'runs/a' was trained with 3 players, and here there are 4\."):
        load_agent(run, small(4))


# ---------------------------------------------------------------- modified


@pytest.mark.parametrize("name", ["highest@remember=0.7", "cheapest@remember=0", "mirror@remember=1e-1"])
def test_a_heuristic_that_forgets(name: str) -> None:
    agent = load_agent(name, make_setup("batasaurus"))
    assert isinstance(agent, Forgetful)
    assert agent.agent is heuristics("batasaurus")[name.partition("@")[0]]
    assert agent.remembers == float(name.partition("=")[2])
    assert agent.name == f"{agent.agent.name}@remember={agent.remembers:g}"


def test_the_modifiers_of_searches_are_those_of_their_classes() -> None:
    """They are named where no search is imported."""
    assert {*SEARCHES} == LOADED_SEARCHES.keys()


def test_modified_twice_it_is_modified_twice() -> None:
    agent = load_agent("highest@remember=0.7@remember=0.5", make_setup("batasaurus"))
    assert agent.name == "highest@remember=0.7@remember=0.5"
    assert isinstance(agent, Forgetful)
    assert isinstance(agent.agent, Forgetful)
    assert (agent.remembers, agent.agent.remembers) == (0.5, 0.7)


@pytest.mark.parametrize("prefix", ["", "ppo:"])
@pytest.mark.parametrize("drawn", ["", "@sample"])
@pytest.mark.parametrize("ending", ["", f"/{FILE_NAME}"])
def test_a_run_that_forgets(run: str, prefix: str, drawn: str, ending: str) -> None:
    setup = make_setup("batasaurus")
    save_checkpoint(Path(run) / FILE_NAME, make(setup, recurrent=4))
    name = f"{prefix}{run}{ending}{drawn}@remember=0.5"
    agent = load_agent(name, setup)
    assert isinstance(agent, Forgetful)
    assert isinstance(agent.agent, NetAgent)
    assert (agent.name, agent.agent.name, agent.remembers) == (name, f"{prefix}{run}{ending}{drawn}", 0.5)
    assert agent.agent.stochastic == bool(drawn)
    assert agent.agent.net.recurrent == 4
    assert setup_of_runs([name], "batasaurus") == setup
    assert run_named(name) == ("ppo" if prefix else None, Path(run + ending))
    assert base_name(name) == f"{prefix}{run}{ending}"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("highest@forget=0.5", r"ending of an agent.s name in Batasaurus: .*forget.*Valid: @remember=, @search=, @adaptive=\."),
        ("highest@remembers=0.5", r"'@remembers'\. Did you mean '@remember='\?"),
        ("highest@remember=half", r"After @remember= comes a number, not 'half'\."),
        ("highest@remember=1.5", r"A slot is remembered with a probability from 0 to 1, not 1\.5\."),
        ("higest@remember=0.5", r"Unknown agent 'higest'\. Did you mean 'highest'\?"),
        ("random@remember=0.5", r"The agent 'random' has no memory, so it cannot forget\."),
    ],
)
def test_endings_that_are_none(name: str, says: str) -> None:
    with pytest.raises(AgentError, match=says):
        load_agent(name, make_setup("batasaurus"))


@pytest.mark.parametrize("suffix", ["@sample", "@transfer"])
def test_a_suffix_after_a_modifier_is_refused(run: str, suffix: str) -> None:
    """The modifier would be dropped: the network would play without the search."""
    name = f"{run}@search=2{suffix}"
    with pytest.raises(AgentError, match=rf"{suffix} stands before modifiers"):
        load_agent(name, make_setup("batasaurus"))


def test_the_rules_that_runs_were_trained_under(run: str) -> None:
    assert setup_of_runs(["lowest", f"ppo:{run}@sample"], "nain_jaune") == small()
    assert setup_of_runs(["lowest", "runs/none"], "nain_jaune") is None
    other = make(replace(small(), rules=small().rules.replace(stake=3)))
    save_checkpoint(Path("runs/b") / FILE_NAME, other)
    assert setup_of_runs(["runs/b"], "nain_jaune") == replace(small(), rules=small().rules.replace(stake=3))
    with pytest.raises(AgentError, match=r"'runs/a' and 'runs/b' were trained under different rules; say by --preset"):
        setup_of_runs([run, "lowest", "runs/b"], "nain_jaune")


@pytest.mark.parametrize("folder", ["a:b", "day 1: first", "lr@rate=0.1", "x@sample", "me@host", "ppo:mine", "tally@search=5"])
def test_a_run_whose_path_has_a_colon_or_an_at_sign_can_be_named(run: str, folder: str) -> None:
    path = f"runs/{folder}"
    Path(run).rename(path)
    agent = load_agent(path, small())
    assert isinstance(agent, NetAgent)
    assert (agent.name, agent.stochastic) == (path, False)
    drawing = load_agent(f"ppo:{path}@sample", small())
    assert isinstance(drawing, NetAgent)
    assert drawing.stochastic
    searching = load_agent(f"{path}@sample@search=2", small())
    assert searching.name == f"{path}@sample@search=2"
    assert run_named(f"ppo:{path}@search=2") == ("ppo", Path(path))
    assert base_name(f"{path}@sample@search=2") == base_name(path) == path
    assert setup_of_runs([path], "nain_jaune") == small()


def test_threads_are_set_once_another_thread_has_imported_torch() -> None:
    """What a server's threads do when it starts again: one loads a model while another one seats agents."""
    code = (
        "import sys, threading\n"
        "from nainjaune_agents.base.devices import set_torch_threads\n"
        "importer = threading.Thread(target=lambda: __import__('torch'))\n"
        "importer.start()\n"
        "while 'torch' not in sys.modules:\n"
        "    pass\n"
        "set_torch_threads(1)\n"
        "importer.join()\n"
        "assert sys.modules['torch'].get_num_threads() == 1\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- of other packages

OFFERED = """
from nainjaune_agents.players.loading import load_agent
from nainjaune_env.core.errors import AgentError

def first(observation, mask):
    return mask.argmax(axis=1)

def find(name, setup):
    if name == "broken":
        raise ZeroDivisionError("no")
    if name in ("theirs", "theirs:strong"):
        return first
    if name == "borrowed":
        return load_agent("lowest", setup)
    return load_agent(name, setup)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution that is installed in a folder on the path, and offers agents."""
    folder = tmp_path / "site"
    about = folder / "tiny_players-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "tiny_players.py").write_text(OFFERED, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-players\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[nainjaune_env.agents]\ntiny = tiny_players:find\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("tiny_players", None)


@pytest.mark.parametrize("name", ["theirs", "theirs:strong", "borrowed", "theirs@search=2"])
def test_agents_of_other_packages_by_name(name: str, package: Path) -> None:
    agent = load_agent(name, small())
    assert agent.name == name
    assert find_agent(name, small()).name == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nobody", r"^Unknown agent 'nobody'\. Valid: random"),
        ("nobody:there", r"^There is no agent 'nobody:there': no Python module 'nobody'"),
        ("theirs@sample", r"@sample draws from an agent's probabilities, and 'theirs' has none\."),
        ("broken", r"the entry point 'tiny' \(tiny_players:find\) cannot be looked at for 'broken': ZeroDivisionError: no\."),
    ],
)
def test_what_other_packages_do_not_know(name: str, says: str, package: Path) -> None:
    with pytest.raises(AgentError, match=says):
        load_agent(name, small())
