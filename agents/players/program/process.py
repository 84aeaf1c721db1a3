"""A program that is asked: messages are lines on its standard input and output, and its standard error is its log."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from nainjaune_env.core.errors import AgentError, as_sentence, quoted

from .faults import BotFault, Fault

ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP",
    "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES",
    "NAINJAUNE_CACHE", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
)  # fmt: skip
"""The variables that a program gets: where things are, its language, its threads. Keys and passwords are in others."""
QUIT = b'{"type":"quit"}'
"""The last message to a program."""
MAX_BYTES = 1 << 24
"""The most that is read after one question, in bytes."""
MAX_MESSAGES = 1000
"""And in messages."""
MAX_LOG = 1 << 14
"""Bytes of the end of the log that are kept."""
PIPE = 1 << 20
"""Bytes of a pipe where the system allows it, so that a long message takes few turns; also the most that is read at once."""
F_SETPIPE_SZ = 1031
SHORT = 0 if os.name == "nt" else select.PIPE_BUF
"""Bytes that a pipe takes at once if it takes any; 0 where none can be asked."""
REAPER = str(Path(__file__).with_name("reaper.py"))
GRACE = 1.0
"""Seconds in which a program may end by itself."""
REAP_SECONDS = 7.0
"""And in which the reaper ends what is left of it."""
LAST_LOOK = 0.01
"""Seconds for what has arrived, at the end of the time: a busy host costs the program nothing."""


Process = subprocess.Popen[bytes]
Streams = int | IO[bytes]


def environment() -> dict[str, str]:
    """Returns the variables of this process that a program gets: those of :data:`ENVIRONMENT`."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}


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
        if os.path.isfile(words[0].replace("\0", "")):  # Path.is_file raises an error for too long a name
            raise AgentError(f"{quoted(words[0])} is not executable: chmod +x makes it so, or name what runs it: python3 bot.py.")
        raise AgentError(f"There is no program {quoted(words[0])}.")
    return words


def start(words: list[str], stdin: Streams, stdout: Streams, stderr: Streams, folder: Path | None = None) -> Process:
    """Starts a program in a session of its own, with the variables of :data:`ENVIRONMENT`; :func:`kill` ends it.

    Raises :class:`AgentError` if it cannot be started.
    """
    reaping = [sys.executable, "-I", "-S", REAPER, str(os.getpid())] if sys.platform == "linux" else []
    try:
        return subprocess.Popen(
            [*reaping, *words],
            bufsize=0,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env=environment(),
            start_new_session=True,
        )
    except OSError as error:
        raise AgentError(f"{quoted(words[0])} cannot be started: {as_sentence(error)}") from None


def kill(process: Process) -> None:
    """Ends a program and its processes: on Linux all, on other systems with groups those that have not left its group."""
    if sys.platform == "linux":
        process.terminate()
        process.send_signal(signal.SIGCONT)  # the program may have stopped its reaper
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(REAP_SECONDS)
    elif os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


