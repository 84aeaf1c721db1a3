"""The example of a game in another distribution: built as a wheel, found by its entry point, and played through every door."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.source import ROOT

EXAMPLE = ROOT / "examples" / "leduc_poker"


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the metadata of the wheel, which is built offline from a copy: nothing is left in the working tree."""
    folder = tmp_path_factory.mktemp("leduc")
    shutil.copytree(EXAMPLE, folder / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    build = "from setuptools.build_meta import build_wheel; build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=folder / "copy", check=True, capture_output=True)
    (wheel,) = folder.glob("leduc_poker-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as content:
        shipped = {name for name in content.namelist() if ".dist-info/" not in name}
        content.extractall(folder / "installed", [name for name in content.namelist() if name not in shipped])
    assert shipped == {path.relative_to(EXAMPLE).as_posix() for path in (EXAMPLE / "leduc_poker").iterdir() if path.is_file()}
    return folder / "installed"


@pytest.mark.slow
def test_its_own_tests_and_the_contracts_pass(distribution: Path) -> None:
    """The code is read where it lies, as in an editable installation: compiled code is kept by the times of files."""
    path = os.pathsep.join(map(str, (EXAMPLE, distribution, ROOT)))
    contracts = ["tests/games/test_contract.py", "tests/games/test_contract_knowledge.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", f"{EXAMPLE}/tests", *contracts],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path, "TEST_GAME": "leduc_poker"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_without_the_distribution_the_game_is_unknown() -> None:
    ask = "import leduc_poker; from nainjaune_env import game_names; print(*game_names())"
    done = subprocess.run([sys.executable, "-c", ask], cwd=EXAMPLE, check=True, capture_output=True, text=True)
    assert "leduc_poker" not in done.stdout.split()
