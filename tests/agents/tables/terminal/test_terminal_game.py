"""A game played through a pseudo-terminal: the command as a person starts it, reads it and types at it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

PATIENCE = 120.0
"""Seconds until a text must have come: on a machine that has compiled nothing yet, much goes by before the first."""
MOVE = "Your move: "


class Player:
    """The command in a terminal of its own, 40 lines of 100 columns."""

    def __init__(self, *words: str) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        command = [sys.executable, "-W", "error", "-m", "nainjaune_agents.cli.main", "play", "--pace=0", *words]
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}, start_new_session=True
        )
        os.close(theirs)
        self._screen = ours
        self._read = b""
        self._seen = 0

    @property
    def shown(self) -> str:
        """All that came, without what a terminal would not show."""
        text = self._read.decode(errors="replace")
        return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", text).replace("\r", "")

    def until(self, text: str) -> None:
        """Waits for ``text`` in what has come since the last time."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown[self._seen :]:
            if time.monotonic() > end or not self._more():
                raise AssertionError(f"waited for {text!r}, and there came: {self.shown[self._seen :][-3000:]}")
        self._seen = self.shown.index(text, self._seen) + len(text)

    def _more(self) -> bool:
        """Reads what there is; False at the end."""
        if select.select([self._screen], [], [], 0.5)[0]:
            try:
                part = os.read(self._screen, 1 << 16)
            except OSError:  # as Linux says that the other side has closed
                return False
            self._read += part
            return bool(part)
        return self.process.poll() is None

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def end(self) -> int:
        """Waits for the exit; returns the status."""
        while self._more():
            pass
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)


@pytest.mark.slow
def test_what_is_typed_ahead_is_no_answer() -> None:
    with contextlib.closing(Player("--set=decline=always", "--seed=5", "--seat=3", "--no-confirm", "--pace=0.3")) as person:
        person.until(MOVE)
        person.type("A\nhello\n")
        person.until("Wanted: 2.")
        person.until(MOVE)
        person.type("q\n")
        person.until("Leave the table?")
        person.type("y\n")
        assert person.end() == 0
        assert "I do not understand" not in person.shown


@pytest.mark.slow
def test_a_terminal_that_is_closed_leaves_the_match(state_home: Path) -> None:
    with contextlib.closing(Player("--set=decline=always", "--seed=5", "--seat=3", "--no-confirm")) as person:
        person.until(MOVE)
        person.type("A\n")
        person.until("Wanted: 2.")
        person.until(MOVE)
        time.sleep(1.0)  # between its prompt and its wait for a key Python's readline would keep the signal until the next key
        os.killpg(person.process.pid, signal.SIGHUP)
        person.end()
    assert (state_home / "nainjaune-env" / "play.json").is_file()
    with contextlib.closing(Player("--resume")) as person:
        person.until("The match that you left goes on.")
        person.until("Wanted: 2.")
        person.until(MOVE)
        person.type("\x04")
        assert person.end() == 0


def test_b4_2_what_is_shown_once_goes_after_its_time() -> None:
    with contextlib.closing(Player("--preset=batasaurus", "--agents=highest", "--seed=5", "--look=0.2")) as person:
        person.until("Memorise this: you will not see it again. It is shown for 0.2 s,")
        person.until("The cards are face down now.")  # nobody has pressed Enter
        person.until(MOVE)
        person.type("q\n")
        person.until("Leave the table?")
        person.type("y\n")
        assert person.end() == 0
        glimpse, after = person._read.split(b"\x1b[?1049l")
        assert b"\x1b[?1049h" in glimpse
        assert b"T. rex" in glimpse
        assert b"T. rex" not in after
