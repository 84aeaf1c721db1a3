"""What makes two runs the same: the plan, the version of the package with its sources, and the weights of its agents.

Results are equal to the last byte only where all of these are. So each worker compares them with its own before it plays, and
files of results carry them.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nainjaune_env
from nainjaune_env.agent import Agent
from nainjaune_env.core import atomic_files
from nainjaune_env.core.errors import WorkError, quoted
from nainjaune_env.core.spec import Setup

from ..bots.counting import counted
from ..loading import TRANSFERRED, base_name, checkpoint_path, load_agent, use_threads
from ..zoo import is_zoo_name
from .plan_fields import read_plan
from .units import Player, WorkPlan

PACKAGES = (Path(nainjaune_env.__file__).parent, Path(__file__).parents[1])
"""The folders of our packages."""
CHECKPOINT = "checkpoint.safetensors"
"""The file of a run's folder that plays (``nets.checkpoint.FILE_NAME``, whose module imports safetensors)."""


def package_version() -> str:
    """Returns the version of the package, with the first digits of the SHA-256 of its sources: a checkout keeps its version."""
    try:
        number = version("nainjaune-env")
    except PackageNotFoundError:  # run from its folder, not installed
        number = "0.0.0"
    return f"{number} (sources {_sources()})"


@functools.cache
def _sources() -> str:
    digest = hashlib.sha256()
    for folder in PACKAGES:
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{path.relative_to(folder).as_posix()}\n{atomic_files.digest(path)}\n".encode())
    return digest.hexdigest()[:12]


def weights_path(name: str, setup: Setup) -> Path | None:
    """Returns the file with the weights of the agent called ``name`` at tables with ``setup``; None if it has none."""
    path = checkpoint_path(name, setup)
    return path / CHECKPOINT if path is not None and path.is_dir() else path


def identity(plan: WorkPlan) -> dict[str, Any]:
    """Returns what makes a run of ``plan`` the same as another, as JSON values."""
    weights = {}
    for name in plan.agents:
        path = weights_path(name, plan.setup)
        if path is not None:
            weights[name] = atomic_files.digest(path)
    run = {"kind": plan.KIND, "package": package_version(), "weights": weights, "plan": plan.to_dict()}
    same: dict[str, Any] = json.loads(json.dumps(run))  # tuples are lists in a file
    return same


def run_id(run: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of an :func:`identity`."""
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()


def check_same(where: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Raises :class:`WorkError`, naming the first difference, unless the run ``there`` is the run ``here``."""
    if there.get("package") != here["package"]:
        version = quoted(there.get("package"))
        raise WorkError(f"{where} was made with version {version} of the package, and this is {here['package']!r}.")
    for name in {**there["weights"], **here["weights"]}:
        one, other = there["weights"].get(name), here["weights"].get(name)
        if one != other:
            raise WorkError(
                f"{where} was made with other weights of {quoted(name)}: SHA-256 {quoted(one)}, and here it is {quoted(other)}."
            )
    if there["kind"] != here["kind"]:
        raise WorkError(f"{where} belongs to another run: its kind is {quoted(there['kind'])}, not {here['kind']!r}.")
    for key in here["plan"]:
        one, other = there["plan"].get(key), here["plan"][key]
        if one != other:
            raise WorkError(f"{where} belongs to another run: its {key.replace('_', ' ')} is {quoted(one)}, not {quoted(other)}.")
    if dict(there) != dict(here):
        raise WorkError(f"{where} belongs to another run.")


def worker_player(kind: type[WorkPlan], run: Mapping[str, Any], files: Mapping[str, Path] | None = None) -> Player:
    """Returns the function that plays the units of ``run``, an :func:`identity`, in a worker.

    ``files`` are the files of weights by their SHA-256 (None: where this machine has them by the agents' names). Raises
    :class:`WorkError` for another version of the package, or other weights.
    """
    here = package_version()
    if run["package"] != here:
        raise WorkError(f"A worker has version {here} of the package, and the run is of {run['package']}: install the same.")
    plan = read_plan(kind, run["plan"], "A worker")
    agents = [_agent(name, plan.setup, run["weights"].get(name), files) for name in plan.agents]
    use_threads(1)
    return counted(plan.player(agents), agents)


def _agent(name: str, setup: Setup, sha256: str | None, files: Mapping[str, Path] | None) -> Agent:
    """Returns the agent called ``name``, of weights with the digest ``sha256``."""
    if sha256 is None:
        return load_agent(name, setup)
    path = weights_path(name, setup) if files is None else files[sha256]
    digest = None if path is None or not path.exists() else atomic_files.digest(path)
    if digest != sha256:
        raise WorkError(f"A worker has other weights of {quoted(name)}: SHA-256 {digest}, and the run is of {sha256}.")
    if files is None:
        return load_agent(name, setup)
    return load_agent(f"{path}{TRANSFERRED if is_zoo_name(name) else ''}{name.removeprefix(base_name(name))}", setup)
