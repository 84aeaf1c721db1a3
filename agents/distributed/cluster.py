"""Units played on a Ray cluster: any number of machines, which may leave while it works.

Ray plays a unit again elsewhere where its worker or machine was lost. Workers need this package in the same version; weights
come to them as bytes, are written to a file, and are loaded only where its SHA-256 is right. What a unit yields comes back as
JSON text.
"""

from __future__ import annotations

import json
import logging
import socket
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import MissingLibraryError, WorkError, as_sentence, quoted

from .identity import identity, run_id, weights_path, worker_player
from .processes import Report, checked, oldest, played
from .units import Plan, Player, Results, Unit

try:
    import ray
except ModuleNotFoundError as error:
    raise MissingLibraryError("--cluster", "ray", "ray") from error

RETRIES = 20
"""Times that a unit is played again where its worker or machine is lost."""
CONNECT_SECONDS = 5.0
"""Time within which a cluster's address must answer; Ray itself tries for a minute."""


class Cluster:
    """Plays units on the Ray cluster at an address."""

    def __init__(self, address: str, report: Report | None = None) -> None:
        """``address``: ``host:port`` of a cluster, or ``auto`` for the one that this machine belongs to."""
        self.address = address
        self._report = report

    def results(self, plan: Plan, agents: Sequence[Agent], units: Iterable[Unit]) -> Results:
        """Yields results in the order in which they are finished; see :class:`~.units.Executor`."""
        run, waiting = identity(plan), iter(units)
        paths = {name: weights_path(name, plan.setup) for name in run["weights"]}
        files = {run["weights"][name]: path.read_bytes() for name, path in paths.items() if path is not None}
        connect(self.address)
        try:
            about = ray.put((type(plan), run, files))
            play = ray.remote(num_cpus=1, max_retries=RETRIES)(_play)
            pending: dict[Any, tuple[Unit, float]] = {}
            slots, looked = 0, -1.0
            while True:
                if time.monotonic() - looked > 1:  # machines come and go
                    slots, looked = 2 * max(1, int(ray.cluster_resources().get("CPU", 0))), time.monotonic()
                while len(pending) < slots and (unit := next(waiting, None)) is not None:
                    pending[play.remote([about], run_id(run), unit)] = unit, time.monotonic()
                if not pending:
                    return
                for done in ray.wait([*pending], timeout=1)[0]:
                    unit, _ = pending.pop(done)
                    yield unit, checked(json.loads(_get(done)))
                oldest(pending.values(), f"{slots // 2} workers", self._report)
        finally:
            ray.shutdown()  # which ends what they play


def connect(address: str) -> None:
    """Connects to the cluster at ``address``; raises :class:`WorkError` if there is none, or one of another version."""
    host, _, port = address.rpartition(":")
    if address != "auto":
        if not host or not port.isdecimal():
            raise WorkError(f"A cluster's address is host:port or auto, not {quoted(address)}.")
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise WorkError(f"There is no cluster at {address!r}: {as_sentence(error)}") from None
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise WorkError(f"There is no cluster to play on at {address!r}: {as_sentence(error)}") from None


def _get(done: Any) -> str:
    """Returns the text of a finished task; raises :class:`WorkError` where it failed."""
    try:
        found: str = ray.get(done)
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        raise WorkError(f"A worker of the cluster failed: {lines[-1] if lines else type(error).__name__}") from None
    return found


_PLAYERS: dict[str, Player] = {}
"""In a worker: the player of the last run, by the SHA-256 of the run."""


def _play(about: list[Any], digest: str, unit: tuple[int, int, int]) -> str:
    """Plays ``unit`` in a worker; ``about`` holds the reference of the run, which only the first unit needs."""

    def player() -> Player:
        if digest not in _PLAYERS:
            kind, run, contents = ray.get(about[0])
            _PLAYERS.clear()
            with tempfile.TemporaryDirectory() as folder:
                files = {sha256: Path(folder) / f"{sha256}.safetensors" for sha256 in contents}
                for sha256, path in files.items():
                    path.write_bytes(contents[sha256])
                _PLAYERS[digest] = worker_player(kind, run, files)
        return _PLAYERS[digest]

    return json.dumps(played(player, Unit(*unit)))
