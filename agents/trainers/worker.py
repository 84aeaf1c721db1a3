"""One of several processes that train together: started by ``supervisor`` on this machine, or by torchrun on one or many.

The first process has the run's folder. All others receive its checkpoint over gloo, so that they need no folder, and take the
same steps.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from torch.distributed import is_torchelastic_launched
from torch.distributed.rendezvous import rendezvous

from nainjaune_env.core import errors
from nainjaune_env.core.errors import ConfigError, NainJauneError

from ..nets.checkpoint import FILE_NAME, Checkpoint, load_checkpoint
from . import get_trainer
from .config import PLACEMENT_KEYS
from .run import PACKAGES, Progress, Run
from .shards import GlooGroup, Group

BEAT_SECONDS = 2.0
Send = Callable[[tuple[Any, ...]], None]


class Order(NamedTuple):
    """What the supervisor tells a worker at its start."""

    config: Any
    folder: Path
    meeting: Path
    """A new file where the workers of one attempt find each other."""
    rank: int
    size: int


class WorkerRun(Run):
    """The run as a worker has it: the supervisor holds the lock, and tells it to stop in place of a signal."""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        yield


def work(order: Order, pipe: Connection) -> None:
    """Trains as one of the supervisor's workers, and reports to it; the main function of its process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the supervisor receives them too
    run, sending = WorkerRun(order.folder), threading.Lock()

    def send(message: tuple[Any, ...]) -> None:
        with sending:
            pipe.send(message)

    for target, arguments in ((listen, (pipe, run)), (beat, (send,))):
        threading.Thread(target=target, args=arguments, daemon=True).start()

    def train(progress: Progress) -> bool:
        group = GlooGroup.on_this_machine(order.meeting, order.rank, order.size)
        return train_together(order.config, run, progress, group)

    report(send, train)


def beat(send: Send) -> None:
    """Sends ``("alive",)`` every ``BEAT_SECONDS`` seconds: a process that is stopped, or whose machine hangs, does not."""
    with suppress(OSError):  # the other end is closed, on which :func:`listen` ends this process
        while True:
            send(("alive",))
            time.sleep(BEAT_SECONDS)


def report(send: Send, train: Callable[[Progress], bool]) -> None:
    """Calls ``train`` and sends what comes of it.

    ``("progress", completed, metrics)`` after each iteration, and at the end ``("done", finished)``, ``("refused", class,
    sentence)`` for an error that another attempt would meet again, or ``("failed", traceback)``.
    """
    try:
        send(("done", train(lambda completed, metrics: send(("progress", completed, metrics)))))
    except NainJauneError as error:
        send(("refused", type(error).__name__, str(error)))
    except Exception:
        send(("failed", traceback.format_exc()))


def error_of(name: str, sentence: str) -> NainJauneError:
    """Returns the error that :func:`report` sent, of its class ``name`` where that takes one sentence."""
    kind = getattr(errors, name, NainJauneError)
    return NainJauneError(sentence) if issubclass(kind, errors.MissingLibraryError) else kind(sentence)


def listen(pipe: Connection, run: Run) -> None:
    """Stops the run when something comes through ``pipe``, and ends this process at once when its other end is closed."""
    try:
        while True:
            pipe.recv()
            run.stop_requested = True
    except (EOFError, OSError):
        os._exit(1)


def train_together(config: Any, run: Run, progress: Progress, group: Group) -> bool:
    """Trains as one of the processes of ``group``, from the checkpoint that the first of them has in the folder of ``run``."""
    finished = bool(get_trainer(config.algorithm).train(config, run, _checkpoint_of_first(run, group), progress, group))
    group.barrier()  # a process that leaves early would break the connections of the others
    return finished


def _checkpoint_of_first(run: Run, group: Group) -> Checkpoint | None:
    path = run.checkpoint_path
    data = group.from_first(path.read_bytes() if group.rank == 0 and path.exists() else b"")
    if not data:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / FILE_NAME
        copy.write_bytes(data)
        return load_checkpoint(copy)


# ---- torchrun ------------------------------------------------------------------------------------------------------------


def under_torchrun() -> bool:
    """Returns whether torchrun has started this process."""
    return bool(is_torchelastic_launched())


def is_first() -> bool:
    """Returns whether this is the first of the processes that torchrun has started."""
    return os.environ["RANK"] == "0"


def train_under_torchrun(config: Any, folder: Path, packages: Any, *, resume: bool, progress: Progress) -> bool:
    """Trains as one of the processes that torchrun has started; the first of them has the ``folder`` of the run.

    Raises :class:`ConfigError` for an algorithm that has no shards, more processes than shards, and another configuration or
    other versions than those of the first process.
    """
    if not hasattr(config, "workers"):
        raise ConfigError(f"Training by {config.algorithm!r} takes one process: start it without torchrun.")
    config = replace(config, workers=int(os.environ["WORLD_SIZE"]))
    with Run(folder, packages) as run:
        if is_first():
            run.create(config, resume=resume)
        store, rank, size = next(rendezvous("env://"))
        group = GlooGroup(store, rank, size)
        _check_alike(group, config)
        return train_together(config, run, progress, group)


def _check_alike(group: Group, config: Any) -> None:
    own = {key: value for key, value in asdict(config).items() if key not in PLACEMENT_KEYS}
    own |= {f"version of {name}": version(name) for name in PACKAGES}
    first = json.loads(group.from_first(json.dumps(own).encode()))
    others = sorted(key for key in own.keys() | first.keys() if own.get(key) != first.get(key))
    if group.any(bool(others)):
        what = f"differ from it in {', '.join(others)} here" if others else "differ from it"
        raise ConfigError(f"All processes train under the configuration and the versions of the first, and some {what}.")
