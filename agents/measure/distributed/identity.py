"""What makes two runs the same: the plan, the version of the package with its sources, the weights of its agents, the files of
players from elsewhere, and, where faults of bots are forfeits, what is a fault.

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
from nainjaune_env.core.errors import AgentError, WorkError, quoted
from nainjaune_env.core.spec import Setup

from ...base.devices import set_torch_threads
from ...players.chat.settings import what_counts
from ...players.foreign import is_bot
from ...players.loading import TRANSFERRED, base_name, external_files, load_agent, players_in, weights_path
from ...players.program.counting import counted
from ...players.program.settings import STOP, BotSettings
from ...players.zoo import is_zoo_name
from .plan_fields import read_plan
from .units import Player, WorkPlan

PACKAGES = (Path(nainjaune_env.__file__).parent, Path(__file__).parents[2])
"""The folders of our packages."""
SOURCES = (".py", ".toml")
"""The endings of sources: code, and the texts that language models read."""


@functools.cache
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
        for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES):
            digest.update(f"{path.relative_to(folder).as_posix()}\n{atomic_files.digest(path)}\n".encode())
    return digest.hexdigest()[:12]


def identity(plan: WorkPlan, bots: BotSettings | None = None) -> dict[str, Any]:
    """Returns what makes a run of ``plan`` the same as another, as JSON values.

    It has the key ``files`` only with players from elsewhere, and ``bots``, the settings (None: the usual ones), only with bots.
    """
    weights = {}
    for name in _players(plan):
        path = weights_path(name, plan.setup)
        if path is not None:
            weights[name] = atomic_files.digest(path)
    run: dict[str, Any] = {"kind": plan.KIND, "package": package_version(), "weights": weights, "plan": plan.to_dict()}
    if files := external_files(*plan.agents):
        run["files"] = files
    if any(map(is_bot, plan.agents)):
        run["bots"] = (bots or BotSettings()).to_dict()
    same: dict[str, Any] = json.loads(json.dumps(run))  # tuples are lists in a file
    return same


def _players(plan: WorkPlan) -> list[str]:
    """Returns the names of all agents that those of ``plan`` are made of, each once."""
    return [*dict.fromkeys(one for name in plan.agents for one in players_in(name, plan.setup))]


def run_id(run: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of an :func:`identity`; where a fault of a bot ends the run, without the clocks of bots."""
    return hashlib.sha256(json.dumps(_what_counts(run), sort_keys=True).encode()).hexdigest()


def _what_counts(run: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``run`` with only those settings of bots that results depend on; where a fault ends it, none but of their texts."""
    if "bots" not in run:
        return dict(run)
    bots = {} if run["bots"].get("on_fault") == STOP else {**run["bots"]}
    if "chat" in run["bots"]:
        bots["chat"] = what_counts(run["bots"]["chat"])
    return {**{key: value for key, value in run.items() if key != "bots"}, **({"bots": bots} if bots else {})}


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
    for name in {**there.get("files", {}), **here.get("files", {})}:
        if there.get("files", {}).get(name) != here.get("files", {}).get(name):
            raise WorkError(f"{where} was made with other files of {quoted(name)}: start again in another folder.")
    if there["kind"] != here["kind"]:
        raise WorkError(f"{where} belongs to another run: its kind is {quoted(there['kind'])}, not {here['kind']!r}.")
    for key in here["plan"]:
        one, other = there["plan"].get(key), here["plan"][key]
        if one != other:
            raise WorkError(f"{where} belongs to another run: its {key.replace('_', ' ')} is {quoted(one)}, not {quoted(other)}.")
    one, other = _what_counts(there), _what_counts(here)
    if one.get("bots") != other.get("bots"):
        raise WorkError(
            f"{where} was made with the settings of bots {quoted(there.get('bots'))}, not {quoted(here.get('bots'))}."
        )
    if one != other:
        raise WorkError(f"{where} belongs to another run.")


def worker_player(kind: type[WorkPlan], run: Mapping[str, Any], files: Mapping[str, Path] | None = None) -> Player:
    """Returns the function that plays the units of ``run``, an :func:`identity`, in a worker.

    ``files`` are the files of weights by their SHA-256 (None: where this machine has them by the agents' names). Those of players
    from elsewhere must be on this machine. Raises :class:`WorkError` for another version of the package, other weights, or other
    files of such a player.
    """
    here = package_version()
    if run["package"] != here:
        raise WorkError(f"A worker has version {here} of the package, and the run is of {run['package']}: install the same.")
    plan = read_plan(kind, run["plan"], "A worker")
    bots = BotSettings.from_dict(run["bots"]) if "bots" in run else None
    check_files(run.get("files", {}))
    for name in _players(plan):
        if name not in plan.agents:  # a member of a mixed field or an agent of rollouts, which is loaded by its name
            _agent(name, plan.setup, run["weights"].get(name), None, bots)
    agents = [_agent(name, plan.setup, run["weights"].get(name), files, bots) for name in plan.agents]
    set_torch_threads(1)
    return counted(plan.player(agents), agents)


def check_files(players: Mapping[str, list[str]]) -> None:
    """Raises :class:`WorkError` where a player from elsewhere has other files on this machine than ``external_files`` said."""
    for name, digests in players.items():
        try:
            here = external_files(name)[name]
        except AgentError as error:
            raise WorkError(f"A worker has no such player: {error} Its files must be at the same path on each machine.") from None
        if here != digests:
            raise WorkError(
                f"A worker has other files of {quoted(name)} than the run: its program and the files that it names must be the "
                "same on each machine, and stay so while it plays (a log is not named, or in a folder that is)."
            )


def _agent(name: str, setup: Setup, sha256: str | None, files: Mapping[str, Path] | None, bots: BotSettings | None) -> Agent:
    """Returns the agent called ``name``, of weights with the digest ``sha256``."""
    if sha256 is None:
        return load_agent(name, setup, bots=bots)
    path = weights_path(name, setup) if files is None else files[sha256]
    digest = None if path is None or not path.exists() else atomic_files.digest(path)
    if digest != sha256:
        raise WorkError(f"A worker has other weights of {quoted(name)}: SHA-256 {digest}, and the run is of {sha256}.")
    if files is None:
        return load_agent(name, setup, bots=bots)
    return load_agent(f"{path}{TRANSFERRED if is_zoo_name(name) else ''}{name.removeprefix(base_name(name))}", setup, bots=bots)
