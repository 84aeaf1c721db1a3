"""Players that are Python objects, by name."""

from __future__ import annotations

import json
import pickle
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from nainjaune_agents.players.foreign import is_bot, is_external, loader_of
from nainjaune_agents.players.loading import external_players, load_agent
from nainjaune_env.agent_adapters import SampledAgent
from nainjaune_env.core.errors import AgentError
from tests.support.edges import edge_of
from tests.support.positions import small, turns

SETUP = small()
BOT = """
import pickle
from dataclasses import dataclass
from helper import first

def f(observation, mask):
    return first(mask)

@dataclass
class Player:
    def act(self, decisions, rng):
        return decisions.mask.argmax(axis=1)

    def probabilities(self, decisions):
        return decisions.mask / decisions.mask.sum(axis=1, keepdims=True)

class names:
    inner = Player()

def make(setup):
    return {}[setup.players]

def late(observation, mask):
    import lazy
    return lazy.first(mask)

wrong = 7
"""
HELPER = "def first(mask):\n    return int(mask.argmax())\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a player's file, whose helper is beside it, and a package of the same."""
    for folder in ("bots", "my_package"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.py").write_text(BOT, encoding="utf-8")
        for helper in ("helper.py", "lazy.py"):
            (tmp_path / folder / helper).write_text(HELPER, encoding="utf-8")
    package = tmp_path / "my_package" / "bot.py"
    package.write_text(BOT.replace("from helper", "from .helper").replace("import lazy", "from . import lazy"), encoding="utf-8")
    (tmp_path / "my_package" / "__init__.py").write_text("from .bot import Player as Public\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        *(f"bots/bot.py:{symbol}" for symbol in ("f", "Player", "names.inner", "late")),
        "my_package.bot:f",
        "my_package.bot:late",
        "my_package:Public",
    ],
)
def test_objects_of_files_and_modules_play(name: str, here: Path) -> None:
    agent = load_agent(name, SETUP)
    absolute = load_agent(str(here / name), SETUP) if "/" in name else agent
    edge = edge_of(SETUP, [agent, absolute], 20, seed=1)
    assert edge.moments.differing == 0
    assert edge.hero == name


