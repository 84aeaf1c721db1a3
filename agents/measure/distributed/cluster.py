"""Units played on a Ray cluster: any number of machines, which may leave while it works.

Ray plays a unit again elsewhere where its worker or machine was lost. Workers need this package in the same version; weights
come to them as bytes, are written to a file, and are loaded only where its SHA-256 is right. What a unit yields comes back as
JSON text.
"""

from __future__ import annotations

import json
import logging
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import MissingLibraryError, WorkError, as_sentence, quoted

from ...players.loading import weights_path
from ...players.program.settings import BotSettings
from .identity import identity, run_id, worker_player
from .processes import Report, checked, oldest, played
from .units import Player, Results, WorkPlan, WorkUnit

try:
    import ray
except ModuleNotFoundError as error:
    raise MissingLibraryError("--cluster", "ray", "ray") from error

Key = TypeVar("Key")
RETRIES = 20
"""Times that a unit is played again where its worker or machine is lost."""
CONNECT_SECONDS = 5.0
"""Time within which a cluster's address must answer; Ray itself tries for a minute."""
LOST_SECONDS = 20.0
"""Time after which a cluster that does not answer is lost; after 60 s Ray ends this process without an error."""


class Cluster:
    """Plays units on the Ray cluster at an address."""

    def __init__(self, address: str, report: Report | None = None, bots: BotSettings | None = None) -> None:
        """``address``: ``host:port`` of a cluster, or ``auto`` for the one that this machine belongs to.

        ``bots`` says how workers ask bots.
        """
        self.address = address
        self._report = report
        self._bots = bots

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields results in the order in which they are finished; see :class:`~.units.Executor`."""
        run, waiting = identity(plan, self._bots), iter(units)
        digest = run_id(run)
        paths = {name: weights_path(name, plan.setup) for name in run["weights"]}
        files = {run["weights"][name]: path.read_bytes() for name, path in paths.items() if path is not None}
        with connected(self.address):
            about = ray.put((type(plan), run, files))
            calls = Calls[WorkUnit](_play)
            slots, looked = 0, -1.0
            while True:
                if time.monotonic() - looked > 1:  # machines come and go
                    slots, looked = 2 * processors(), time.monotonic()
                while len(calls.pending) < slots and (unit := next(waiting, None)) is not None:
                    calls.submit(unit, [about], digest, unit)
                if not calls.pending:
                    return
                for unit, text in calls.finished():
                    yield unit, checked(json.loads(text))
                oldest(calls.pending.values(), f"{slots // 2} workers", self._report)


class Calls(Generic[Key]):
    """Calls of a function that the cluster is working on; it calls again where a worker or machine is lost."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._remote = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        self.pending: dict[Any, tuple[Key, float]] = {}
        """What each call is for, and when it was submitted."""

    def submit(self, key: Key, *arguments: Any, processors: int = 1) -> None:
        """Submits a call for ``key`` that takes ``processors`` of a machine."""
        self.pending[self._remote.options(num_cpus=processors).remote(*arguments)] = key, time.monotonic()

    def finished(self) -> Iterator[tuple[Key, Any]]:
        """Yields what finished calls return, within about a second.

        Raises :class:`WorkError` for one that failed, and for a cluster that no longer answers.
        """
        finished, _ = ray.wait([*self.pending], timeout=1)
        if not finished:
            await_answer()
        for done in finished:
            key, _ = self.pending.pop(done)
            yield key, _get(done)


def processors() -> int:
    """Returns the number of processors of the cluster, at least 1; raises as :func:`await_answer` does."""
    await_answer()
    return max(1, int(ray.cluster_resources().get("CPU", 0)))


def largest_machine() -> int:
    """Returns the number of processors of the largest machine of the cluster; raises as :func:`await_answer` does."""
    await_answer()
    return max(int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"])


def await_answer() -> None:
    """Returns once the cluster answers; raises :class:`WorkError` where it does not within :data:`LOST_SECONDS`.

    To be called before what asks the head of the cluster: that would wait for a minute, and then end the process.
    """
    address = ray.get_runtime_context().gcs_address
    end = time.monotonic() + LOST_SECONDS
    while True:
        try:
            _reach(address, min(CONNECT_SECONDS, LOST_SECONDS))
            return
        except OSError as error:
            if time.monotonic() >= end:
                raise WorkError(
                    f"The cluster at {address!r} has not answered for {LOST_SECONDS:.0f} s: {as_sentence(error)} What came back "
                    "from it is kept in the folder of the command, if it has one: repeat the command to go on from there "
                    "(training with --resume)."
                ) from None
            time.sleep(min(1.0, LOST_SECONDS))


def _reach(address: str, seconds: float) -> None:
    """Connects to ``host:port`` and leaves again; raises ``OSError`` where nothing answers."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), seconds).close()


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Within this context the cluster at ``address`` can be called; raises as :func:`connect` does."""
    connect(address)
    try:
        yield
    finally:
        ray.shutdown()  # which ends what is being called


def check_address(address: str) -> None:
    """Raises :class:`WorkError` where nothing answers at the ``address`` of a cluster; ``auto`` is looked for later."""
    host, _, port = address.rpartition(":")
    if address != "auto":
        if not host or not port.isdecimal():
            raise WorkError(f"A cluster's address is host:port or auto, not {quoted(address)}.")
        try:
            _reach(address, CONNECT_SECONDS)
        except (OSError, OverflowError) as error:
            raise WorkError(f"There is no cluster at {address!r}: {as_sentence(error)}") from None


def connect(address: str) -> None:
    """Connects to the cluster at ``address``; raises :class:`WorkError` if there is none, or one of another version."""
    check_address(address)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        hint = "A cluster with token authentication needs its RAY_AUTH_MODE and RAY_AUTH_TOKEN here too."
        raise WorkError(f"The cluster at {address!r} cannot be used: {as_sentence(error)} {hint}") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray puts one of its own in its place


def _get(done: Any) -> Any:
    """Returns what a finished call returned; raises :class:`WorkError` where it failed."""
    try:
        return ray.get(done)
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        raise WorkError(f"A worker of the cluster failed: {lines[-1] if lines else type(error).__name__}") from None


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

    return json.dumps(played(player, WorkUnit(*unit)))
