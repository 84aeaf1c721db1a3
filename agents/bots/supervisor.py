"""Runs one program, and ends all its processes: when it has ended, when the host says so, and when the host is no more.

A script for a process between the host and the program: ``python -I -S supervisor.py SOCKET HOST PROGRAM ARGUMENTS...``.
Its standard streams are the program's pipes, which it leaves to the program. ``SOCKET`` is the number of a socket to the host,
``HOST`` the number of the host's process. It imports only the standard library, since it starts with every bot.

On Linux it is the *subreaper* of the program: a process that the program started, and whose parent has ended, becomes a child of
the supervisor, even if it has left the session. So it finds them all. Elsewhere it ends the program's process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path

QUIT, KILL = b"q", b"k"
"""What the host says: the program may end by itself, or is ended at once. The end of the socket is ``QUIT``."""
GRACE = 1.0
"""Seconds in which the program may end by itself."""
LOOK_EVERY = 0.5
"""Seconds between looks whether the host is still there; usually the end of the socket tells it at once."""
GIVE_UP = 5.0
"""Seconds after which processes that cannot be ended, such as those that wait for a disk, are left."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option: int, value: int) -> None:
    """Sets an attribute of this process on Linux; does nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def start(command: list[str]) -> tuple[int, int]:
    """Starts ``command`` in its own session; returns its process, and the number of the system's error, 0 if it has started."""
    failed, report = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # of this process, which has one thread
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(report, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(report)
    said = os.read(failed, 16)  # nothing where the program took the place of the fork, which closes the pipe
    os.close(failed)
    return child, int(said or 0)


def children() -> list[int]:
    """Returns the children of this process, by the list of all processes on Linux; elsewhere none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(path.read_bytes().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(path.parent.name))
    return found


def end_all(group: int) -> None:
    """Ends the process group, then every child until there is none: what an ended child has started is then a child, too."""
    since = time.monotonic()
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    while time.monotonic() - since < GIVE_UP:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for child in children():
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)  # its number is not given to another one before waitpid
        time.sleep(0.002)


def supervise(host: socket.socket, host_process: int, command: list[str]) -> None:
    """Runs ``command``; sends the host ``start ERRNO``, or ``exit STATUS`` with a negative signal, and ends its processes."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    host.set_inheritable(False)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child, error = start(command)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    said, since, status = b"", 0.0, None
    while status is None and said != KILL and not (said and time.monotonic() - since >= GRACE):
        listens = [ended] if said else [ended, host.fileno()]
        ready = select.select(listens, [], [], max(since + GRACE - time.monotonic(), 0.0) if said else LOOK_EVERY)[0]
        if ended in ready:
            os.read(ended, 4096)
        if not said and (host.fileno() in ready or os.getppid() != host_process):
            said, since = (host.recv(1) if host.fileno() in ready else b"") or QUIT, time.monotonic()
        done, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if done else None
    if status is not None:
        with contextlib.suppress(OSError):
            host.sendall(f"start {error}".encode() if error else f"exit {status}".encode())
    end_all(child)


if __name__ == "__main__":
    supervise(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), sys.argv[3:])
