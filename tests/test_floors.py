"""Who may import whom: rooms on floors, downward only. Read from the source, so that an import inside a function counts too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nainjaune_env.registry import game_names
from tests import source as module
from tests.source import Source, imports, sources

ENV, AGENTS = "nainjaune_env", "nainjaune_agents"
FLOORS: dict[str, int] = {
    # what everything stands on
    f"{ENV}.errors": 0, f"{ENV}.files": 0, f"{ENV}.cards": 0, f"{ENV}.layout": 0, f"{ENV}.jit": 0, f"{ENV}.prng": 0,
    f"{ENV}.bits": 0,
    f"{ENV}.strict": 0, f"{ENV}.threads": 0, f"{ENV}.svg": 0, f"{ENV}.games": 0,
    f"{ENV}.spec": 1, f"{ENV}.tables": 1, f"{ENV}.speech": 1, f"{ENV}.measure": 1,
    f"{ENV}.outlook": 1, f"{ENV}.study": 1,
    # the games
    **{f"{ENV}.games.{game}.*": 2 for game in game_names()},
    # the machinery that knows no game
    f"{ENV}.registry": 3, f"{ENV}.agent": 3, f"{ENV}.mode": 3, f"{ENV}.loops": 3, f"{ENV}.batch": 3, f"{ENV}.record": 3,
    f"{ENV}.worlds": 3,
    f"{ENV}.recorder": 3,
    f"{ENV}.counting": 3, f"{ENV}.tallies": 3, f"{ENV}.retracing": 3, f"{ENV}.traces": 3, f"{ENV}.cuda.*": 3,
    # adaptors to other libraries, and the door
    f"{ENV}.render.*": 4, f"{ENV}.envs.*": 4, ENV: 4,
    # agents
    f"{AGENTS}": 5, f"{AGENTS}.chance": 5, f"{AGENTS}.sampling": 5, f"{AGENTS}.heuristics.*": 5,
    f"{AGENTS}.exact.*": 5, f"{AGENTS}.search.*": 5, f"{AGENTS}.cuda.*": 5, f"{AGENTS}.zoo.*": 5, f"{AGENTS}.networks": 5,
    f"{AGENTS}.checkpoint": 5, f"{AGENTS}.devices": 5, f"{AGENTS}.net_agent": 5, f"{AGENTS}.loading": 5,
    f"{AGENTS}.quick_net": 5, f"{AGENTS}.multilayer": 5, f"{AGENTS}.common_layout": 5, f"{AGENTS}.specialised": 5,
    f"{AGENTS}.spread": 5,
    f"{AGENTS}.arena.*": 6,
    f"{AGENTS}.trainers.*": 7, f"{AGENTS}.play.*": 7, f"{AGENTS}.advice.*": 7, f"{AGENTS}.study.*": 7,
    f"{AGENTS}.cli.*": 8, "train.py": 8, "evaluate.py": 8,
}  # fmt: skip
"""A room ends in ``.*``; every module is on a floor, so a new one is an entry here."""

LIBRARIES: dict[str, set[str]] = {
    "numpy": {"*"},
    "numba": {f"{ENV}.jit", f"{ENV}.cuda.*", f"{AGENTS}.cuda.kernels"},
    "gymnasium": {f"{ENV}.envs.*"},
    "pettingzoo": {f"{ENV}.envs.*"},
    "pyspiel": {f"{ENV}.envs.open_spiel"},
    "ray": {f"{ENV}.envs.rllib"},
    "stable_baselines3": {f"{ENV}.envs.sb3_vec_env", f"{AGENTS}.trainers.sb3", f"{AGENTS}.trainers.maskable_ppo"},
    "sb3_contrib": {f"{AGENTS}.trainers.sb3", f"{AGENTS}.trainers.maskable_ppo"},
    "resvg_py": {f"{ENV}.render.raster"},
    "PIL": {f"{ENV}.render.raster", f"{ENV}.render.film"},
    "pygame": {f"{ENV}.render.window"},
    "torch": {f"{AGENTS}.trainers.*"}
    | {
        f"{AGENTS}.{name}"
        for name in ("devices", "networks", "net_agent", "quick_net", "multilayer", "specialised", "checkpoint", "cuda.nets")
    },
    "safetensors": {f"{AGENTS}.checkpoint"},
    "matplotlib": {f"{AGENTS}.arena.report", f"{AGENTS}.trainers.curves"},
    "tensorboard": {f"{AGENTS}.trainers.curves"},
    "yaml": {f"{AGENTS}.trainers.*"},
    "tqdm": {f"{AGENTS}.cli.*"},
    "pyarrow": {f"{AGENTS}.study.files", f"{AGENTS}.study.arrays"},
    "duckdb": {f"{AGENTS}.study.queries"},
}
"""Which library is imported where."""

PARTS = {**sources()}


def in_room(name: str, room: str) -> bool:
    return room == "*" or name == room or (room.endswith(".*") and (name == room[:-2] or name.startswith(room[:-1])))


def floor(name: str) -> int:
    """The floor of a module: that of its most exact entry. KeyError where there is none."""
    found = [room for room in FLOORS if in_room(name, room)]
    if not found:
        raise KeyError(f"{name} is on no floor: enter it in FLOORS, in {__file__}")
    return FLOORS[max(found, key=len)]


def ours(name: str) -> bool:
    return name.split(".")[0] in (ENV, AGENTS)


def game_of(name: str) -> str | None:
    parts = name.split(".")
    return parts[2] if parts[:2] == [ENV, "games"] and len(parts) > 2 else None


def faults(part: Source) -> list[str]:
    """What a file imports and may not."""
    found = []
    for target in sorted(imports(part)):
        top = target.split(".")[0]
        if top in sys.stdlib_module_names:
            continue
        if not ours(target):
            if not any(in_room(part.name, room) for room in LIBRARIES.get(top, set())):
                found.append(f"{part.name} imports {target}")
        elif target not in PARTS:
            found.append(f"{part.name} imports {target}, which is not there")
        elif floor(target) > floor(part.name):
            found.append(f"{part.name} (floor {floor(part.name)}) imports {target} (floor {floor(target)})")
        elif game_of(part.name) and game_of(target) and game_of(part.name) != game_of(target):
            found.append(f"{part.name} imports {target}: games do not know each other")
    return found


@pytest.mark.parametrize("name", PARTS)
def test_imports_go_downward(name: str) -> None:
    assert faults(PARTS[name]) == []


def test_every_entry_is_a_module_or_a_room() -> None:
    for room in FLOORS:
        assert any(in_room(name, room) for name in PARTS), room


@pytest.mark.parametrize("room", [f"{AGENTS}.arena", f"{AGENTS}.trainers", f"{AGENTS}.cli", f"{ENV}.envs", f"{ENV}.games"])
def test_the_rooms_are_not_empty(room: str) -> None:
    """Or the tests above would read nothing."""
    assert len([name for name in PARTS if in_room(name, f"{room}.*")]) > 1


def test_no_import_goes_round() -> None:
    """Each module can be loaded before all that use it; packages on the way count as loaded."""
    graph = {name: {t for t in imports(part) if t in PARTS and t != name} for name, part in PARTS.items() if name != ENV}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in sorted(graph.get(name, set()) - {ENV}):
                visit(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize(
    ("name", "code", "fault"),
    [
        (f"{ENV}.batch", "from nainjaune_env.envs import opening", "floor 4"),
        (f"{ENV}.batch", "def f():\n    import nainjaune_agents.chance", "floor 5"),
        (f"{ENV}.batch", "import torch", "imports torch"),
        (f"{ENV}.batch", "import numba", "imports numba"),
        (f"{AGENTS}.chance", "from .arena import play", "floor 6"),
        (f"{AGENTS}.arena.play", "from ..trainers.config import build", "floor 7"),
        (f"{AGENTS}.arena.play", "from .. import cli", "floor 8"),
        (f"{AGENTS}.arena.play", "from torch import nn", "imports torch"),
        (f"{AGENTS}.arena.play", "from ..agents import Turn", "imports nainjaune_agents.agents, which is not there"),
        (f"{AGENTS}.chance", "import agents.sampling", "imports agents.sampling"),
        (f"{ENV}.jit", "from nainjaune_env.spec import Setup", "floor 1"),
        (f"{ENV}.spec", "if TYPE_CHECKING:\n    from nainjaune_env.registry import get_game", "floor 3"),
    ],
)
def test_the_check_can_fail(tmp_path: Path, name: str, code: str, fault: str) -> None:
    path = tmp_path / "x.py"
    path.write_text(code, encoding="utf-8")
    (found,) = faults(Source(name, path))
    assert fault in found


def test_games_must_not_know_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = f"{ENV}.games.other"
    monkeypatch.setitem(PARTS, other, Source(other, tmp_path / "y.py"))
    monkeypatch.setitem(module.sources(), other, PARTS[other])
    monkeypatch.setitem(FLOORS, f"{other}.*", 2)
    (tmp_path / "x.py").write_text("from nainjaune_env.games import other", encoding="utf-8")
    (found,) = faults(Source(f"{ENV}.games.{game_names()[0]}.kernel", tmp_path / "x.py"))
    assert "games do not know each other" in found


def test_a_module_without_a_floor_is_a_fault() -> None:
    with pytest.raises(KeyError, match="is on no floor"):
        floor(f"{ENV}.novelty")


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import nainjaune_env", "torch matplotlib pettingzoo tqdm yaml tensorboard numba nainjaune_agents"),
        (
            "from nainjaune_env import Batch, make_setup; Batch(make_setup(), 1, device='cpu')",
            "torch matplotlib pettingzoo tqdm nainjaune_agents nainjaune_env.cuda numba.cuda cuda",
        ),
        ("import nainjaune_env.recorder, nainjaune_env.record", "torch matplotlib pettingzoo tqdm nainjaune_agents"),
        ("from nainjaune_env import env, parallel_env", "torch matplotlib tqdm nainjaune_agents resvg_py PIL pygame"),
        ("import nainjaune_env.render.renderer, nainjaune_env.render.film", "numba pettingzoo matplotlib resvg_py PIL pygame"),
        ("from nainjaune_agents.loading import load_agent", "torch matplotlib pettingzoo tqdm"),
        ("import nainjaune_agents.arena.tournament, nainjaune_agents.arena.report", "torch matplotlib pettingzoo"),
        ("import nainjaune_agents.cli.main", "torch matplotlib pettingzoo tqdm yaml numba pyarrow duckdb nainjaune_env.record"),
        ("import nainjaune_agents.trainers.ppo", "matplotlib pettingzoo"),
    ],
)
def test_what_an_import_does_not_load(code: str, absent: str) -> None:
    ask = f"{code}\nimport sys; print(*sorted(set({absent.split()!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ask], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
