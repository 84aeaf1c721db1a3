"""What `make setup` says and chooses before it installs anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs make for an environment in ``folder``, where programs are looked for first."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "TORCH_INDEX")
    }
    environment = {**inherited, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = ["make", f"VENV={folder / 'venv'}", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the usual index has torch without CUDA")
@pytest.mark.parametrize("status", [0, 9])
def test_torch_is_the_cpu_s_unless_an_nvidia_gpu_is_seen(status: int, tmp_path: Path) -> None:
    program(tmp_path / "nvidia-smi", f"exit {status}")
    said = make(tmp_path, "--dry-run", "train").stdout
    assert ('--index-url "https://download.pytorch.org/whl/cpu" torch' in said) == (status != 0)
    assert said.index("GB") < said.index("-m venv")


def test_an_old_python_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    old = program(
        tmp_path / "old", f'exec {sys.executable} -c "import sys; sys.version_info = (3, 10, 4); exec(sys.argv[1])" "$2"'
    )
    result = make(tmp_path, f"PYTHON={old}", "train")
    assert result.returncode != 0
    assert "Python 3.11 or newer is needed; " in result.stderr
    assert not (tmp_path / "venv").exists()
