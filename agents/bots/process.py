"""A connection to a program: messages are lines on its standard input and output, and its standard error is its log."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import AgentError, as_sentence, quoted

from . import supervisor
from .connection import MAX_LINE, MAX_UNASKED, QUIT, BotFault
from .faults import Fault
from .sandbox import sandboxed

MAX_LOG = 1 << 14
"""Bytes of the end of the log that are kept."""
PIPE = 1 << 20
"""Bytes of a pipe where the system allows it, so that a long message takes few turns; also the most that is read at once."""
F_SETPIPE_SZ = 1031
TELL_SECONDS = 1.0
"""How long a message without an answer waits for a program that does not read."""
LONGEST = 3600.0
"""Seconds of the longest wait in one call of the system, which takes no arbitrary number."""


def arguments(command: str) -> list[str]:
    """Returns the words of ``command``, as a shell would separate them.

    Raises :class:`AgentError` if there are none, quotes are left open, or the program is not there or cannot be executed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(f"The command {quoted(command)} cannot be read: {error}.") from None
    if not words:
        raise AgentError("After exec: comes the command that starts the bot, such as exec:./bot --level 3.")
    if "\0" in command or shutil.which(words[0]) is None:
        path = Path(words[0].replace("\0", ""))
        if path.is_file():
            raise AgentError(f"{quoted(words[0])} is not executable: chmod +x makes it so, or name what runs it: python3 bot.py.")
        raise AgentError(f"There is no program {quoted(words[0])}.")
    return words


