"""Runs one program on Linux and ends all that it has started: ``python -I -S reaper.py HOST PROGRAM ARGUMENTS...``.

A script for a process between the host, whose process number is ``HOST``, and the program. It is the *subreaper* of the program:
a process whose parent has ended becomes its child, even one that has left the session by setsid. So it reaches them all: when the
program has ended, when the host sends SIGTERM, and when the host has ended. Its exit status is that of the program, or 128 and
the number of the signal that ended it, as in a shell.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SIGNALS = (signal.SIGCHLD, signal.SIGTERM)
POLL_SECONDS = 0.5
"""Time between looks whether the host is still there."""
GIVE_UP = 5.0
"""Seconds after which processes that cannot be ended, such as those that wait for a disk, are left."""


def start(command: list[str]) -> int:
    """Starts ``command`` in a session of its own and returns its process number; 127 is its status if it cannot be started."""
    child = os.fork()
    if child == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]} cannot be started: {os.strerror(error.errno or 0)}.\n".encode())
        finally:
            os._exit(127)
    return child


def children() -> list[int]:
    """Returns the process numbers of this process's children, also of those that have ended and were not waited for."""
    numbers: list[int] = []
    # a list that may miss some and that some kernels lack, but quick: who starts one process after the other is caught by it
    with contextlib.suppress(OSError):
        numbers += map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_bytes().split())
    if numbers:
        return numbers
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(path.read_bytes().rpartition(b")")[2].split()[1]) == os.getpid():
                numbers.append(int(path.parent.name))
    return numbers


def main(host: int, command: list[str]) -> int:
    """Runs ``command`` until it or the host ends, or SIGTERM comes; ends its processes and returns its status."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child, status = start(command), None
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # the pipes are the program's alone: what it closes is closed
        os.dup2(nothing, stream)
    while status is None and os.getppid() == host:
        news = signal.sigtimedwait(SIGNALS, POLL_SECONDS)
        if news is not None and news.si_signo == signal.SIGTERM:
            break
        while status is None and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            status = os.waitstatus_to_exitcode(ended[1]) if ended[0] == child else None
    since = time.monotonic()
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    while (left := children()) and time.monotonic() - since < GIVE_UP:  # what a killed child has started is then a child, too
        for number in left:
            with contextlib.suppress(OSError):  # one of another user
                os.kill(number, signal.SIGKILL)  # its number is not given to another one before it is waited for
            os.waitpid(number, os.WNOHANG)
        time.sleep(0.001)
    return 128 - status if status is not None and status < 0 else status or 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
