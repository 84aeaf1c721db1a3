"""A run that another process of the same machine or cluster oversees, such as a run of a sweep."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from nainjaune_env.core import errors
from nainjaune_env.core.errors import NainJauneError

from .run import Progress, Run

POLL_SECONDS = 0.2
"""Between two looks at whether a stop was requested."""
Send = Callable[[tuple[Any, ...]], None]


class WorkerRun(Run):
    """The run as a worker has it: the overseer holds the lock, and tells it to stop in place of a signal."""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        yield


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