class ProcessConnection:
    """A running program. No call waits longer than it says, whatever the program does; for one thread at a time."""

    def __init__(self, command: str, *, sandbox: bool = False) -> None:
        """Starts ``command`` (words as in a shell, without its other powers), with ``sandbox`` in ``bwrap``.

        Raises :class:`AgentError` if it cannot be started.
        """
        if os.name != "posix":
            raise AgentError("Programs as bots need Linux or macOS; elsewhere a bot can be a server: ws://host:port.")
        words = arguments(command)
        run = sandboxed(words) if sandbox else words
        ours, its = socket.socketpair()
        script = [sys.executable, "-I", "-S", supervisor.__file__, str(its.fileno()), str(os.getpid()), *run]
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            process = subprocess.Popen(script, bufsize=0, pass_fds=[its.fileno()], start_new_session=True, **pipes)
        except OSError as error:
            ours.close()
            raise AgentError(f"{quoted(words[0])} cannot be started: {as_sentence(error)}") from None
        finally:
            its.close()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in (process.stdin, process.stdout, process.stderr))
        for end in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(end, False)
            _enlarge(end)
        self._command = words[0]
        self._socket = ours
        self._buffer = bytearray()
        self._searched = 0
        self._log = bytearray()
        self._reads = select.poll()
        self._writes = select.poll()
        for end in (self._stdout, self._stderr):
            self._reads.register(end, select.POLLIN)
            self._writes.register(end, select.POLLIN)
        self._writes.register(self._stdin, select.POLLOUT)
        self._log_ended = False
        self._closing = _Closing(process, ours)
        self._finalizer = weakref.finalize(self, self._closing)

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """See :class:`~.connection.Connection`."""
        self._check_open()
        deadline = None if seconds is None else time.monotonic() + seconds
        unasked = self._drop_lines(0)
        if not self._send(message, seconds, unasked):
            raise self._fault(Fault.TIMEOUT, f"It did not read its input within {_seconds(seconds)}.")
        return self._next(deadline, seconds)

    def next(self, seconds: float | None) -> bytes:
        """See :class:`~.connection.Connection`."""
        self._check_open()
        return self._next(None if seconds is None else time.monotonic() + seconds, seconds)

    def _next(self, deadline: float | None, seconds: float | None) -> bytes:
        """Returns the next message, which had ``seconds`` in all."""
        last = False
        while (line := self._line()) is None:
            if last:
                raise self._fault(Fault.TIMEOUT, f"No answer came within {_seconds(seconds)}.")
            left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            last = left == 0  # one more look: the time may have been ours
            self._wait(self._reads, left)
        return line

    def tell(self, message: bytes) -> None:
        """See :class:`~.connection.Connection`."""
        if not self._closing.done:
            with contextlib.suppress(BotFault):  # the next question says so
                self._send(message, TELL_SECONDS, 0)

    def log(self) -> str:
        """See :class:`~.connection.Connection`."""
        if not self._closing.done:
            self._read_log()
        return self._log.decode(errors="replace")

    def close(self) -> None:
        """See :class:`~.connection.Connection`; after a fault the program is ended at once."""
        self._finalizer()

    def _check_open(self) -> None:
        if self._closing.done:
            raise BotFault(Fault.EXIT, "The connection is closed.")

    def _fault(self, kind: Fault, sentence: str) -> BotFault:
        self._closing.at_once = True
        return BotFault(kind, sentence)

    def _send(self, message: bytes, seconds: float | None, unasked: int) -> bool:
        """Sends a line, while reading what the program writes; returns whether it took it all in ``seconds``."""
        left = memoryview(message + b"\n")
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            try:
                left = left[os.write(self._stdin, left) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                raise self._ended("input") from None
            if not left:
                return True
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                return False
            self._wait(self._writes, remaining)
            unasked = self._drop_lines(unasked)

    def _drop_lines(self, count: int) -> int:
        while self._line() is not None:
            count += 1
            if count > MAX_UNASKED:
                raise self._fault(Fault.FLOOD, f"More than {MAX_UNASKED} messages came that nobody asked for.")
        return count

    def _line(self) -> bytes | None:
        """Returns the next line that is complete, without its end."""
        at = self._buffer.find(b"\n", self._searched)
        if max(at, len(self._buffer) if at < 0 else 0) > MAX_LINE:
            raise self._fault(Fault.FLOOD, f"A line of more than {MAX_LINE >> 20} MiB came.")
        if at < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        self._searched = 0
        return line

    def _wait(self, poll: select.poll, seconds: float | None) -> None:
        """Waits until the program has written, or takes input if ``poll`` looks at that; reads what it has written."""
        for end, _ in poll.poll(None if seconds is None else min(seconds, LONGEST) * 1000):
            if end == self._stdout:
                written = _read(end)
                if written == b"":
                    raise self._ended("output")
                self._buffer += written or b""
            elif end == self._stderr and not self._read_log():
                for each in (self._reads, self._writes):
                    each.unregister(end)

    def _read_log(self) -> bool:
        """Reads what is in the log; returns whether there may be more later."""
        written = _read(self._stderr)
        self._log_ended = written == b""
        self._log += written or b""
        del self._log[:-MAX_LOG]
        return not self._log_ended

    def _ended(self, what: str) -> BotFault:
        """Returns the fault of a program whose ``what``, input or output, is closed; with how it ended, if it has."""
        self._socket.settimeout(1.0)
        try:
            word, _, number = self._socket.recv(64).decode().partition(" ")
        except OSError:
            word, number = "", ""
        until, last_words = time.monotonic() + 1.0, select.poll()
        last_words.register(self._stderr, select.POLLIN)
        while word and not self._log_ended and (left := until - time.monotonic()) > 0:  # all that can write is being ended
            if last_words.poll(left * 1000):
                self._read_log()
        if word == "start":
            return self._fault(Fault.EXIT, f"{quoted(self._command)} cannot be started: {os.strerror(int(number))}.")
        if word == "exit" and number.lstrip("-").isdecimal():
            by = f"by signal {-int(number)}" if int(number) < 0 else f"with status {number}"
            return self._fault(Fault.EXIT, f"The program ended {by}.")
        return self._fault(Fault.EXIT, f"The program closed its standard {what}.")


class _Closing:
    """Ends a program; apart from the connection, so that a connection that nobody holds any more is closed."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.at_once = False
        """Whether the program has no time to end by itself."""
        self.done = False
        self._process = process
        self._control = control
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            if self.done:
                return
            self.done = True
        pipes = [pipe for pipe in (self._process.stdin, self._process.stdout, self._process.stderr) if pipe is not None]
        ours = os.getpid() == self._owner  # a process that was forked from ours has copies, and leaves the program alone
        if ours and not self.at_once:
            with contextlib.suppress(OSError):
                os.write(pipes[0].fileno(), QUIT + b"\n")
        if ours:
            with contextlib.suppress(OSError):
                self._control.sendall(supervisor.KILL if self.at_once else supervisor.QUIT)
                self._process.send_signal(signal.SIGCONT)  # the program may have stopped the supervisor
        for pipe in pipes:
            pipe.close()
        if ours:
            self._control.settimeout(supervisor.GRACE + supervisor.GIVE_UP + 1.0)
            with contextlib.suppress(OSError):
                while self._control.recv(64):  # until the supervisor has ended
                    pass
            try:
                self._process.wait(1.0)
            except subprocess.TimeoutExpired:
                self._process.kill()  # the program is killed with it
        self._control.close()


def _read(end: int) -> bytes | None:
    """Returns what is in a pipe, at most ``PIPE`` bytes; empty at its end, and None if nothing is there now."""
    try:
        return os.read(end, PIPE)
    except BlockingIOError:
        return None


def _enlarge(end: int) -> None:
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # more than this user may have
            fcntl.fcntl(end, F_SETPIPE_SZ, PIPE)


def _seconds(seconds: float | None) -> str:
    return f"{seconds:g} seconds"