class Program:
    """A running program. No call waits longer than it says, whatever the program does; for one thread at a time."""

    def __init__(self, command: str) -> None:
        """Starts ``command``: words as in a shell, without its other powers. Raises :class:`AgentError` if it cannot."""
        process = start(arguments(command), subprocess.PIPE, subprocess.PIPE, subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process, self._inbox, self._outbox = process, _Inbox(), SimpleQueue[bytes | None]()
        self._stdin, self._queued = process.stdin.fileno(), 0
        if SHORT:
            self._writable = select.poll()
            self._writable.register(self._stdin, select.POLLOUT)
        threads = [
            threading.Thread(target=_write, args=(process.stdin, self._outbox, self._inbox), daemon=True),
            threading.Thread(target=_read, args=(process.stdout, self._inbox), daemon=True),
            threading.Thread(target=_read_log, args=(process.stderr, self._inbox), daemon=True),
        ]
        self._end = weakref.finalize(self, _end, process, self._inbox, self._outbox, threads, os.getpid())
        for thread in threads:
            thread.start()
        self._log_thread = threads[-1]

    def ask(self, message: bytes, seconds: float | None) -> bytes:
        """Sends ``message``, JSON without a newline, and returns the next line; what was written before is dropped.

        Raises :class:`BotFault`: without a line in ``seconds`` (None: no limit), at the end of the program or of its input or
        output, or for too much output. A program that does not read its input is out of time.
        """
        self._inbox.clear()
        self.tell(message)
        return self.next(seconds)

    def next(self, seconds: float | None) -> bytes:
        """Returns the line after the one that :meth:`ask` returned, as that does."""
        inbox = self._inbox
        with inbox.news:
            if not inbox.news.wait_for(inbox.has_news, seconds) and not inbox.news.wait_for(inbox.has_news, LAST_LOOK):
                raise self._fault(Fault.TIMEOUT, f"No answer came within {seconds:g} seconds.")
            if inbox.is_flooded:
                much = f"More than {MAX_MESSAGES} messages, or {MAX_BYTES >> 20} MiB, came after one question."
                raise self._fault(Fault.FLOOD, much)
            if inbox.lines:
                return inbox.lines.popleft()
        raise self._fault(Fault.EXIT, self._ended())

    def tell(self, message: bytes) -> None:
        """Sends a message without an answer. A short one needs no other thread where the system says that the pipe takes it."""
        line = message + b"\n"
        if not self._end.alive:
            raise BotFault(Fault.EXIT, "The program was ended.")
        if len(line) <= SHORT and self._queued == self._inbox.written and self._writable.poll(0):
            try:
                os.write(self._stdin, line)
            except OSError:
                self._inbox.end("input")
        else:
            self._queued += 1
            self._outbox.put(line)

    def end_input(self) -> None:
        """Closes the program's input when it has read what was sent; nothing can be sent after it."""
        self._queued += 1
        self._outbox.put(None)

    def log(self) -> str:
        """Returns the end of what the program wrote to its standard error."""
        return self._inbox.log.decode(errors="replace")

    def close(self) -> None:
        """Asks the program to quit, and ends it after a second if it has not, after a fault at once; all its processes."""
        self._end()

    def _fault(self, kind: Fault, sentence: str) -> BotFault:
        self._inbox.at_fault = True
        return BotFault(kind, sentence)

    def _ended(self) -> str:
        """Returns how the program ended whose input or output is closed; its log is complete then."""
        try:
            status = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return f"The program closed its standard {self._inbox.closed}."
        self._log_thread.join(GRACE)
        signalled = status - 128 if sys.platform == "linux" else -status
        return f"The program ended by signal {signalled}." if signalled > 0 else f"The program ended with status {status}."


class _Inbox:
    """What came from a program and was not taken yet. Threads fill it, which must not keep the :class:`Program` alive."""

    def __init__(self) -> None:
        self.news = threading.Condition()
        self.lines: deque[bytes] = deque()
        self.closed = ""
        """What the program closed first, its input or its output."""
        self.is_flooded = self.at_fault = False
        self.log = bytearray()
        self.written = 0
        """Lines that a thread has written."""
        self._messages = self._bytes = 0  # since the last question

    def has_news(self) -> bool:
        return bool(self.lines or self.closed or self.is_flooded)

    def clear(self) -> None:
        with self.news:
            self.lines.clear()
            self._messages = self._bytes = 0

    def add(self, line: bytes) -> bool:
        """Adds what was read up to the end of a line; returns whether to read on."""
        with self.news:
            self._messages += 1
            self._bytes += len(line)
            self.is_flooded = self._messages > MAX_MESSAGES or self._bytes > MAX_BYTES
            if line.endswith(b"\n"):
                self.lines.append(line[:-1])
            self.news.notify()
        if not line.endswith(b"\n") and not self.is_flooded:  # half a line, at the end, is none
            self.end("output")
        return line.endswith(b"\n") and not self.is_flooded

    def end(self, closed: str) -> None:
        """Notes what the program has closed."""
        with self.news:
            self.closed = self.closed or closed
            self.news.notify()


def _read(pipe: IO[bytes], inbox: _Inbox) -> None:
    _enlarge(pipe)
    with open(pipe.fileno(), "rb", PIPE, closefd=False) as lines:
        while inbox.add(lines.readline(MAX_BYTES + 1)):
            pass


def _read_log(pipe: IO[bytes], inbox: _Inbox) -> None:
    while part := pipe.read(PIPE):
        inbox.log += part
        del inbox.log[:-MAX_LOG]


def _write(pipe: IO[bytes], outbox: SimpleQueue[bytes | None], inbox: _Inbox) -> None:
    _enlarge(pipe)
    try:
        while (line := outbox.get()) is not None:
            left = memoryview(line)
            while left:
                left = left[pipe.write(left) :]
            inbox.written += 1
        pipe.close()
    except OSError:  # the program reads no more
        inbox.end("input")


def _enlarge(pipe: IO[bytes]) -> None:
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # more than this user may have
            fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE)


def _end(
    process: Process,
    inbox: _Inbox,
    outbox: SimpleQueue[bytes | None],
    threads: list[threading.Thread],
    host: int,
) -> None:
    """Ends a program with all its processes, and the threads of its pipes; a fork of the host leaves it alone."""
    if os.getpid() != host:
        return
    if not inbox.at_fault:
        outbox.put(QUIT + b"\n")
    outbox.put(None)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0 if inbox.at_fault else GRACE)
    finally:  # after Ctrl-C, too
        kill(process)
        _close_pipes(process, threads)


def _close_pipes(process: Process, threads: list[threading.Thread]) -> None:
    until = time.monotonic() + GRACE
    for thread in threads:
        if thread.is_alive() and thread is not threading.current_thread():  # which may collect garbage
            thread.join(max(until - time.monotonic(), 0))
    if not any(thread.is_alive() for thread in threads):  # else a process that has left its group has the pipes
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
