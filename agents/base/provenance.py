"""What a result was made with: commit, versions and machine, and the arguments of a setup."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nainjaune_env.core.spec import Setup

LIBRARIES = ("nainjaune-env", "numpy", "numba", "torch")
"""Libraries whose versions are recorded if they are loaded."""


def setup_words(setup: Setup) -> list[str]:
    """Returns the command-line arguments that mean ``setup``."""
    arguments = ["--game", setup.game.name, "--preset", setup.preset, "--players", str(setup.players)]
    for name, value in setup.knobs.items():
        arguments += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return arguments


def provenance() -> dict[str, Any]:
    """Returns time, commit, versions and machine as JSON values."""
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": {"python": platform.python_version(), **versions()},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
    }


def versions() -> dict[str, str]:
    """Returns the versions of the loaded :data:`LIBRARIES`."""
    numbers = {}
    for library in LIBRARIES:
        if library.replace("-", "_") in sys.modules:
            try:
                numbers[library] = version(library)
            except PackageNotFoundError:  # run from its folder, not installed
                continue
    return numbers


def commit(source: Path = Path(__file__)) -> str | None:
    """Returns the git commit of the checkout of ``source``, 12 digits, with ``+`` if tracked files differ; None outside one."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(source.resolve().parent), *arguments]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", timeout=10).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", source.name)  # an environment may be inside a checkout of another project
        return git("describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None
