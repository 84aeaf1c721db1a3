"""What is shipped: every package and data file, and nothing under a name that is not ours."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.source import PACKAGES, ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOT_REQUIRED = (
    "torch", "safetensors", "tensorboard", "matplotlib", "jinja2", "markupsafe", "stable_baselines3", "sb3_contrib", "pyspiel",
    "torchrl", "resvg_py", "PIL", "pygame", "pyarrow", "duckdb", "tornado", "ray",
    "wandb", "mlflow", "optuna", "onnx", "onnxruntime",
)  # fmt: skip
"""Libraries of the extras."""


ON_REQUEST = {"NAINJAUNE_SOURCE_WHEEL": "1"}
"""With which a wheel without compiled loops is made, as ``make dist`` does."""


def shipped_files() -> set[str]:
    """Every file in our packages, by the name it has when installed."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in PACKAGES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


def test_every_data_file_is_named_as_package_data() -> None:
    """So that an installed package has it; the tests that make a wheel are long."""
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    named = {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in PACKAGES.items()
        for pattern in patterns[name]
        for path in folder.glob(pattern)
    }
    assert {file for file in shipped_files() if not file.endswith(".py")} - named == set()


def test_no_module_lies_outside_a_package() -> None:
    folders = {Path(name).parent.as_posix() for name in shipped_files() if name.endswith(".py")}
    for folder in folders:
        assert f"{folder}/__init__.py" in shipped_files()


