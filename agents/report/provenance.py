"""How to make a result again: the command, and what it was made with."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nainjaune_env.core.spec import Setup

from ..arena.tournament import Result

LIBRARIES = ("nainjaune-env", "numpy", "numba", "torch")
"""Those whose versions are told, where they are loaded."""


def command(result: Result) -> str:
    """The command that makes the result again, with all that the defaults would decide."""
    words = ["nainjaune", "evaluate", "--agents", *result.agents, *setup_words(result.setup)]
    words += ["--deals", str(result.deals), "--seed", str(result.seed)]
    if result.pots is not None:
        words += ["--pots", *map(str, result.pots)]
    if result.ratings is None and len(result.agents) > 2:
        words += ["--no-ratings"]
    return shlex.join([*words, "--out", "results"])


def setup_words(setup: Setup) -> list[str]:
    """The arguments that mean ``setup``, to any command that plays."""
    words = ["--game", setup.game.name, "--preset", setup.preset, "--players", str(setup.players)]
    for name, value in setup.knobs.items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def provenance() -> dict[str, Any]:
    """When, on what kind of machine and with what this program runs; JSON values."""
    found = commit()
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": found,
        "versions": {"python": platform.python_version(), **versions()},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
    }


def versions() -> dict[str, str]:
    """The versions of :data:`LIBRARIES`."""
    found = {}
    for library in LIBRARIES:
        if library.replace("-", "_") in sys.modules:
            try:
                found[library] = version(library)
            except PackageNotFoundError:  # run from its folder, not installed
                continue
    return found


def commit(source: Path = Path(__file__)) -> str | None:
    """The git commit that ``source`` is of, with ``, changed`` where files differ from it; None outside a checkout."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(source.resolve().parent), *words], check=True, capture_output=True, text=True, timeout=10
        )
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", source.name)  # an environment may lie in a checkout of something else
        return git("rev-parse", "HEAD") + (", changed" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None
