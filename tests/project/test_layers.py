"""The packages stand in layers, and a module imports only from its own layer or a lower one.

Imports are read from the source, so those inside functions and for type checking count too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from nainjaune_env.registry import game_names
from tests.support.source import ROOT, Source, imports, sources

ENV, AGENTS = "nainjaune_env", "nainjaune_agents"
ROOMS = (("base",), ("players",), ("measure",), ("train", "study"), ("tables", "language"), ("cli",))
"""The rooms of ``agents/``; those of a step do not know each other."""
LAYERS: dict[str, int] = {
    # 0: the foundation, and the protocols of what a game may offer beyond its kernel
    f"{ENV}.core.*": 0, f"{ENV}.compiler.*": 0, f"{ENV}.games": 0, f"{ENV}.render.svg": 0,
    f"{ENV}.analysis.stat_hook": 0, f"{ENV}.analysis.feature_hook": 0, f"{ENV}.analysis.advice_hook": 0,
    # 1: many tables, stepped by compiled loops
    f"{ENV}.engine.*": 1,
    # 2: the games, which do not know each other
    **{f"{ENV}.games.{game}.*": 2 for game in game_names()},
    # 3: what is written once for all games
    f"{ENV}.registry": 3, f"{ENV}.build.*": 3, f"{ENV}.agent": 3, f"{ENV}.agent_adapters": 3,
    f"{ENV}.records.*": 3, f"{ENV}.text.*": 3, f"{ENV}.analysis.*": 3,
    # 4: rendering, adaptors to other libraries, and the public names
    f"{ENV}.render.*": 4, f"{ENV}.envs.*": 4, ENV: 4, f"{ENV}.build.warm": 4,
    # players and their measurement: eight rooms, each of which uses those above it alone
    **{f"{AGENTS}.{room}.*": 5 + step for step, rooms in enumerate(ROOMS) for room in rooms},
    f"{AGENTS}": 8, "train.py": 11, "evaluate.py": 11,
}  # fmt: skip
"""Package (ending in ``.*``) or module -> its layer. The most specific entry applies; every module has one."""

LIBRARIES: dict[str, set[str]] = {
    "numpy": {"*"},
    "numba": {
        f"{ENV}.compiler.intrinsic_code",
        f"{ENV}.compiler.dispatcher",
        f"{ENV}.compiler.linked",
        f"{ENV}.build.lowering",
        f"{ENV}.engine.cuda.*",
        f"{AGENTS}.players.cuda.kernels",
    },
    "filelock": {f"{ENV}.core.atomic_files"},
    "msgspec": {f"{AGENTS}.*"},
    "gymnasium": {f"{ENV}.envs.*", f"{ENV}.build.warm"},
    "pettingzoo": {f"{ENV}.envs.*"},
    "pyspiel": {f"{ENV}.envs.open_spiel"},
    "ray": {f"{ENV}.envs.rllib", f"{AGENTS}.measure.distributed.cluster"},
    "stable_baselines3": {f"{ENV}.envs.sb3_vec_env", f"{AGENTS}.train.sb3", f"{AGENTS}.train.maskable_ppo"},
    "sb3_contrib": {f"{AGENTS}.train.sb3", f"{AGENTS}.train.maskable_ppo"},
    "resvg_py": {f"{ENV}.render.raster"},
    "PIL": {f"{ENV}.render.raster", f"{ENV}.render.film"},
    "pygame": {f"{ENV}.render.window"},
    "torch": {
        f"{AGENTS}.train.*",
        f"{AGENTS}.players.networks.arch.*",
        f"{AGENTS}.base.devices",
        *(f"{AGENTS}.players.networks.{name}" for name in ("fused_mlp", "modules", "policy_value", "torch_nets")),
        f"{AGENTS}.players.cuda.nets",
        f"{AGENTS}.players.foreign.sb3_model",
        f"{ENV}.envs.torchrl_env",
    },
    "torchrl": {f"{ENV}.envs.torchrl_env"},
    "tensordict": {f"{ENV}.envs.torchrl_env"},
    "pufferlib": {f"{ENV}.envs.pufferlib_env"},
    "safetensors": {f"{AGENTS}.players.networks.checkpoint"},
    "onnx": {f"{AGENTS}.players.networks.onnx_export"},
    "onnxruntime": {f"{AGENTS}.players.foreign.onnx_model"},
    "matplotlib": {
        f"{AGENTS}.measure.report.*",
        f"{AGENTS}.measure.duplicate_edge",
        f"{AGENTS}.train.curves",
        f"{AGENTS}.train.sweeps.search",
    },
    "tensorboard": {f"{AGENTS}.train.curves", f"{AGENTS}.train.run"},
    "yaml": {f"{AGENTS}.train.*"},
    "tqdm": {
        f"{AGENTS}.cli.*",
        f"{AGENTS}.measure.duplicate_edge",
    },
    "argcomplete": {f"{AGENTS}.cli.*"},
    "jinja2": {f"{AGENTS}.measure.report.page", f"{AGENTS}.measure.ladder.page"},
    "markupsafe": {f"{AGENTS}.measure.report.*"},
    "pyarrow": {f"{AGENTS}.study.files", f"{AGENTS}.study.arrays"},
    "duckdb": {f"{AGENTS}.study.queries"},
    "tornado": {f"{AGENTS}.tables.server.app"},
    "mcp": {f"{AGENTS}.language.mcp"},
    "optuna": {f"{AGENTS}.train.sweeps.search"},
    "wandb": {f"{AGENTS}.train.experiment_logs"},
    "mlflow": {f"{AGENTS}.train.experiment_logs"},
    "uvicorn": {f"{AGENTS}.language.mcp"},
    "pydantic": {f"{AGENTS}.language.mcp"},
    "openai": {f"{AGENTS}.players.chat.endpoint"},
}
"""Library -> the packages and modules that may import it."""

PARTS = {**sources()}


def in_package(name: str, package: str) -> bool:
    return (
        package == "*" or name == package or (package.endswith(".*") and (name == package[:-2] or name.startswith(package[:-1])))
    )


def layer(name: str) -> int:
    """The layer of a module, by its most specific entry; KeyError without one."""
    result = [package for package in LAYERS if in_package(name, package)]
    if not result:
        raise KeyError(f"{name} has no layer: enter it in LAYERS, in {__file__}")
    return LAYERS[max(result, key=len)]


def ours(name: str) -> bool:
    return name.split(".")[0] in (ENV, AGENTS)


def game_of(name: str) -> str | None:
    parts = name.split(".")
    return parts[2] if parts[:2] == [ENV, "games"] and len(parts) > 2 else None


def room_of(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == AGENTS and len(parts) > 1 else None


def faults(part: Source) -> list[str]:
    """The imports of a file that are not allowed, as sentences."""
    result = []
    for target in sorted(imports(part)):
        top = target.split(".")[0]
        if top in sys.stdlib_module_names:
            continue
        if not ours(target):
            if not any(in_package(part.name, package) for package in LIBRARIES.get(top, set())):
                result.append(f"{part.name} imports {target}")
        elif target not in PARTS:
            result.append(f"{part.name} imports {target}, which is not there")
        elif layer(target) > layer(part.name):
            result.append(f"{part.name} (layer {layer(part.name)}) imports {target} (layer {layer(target)})")
        elif game_of(part.name) and game_of(target) and game_of(part.name) != game_of(target):
            result.append(f"{part.name} imports {target}: games do not know each other")
        elif room_of(part.name) and room_of(target) not in (None, room_of(part.name)) and layer(target) == layer(part.name):
            result.append(f"{part.name} imports {target}: rooms of a step do not know each other")
    return result


def test_imports_go_downward() -> None:
    assert [fault for part in PARTS.values() for fault in faults(part)] == []


@pytest.mark.parametrize("name", ["openenv", "verifiers"])
def test_a_distribution_beside_its_hubs_files_imports_only_rounds_of_the_agents(name: str) -> None:
    files = [Source(path.stem, path) for path in (ROOT / "examples" / name).rglob("*.py")]
    of_agents = {target for file in files for target in imports(file) if in_package(target, f"{AGENTS}.*")}
    assert of_agents
    assert {target for target in of_agents if not in_package(target, f"{AGENTS}.language.*")} == set()


def test_every_entry_is_a_module_or_a_package() -> None:
    for package in LAYERS:
        assert any(in_package(name, package) for name in PARTS), package


def test_a_room_says_what_it_may_use() -> None:
    rooms = [room for step in ROOMS for room in step]
    assert sorted(path.name for path in (ROOT / "agents").iterdir() if (path / "__init__.py").is_file()) == sorted(rooms)
    for room in rooms:
        first, *_ = (ast.get_docstring(PARTS[f"{AGENTS}.{room}"].tree) or "").splitlines()
        assert re.search(r"It (may use|uses no other room)", first), room


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
    "steps",
    [
        {
            "import nainjaune_env": "torch matplotlib tqdm yaml tensorboard numba nainjaune_agents",
            "import nainjaune_env.render.renderer, nainjaune_env.render.film": "numba matplotlib resvg_py PIL pygame",
            "from nainjaune_env import env, parallel_env": "torch matplotlib tqdm nainjaune_agents resvg_py PIL pygame",
            "import nainjaune_env.records.recorder, nainjaune_env.records.record": "torch matplotlib tqdm nainjaune_agents",
            "from nainjaune_env import make_batch, make_setup; make_batch(make_setup(), 1, device='cpu')": (
                "torch matplotlib tqdm nainjaune_agents nainjaune_env.engine.cuda numba.cuda cuda"
            ),
            "env().reset()": "torch",
            "from nainjaune_agents.players.loading import load_agent": "torch matplotlib tqdm",
            "load_agent('zoo:strong', make_setup()), load_agent('zoo:strong', make_setup(players=3))": "torch matplotlib tqdm",
            "import nainjaune_agents.measure.cross_table, nainjaune_agents.measure.report.report": "torch matplotlib",
            "import nainjaune_agents.train.ppo": "matplotlib",
        },
        {
            "import nainjaune_agents.cli.main": (
                "torch matplotlib tqdm yaml numba pyarrow duckdb tornado nainjaune_env.records.record"
            ),
        },
    ],
    ids=["in turn", "cli"],
)
def test_what_an_import_does_not_load(steps: dict[str, str]) -> None:
    """One after the other in one process. PettingZoo is always loaded, because the games are registered with it."""
    lines = [f"{code}\nprint(*sorted(set({absent.split()!r}) & set(sys.modules)))" for code, absent in steps.items()]
    assert output_of("\n".join(["import sys", *lines])).split() == []


def output_of(code: str) -> str:
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("arguments", ["", "preset='lamps'"])
def test_rules_are_made_without_hooks(arguments: str) -> None:
    """A preset is looked up in all games: their rules are loaded, and none of their pictures, texts or statistics."""
    loaded = output_of(f"""
from nainjaune_env import make_setup; make_setup({arguments})
import sys; print(*(name for name in sys.modules if name.startswith("{ENV}")))""").split()
    assert arguments or len(loaded) <= 60
    assert [name for name in loaded if {*name.split(".")} & {"view", "language", "records", "research", "chance"}] == []


def test_the_rules_need_no_library_of_environments() -> None:
    """Where it is missing, games are not registered with it."""
    shut = "import sys; sys.modules.update(gymnasium=None, pettingzoo=None)\n"
    assert output_of(f"{shut}import nainjaune_env.core.rules; print(*nainjaune_env.game_names())").split() == [*game_names()]
    only_one = "import sys; sys.modules['pettingzoo'] = None\nimport nainjaune_env, gymnasium\n"
    assert output_of(f"{only_one}print(gymnasium.spec('SignalLamps-v0').id)") == "SignalLamps-v0"