def test_modifiers_and_suffixes_follow_the_name(here: Path) -> None:
    decisions = next(turns(SETUP, 1))
    for name in ("bots/bot.py:f@search=2", "my_package:Public@sample@search=2", "lowest@search=2,rollouts=my_package.bot:f"):
        agent = load_agent(name, SETUP)
        actions = agent.act(decisions, np.random.default_rng(1))
        assert decisions.mask[np.arange(8), actions].all()
    drawing = load_agent("bots/bot.py:Player@sample", SETUP)
    assert isinstance(drawing, SampledAgent)
    assert drawing.name == "bots/bot.py:Player@sample"
    assert external_players("a.py:f@sample@search=2,rollouts=b:g") == ["a.py:f", "b:g"]
    assert external_players("lowest@search=2") == external_players("zoo:strong@sample") == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bots/none.py:f", r"There is no file 'bots/none\.py' for the agent 'bots/none\.py:f'\."),
        (
            "bots/bot.py:ff",
            r"'bots/bot\.py:ff': Unknown name in 'bots/bot\.py' 'ff'\. Did you mean 'f'\? Valid: dataclass, first, f",
        ),
        ("my_package.none:f", r"There is no agent 'my_package\.none:f': no Python module 'my_package\.none' in .* installed\.$"),
        (
            "bots/bot.py:make",
            r"'bots/bot\.py:make' cannot be loaded: KeyError: 3\. It was raised in line 21 of .*bot\.py': return \{",
        ),
        ("bots/bot.py:wrong", r"'bots/bot\.py:wrong': A player is the name of an agent, .* or a torch module, not 7\."),
        ("nobody:f", r"There is no agent 'nobody:f': no Python module 'nobody' in .*, and no run or checkpoint at 'f'\.$"),
        ("sys:path", r"'sys:path': the module 'sys' is no file, so it has no player\."),
    ],
)
def test_what_is_wrong_is_one_sentence(name: str, says: str, here: Path) -> None:
    with pytest.raises(AgentError, match=says):
        load_agent(name, SETUP)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def f(:\n", r"'x\.py:f' cannot be loaded: invalid syntax in line 1 of '.*x\.py': def f\(:$"),
        ("import sys\nsys.exit(3)\n", r"' cannot be loaded: SystemExit: 3\. It was raised in line 2 of '.*': sys\.exit\(3\)"),
        ("from broken import g\n", r"ZeroDivisionError: division by zero\. It was raised in line 1 of '.*broken\.py': 1 / 0"),
        ("\0", r"'x\.py:f' cannot be loaded: .*null bytes"),
    ],
)
def test_code_that_fails_is_told_with_its_line(code: str, says: str, here: Path) -> None:
    Path("x.py").write_text(code, encoding="utf-8")
    Path("broken.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(AgentError, match=says):
        load_agent("x.py:f", SETUP)
    Path("x.py").write_text("def f(observation, mask):\n    return int(mask.argmax())\n", encoding="utf-8")
    assert load_agent("x.py:f", SETUP).name == "x.py:f"  # what has changed is run again


TWINS = {
    "bot.py": """
import pickle
from helper import Player
import package.deep
def late(observation, mask):
    import lazy
    return lazy.pick(mask)
def unpickled():
    return pickle.loads(b"chelper\\nPlayer\\n(t\\x81.")
def dynamic(observation, mask):
    return __import__("importlib").import_module("lazy").pick(mask)
""",
    "helper.py": """
import numpy as np
from tests.support.edges import edge_of
class Player:
    def act(self, decisions, rng):
        import lazy
        return np.array([lazy.pick(mask) for mask in decisions.mask])
""",
    "lazy.py": "def pick(mask):\n    from package import deep\n    return deep.pick(mask)\n",
    "package/__init__.py": "",
    "package/deep.py": "def pick(mask):\n    from .near import pick\n    return pick(mask)\n",
    "bot.v2.py": "from lazy import pick\ndef f(observation, mask):\n    return pick(mask)\n",
    "bot/__init__.py": "",
}
"""The files of two players that differ in one alone, which others import when they are called."""


def test_two_folders_may_have_modules_of_the_same_names(here: Path) -> None:
    """Also in helpers of helpers, in functions called late, beside a package of the file's name, and in pickles at the start."""
    picks = {"one": "int(mask.argmax())", "other": "23 - int(mask[::-1].argmax())"}
    for folder, pick in picks.items():
        for file, code in {**TWINS, "package/near.py": f"def pick(mask):\n    return {pick}\n"}.items():
            (here / folder / file).parent.mkdir(parents=True, exist_ok=True)
            (here / folder / file).write_text(code, encoding="utf-8")
    decisions, rng = next(turns(SETUP, 1)), np.random.default_rng(1)
    chosen = {"one": decisions.mask.argmax(axis=1), "other": 23 - decisions.mask[:, ::-1].argmax(axis=1)}
    for symbol in ("bot.py:late", "bot.py:Player", "bot.py:unpickled", "bot.v2.py:f"):
        agents = {folder: load_agent(f"{folder}/{symbol}", SETUP) for folder in picks}
        for folder, agent in [*agents.items()] * 2:
            assert (agent.act(decisions, rng) == chosen[folder]).all(), (folder, symbol)
    with pytest.raises(ModuleNotFoundError, match="lazy"):
        load_agent("one/bot.py:dynamic", SETUP).act(decisions, rng)
    assert not {"helper", "lazy", "package", "bot"} & set(sys.modules)
    assert not [*here.rglob("__pycache__")]


def test_a_file_is_run_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("once.py").write_text("print('ran')\ndef f(o, m): return int(m.argmax())\ng = f\n", encoding="utf-8")
    for name in ("once.py:f", "once.py:g", "./once.py:f"):
        load_agent(name, SETUP)
    assert capsys.readouterr().out == "ran\n"
    Path("beside.py").write_text("print('beside')\n", encoding="utf-8")
    Path("once.py").write_text("import beside\ndef f(o, m): return int(m.argmax())\n", encoding="utf-8")
    load_agent("once.py:f", SETUP)
    Path("beside.py").write_text("print('beside it')\n", encoding="utf-8")
    load_agent("once.py:f", SETUP)
    assert capsys.readouterr().out == "beside\nbeside it\n"
    player = load_agent("bots/bot.py:Player", SETUP)
    assert pickle.loads(pickle.dumps(player)) == player


def test_files_are_those_that_decide_how_it_plays(here: Path) -> None:
    def names(name: str) -> list[str]:
        return [str(path.relative_to(here)) for path in loader_of(name).files(name)]

    assert names("bots/bot.py:f") == ["bots/bot.py", "bots/helper.py", "bots/lazy.py"]
    everything = [f"my_package/{file}.py" for file in ("__init__", "bot", "helper", "lazy")]
    assert sorted(names("my_package:Public")) == sorted(names("my_package.bot:f")) == everything
    folder = Path(json.__file__).parent
    assert loader_of("json:loads").files("json:loads") == sorted(folder.rglob("*.py"))
    assert loader_of("abc:ABC").files("textwrap:dedent") == [Path(textwrap.__file__)]
    with pytest.raises(AgentError, match="There is no file"):
        loader_of("none.py:f").files("none.py:f")


def test_which_names_are_external(here: Path) -> None:
    for folder in ("runs", "f"):  # a folder of the object's name does not matter
        (here / folder).mkdir()
    external = ["a.py:f", "b/a.py:f.g", "a.b:c", "ppo:missing", "exec:./bot --level 3", "sb3:x.zip", "onnx:x"]
    others = ["lowest", "zoo:strong", "runs/a", "ppo:runs", "ppo:runs/a", "C:f g", "a.py:1", "ws://host:1", "http://host/x"]
    assert [name for name in external + others if is_external(name)] == external
    assert [name for name in external if is_bot(name)] == ["exec:./bot --level 3"]