def git(folder: Path, *words: str) -> str:
    settings = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    done = subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel of a checkout with the tag v1.2.3, as `make dist` builds them, but offline.

    The checkout is a copy of the files that git has or would add, so that nothing is left in the working tree.
    """
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("out")
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    git(copy, "init", "--quiet")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "x")
    git(copy, "tag", "v1.2.3")
    command = [sys.executable, "-m", "build", "--sdist", "--wheel", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | ON_REQUEST)
    assert done.returncode == 0, done.stdout + done.stderr
    (source,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def unpacked(distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(distributions[1]).extractall(folder)
    return folder


@pytest.mark.slow
def test_a_wheel_without_compiled_loops_is_refused_but_where_it_is_wanted(tmp_path: Path) -> None:
    """A source distribution and an editable installation need none; a wheel that is wanted requires numba on every machine."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("nainjaune_env", "agents"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()

    def built(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "out", *words, "."]
        environment = {name: value for name, value in os.environ.items() if name != "PIP_BUILD_TRACKER"}
        return subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, env=environment | variables)

    refused = built("--wheel")
    assert refused.returncode != 0
    (sentence,) = re.findall(r"^This wheel would have no compiled loops: .*\.$", refused.stdout + refused.stderr, re.MULTILINE)
    assert "`make wheels` makes one with them" in sentence
    assert "Traceback" not in refused.stdout + refused.stderr
    assert built("--sdist").returncode == 0
    for variables in (ON_REQUEST, {"PIP_BUILD_TRACKER": str(tmp_path)}):
        done = built("--wheel", **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        (wheel,) = (tmp_path / "out").glob("*.whl")
        (about,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/METADATA")]
        assert "Requires-Dist: numba>=0.60\n" in zipfile.ZipFile(wheel).read(about).decode()
        wheel.unlink()
    hook = "from setuptools import build_meta; build_meta.build_editable('.')"
    subprocess.run([sys.executable, "-W", "ignore", "-c", hook], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.long
def test_an_index_would_accept_both(distributions: tuple[Path, Path]) -> None:
    """The registry's networks fill the wheel; the source distribution is without them, notebooks and pictures."""
    source, wheel = distributions
    assert (source.name, wheel.name) == ("nainjaune_env-1.2.3.tar.gz", "nainjaune_env-1.2.3-py3-none-any.whl")
    assert wheel.stat().st_size < 10.5e6
    assert source.stat().st_size < 3e6
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, distributions)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2
    with tarfile.open(source) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {
        "pyproject.toml", "setup.py", "constraints.txt", "Makefile", "CHANGELOG.md", "tests/conftest.py", "docs/generate.py",
        "configs/nain_jaune/ppo.yaml", "notebooks/regenerate.py", "agents/players/zoo/strong/nain_jaune.json",
    } <= names  # fmt: skip
    left_out = {name for name in names if name.endswith((".safetensors", ".onnx", ".ipynb", ".png", ".webp"))}
    assert not left_out


@pytest.mark.long
def test_a_source_distribution_builds_the_wheel_without_networks(distributions: tuple[Path, Path], tmp_path: Path) -> None:
    source, wheel = distributions
    with tarfile.open(source) as files:
        files.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    command.append(str(tmp_path / source.name.removesuffix(".tar.gz")))
    done = subprocess.run(command, check=False, capture_output=True, env=os.environ | ON_REQUEST)
    assert done.returncode == 0, done.stdout + done.stderr
    names, from_source = (set(zipfile.ZipFile(path).namelist()) for path in (wheel, tmp_path / wheel.name))
    assert from_source == {name for name in names if not name.endswith(".safetensors")}


@pytest.mark.slow
def test_versions_between_tags_and_without_any(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)

    def version_here() -> str:
        done = subprocess.run([sys.executable, "-m", "setuptools_scm"], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    assert version_here() == "0.0.0"
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "x")
    assert version_here() == "0.1.0.dev1"
    git(tmp_path, "tag", "v0.1.0")
    assert version_here() == "0.1.0"
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "y")
    assert version_here() == "0.2.0.dev1"


@pytest.mark.long
def test_the_wheel_has_every_file_and_no_other(distributions: tuple[Path, Path]) -> None:
    wheel = zipfile.ZipFile(distributions[1])
    names = set(wheel.namelist())
    meta = "nainjaune_env-1.2.3.dist-info/"
    assert {name for name in names if not name.startswith(meta)} == shipped_files()
    assert {name.split("/")[0] for name in names} == {"nainjaune_env", "nainjaune_agents", meta.rstrip("/")}
    assert f"{meta}licenses/LICENSE" in names
    assert "nainjaune_env/py.typed" in names
    assert "nainjaune = nainjaune_agents.cli.main:main" in wheel.read(f"{meta}entry_points.txt").decode()


@pytest.mark.long
def test_the_wheel_works_unpacked(unpacked: Path, tmp_path: Path) -> None:
    """Away from the working tree, without the editable installation's help."""
    code = (
        "import sys, nainjaune_env, nainjaune_agents.cli.main as c; "
        f"assert nainjaune_env.__file__.startswith({str(unpacked)!r}), nainjaune_env.__file__; "
        f"assert c.__file__.startswith({str(unpacked)!r}), c.__file__; "
        "sys.exit(c.main(['agents', '--game', 'nain_jaune']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "random" in done.stdout


@pytest.mark.scripts
@pytest.mark.parametrize("source", ["as installed here", pytest.param("from the wheel", marks=pytest.mark.long)])
def test_the_quick_start_runs_alone(source: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """In an empty folder, without the libraries of any extra but that of Jupyter. The wheel's code has to be compiled first."""
    paths = [request.getfixturevalue("unpacked")] if source == "from the wheel" else []
    for name in ("00_quick_start.ipynb", "regenerate.py"):
        shutil.copy(ROOT / "notebooks" / name, tmp_path)
    blocked, without_jupyters = tmp_path / "blocked", [name for name in NOT_REQUIRED if name != "tornado"]
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({without_jupyters!r}))\n", encoding="utf-8"
    )
    before = json.loads((tmp_path / "00_quick_start.ipynb").read_text(encoding="utf-8"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (blocked, *paths)))}
    done = subprocess.run(
        [sys.executable, "regenerate.py"], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "00_quick_start.ipynb").read_text(encoding="utf-8")) == before


def test_every_library_imported_is_asked_for() -> None:
    """Under its name on PyPI; `test_layers` lists the libraries that are imported."""
    from tests.project.test_layers import LIBRARIES

    extras = PROJECT["project"]["optional-dependencies"]
    entries = [*PROJECT["project"]["dependencies"], *itertools.chain.from_iterable(extras.values())]
    asked = {entry.split(">")[0].lower() for entry in entries}
    names = {
        "yaml": "pyyaml", "PIL": "pillow", "resvg_py": "resvg-py", "pygame": "pygame-ce", "pyspiel": "open_spiel",
        "stable_baselines3": "stable-baselines3", "sb3_contrib": "sb3-contrib", "ray": "ray[rllib]", "mlflow": "mlflow-skinny",
    }  # fmt: skip
    # PufferLib's pins contradict our requirements: its extra has what it imports, and `make pufferlib` installs it after that
    assert {names.get(library, library) for library in LIBRARIES if library != "pufferlib"} <= asked


@pytest.mark.parametrize("script", ["train.py", "evaluate.py"])
def test_a_script_without_the_package_says_how_to_install_it(script: str) -> None:
    result = subprocess.run([sys.executable, "-E", "-S", script], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 1
    assert result.stderr.startswith(f"nainjaune-env is not installed for {sys.executable}: `make setup` installs it")
    assert result.stderr.count("\n") == 1
