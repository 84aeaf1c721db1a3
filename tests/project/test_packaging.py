"""What is shipped: every package and data file, and nothing under a name that is not ours."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.registry import game_names
from tests.support.source import PACKAGES, ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


def shipped_files() -> set[str]:
    """Every file in our packages, by the name it has when installed."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


def test_no_module_lies_outside_a_package() -> None:
    folders = {Path(name).parent.as_posix() for name in shipped_files() if name.endswith(".py")}
    for folder in folders:
        assert f"{folder}/__init__.py" in shipped_files()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built offline from a copy, so that nothing is left in the working tree."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("out")
    for name in ("nainjaune_env", "agents"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "tests").mkdir()
    (copy / "tests" / "__init__.py").touch()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    done = subprocess.run([sys.executable, "-c", BUILD, out], cwd=copy, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_has_every_file_and_no_other(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    meta = f"nainjaune_env-{PROJECT['project']['version']}.dist-info/"
    assert {name for name in names if not name.startswith(meta)} == shipped_files()
    assert {name.split("/")[0] for name in names} == {"nainjaune_env", "nainjaune_agents", meta.rstrip("/")}
    assert f"{meta}licenses/LICENSE" in names
    assert "nainjaune_env/py.typed" in names
    for game in game_names():
        assert f"nainjaune_env/games/{game}/RULES.md" in names


def test_the_wheel_has_the_command(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "nainjaune = nainjaune_agents.cli.main:main" in wheel.read(name).decode()


def test_the_wheel_works_unpacked(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Away from the working tree, without the editable installation's help."""
    wheel.extractall(tmp_path)
    code = (
        "import sys, nainjaune_env, nainjaune_agents.cli.main as c; "
        f"assert nainjaune_env.__file__.startswith({str(tmp_path)!r}), nainjaune_env.__file__; "
        f"assert c.__file__.startswith({str(tmp_path)!r}), c.__file__; "
        "sys.exit(c.main(['evaluate', '--list']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "random" in done.stdout


def test_the_version_installed_is_the_one_written() -> None:
    assert version("nainjaune-env") == PROJECT["project"]["version"]


def test_every_library_imported_is_asked_for() -> None:
    """Under its name on PyPI; `test_layers` lists the libraries that are imported."""
    from tests.project.test_layers import LIBRARIES

    extras = PROJECT["project"]["optional-dependencies"]
    entries = [*PROJECT["project"]["dependencies"], *itertools.chain.from_iterable(extras.values())]
    asked = {entry.split(">")[0].lower() for entry in entries}
    names = {
        "yaml": "pyyaml", "PIL": "pillow", "resvg_py": "resvg-py", "pyspiel": "open_spiel",
        "stable_baselines3": "stable-baselines3", "sb3_contrib": "sb3-contrib", "ray": "ray[rllib]",
    }  # fmt: skip
    assert {names.get(library, library) for library in LIBRARIES} <= asked
