"""Ctrl-C, pressed once or several times: one ``KeyboardInterrupt``."""

from __future__ import annotations

import atexit
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

AGAIN = 3.0
"""Seconds in which a further Ctrl-C is part of the one that counted."""


def interrupt_once() -> Callable[[], object]:
    """Makes several Ctrl-C in succession one ``KeyboardInterrupt``, so that none disturbs the end of what runs.

    Returns a function that ends this. A handler of somebody else stays.
    """
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return lambda: None
    last = -AGAIN

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= AGAIN:
            last = now
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    return partial(signal.signal, signal.SIGINT, signal.default_int_handler)


def ignore_at_exit() -> None:
    """Ignores Ctrl-C while Python ends."""
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
