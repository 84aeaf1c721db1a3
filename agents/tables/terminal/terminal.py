"""Input and output in a terminal."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from typing import Literal, TextIO

Color = Literal["auto", "always", "never"]

CLEAR = "\x1b[H\x1b[2J"
ALTERNATE, BACK = "\x1b[?1049h", "\x1b[?1049l"
"""Switch to a screen without scrollback, and back."""


def wants_color(color: Color, out: TextIO, environment: Mapping[str, str]) -> bool:
    """Returns whether to use colours; ``auto``: on a screen, unless ``NO_COLOR`` is set (no-color.org)."""
    if color != "auto":
        return color == "always"
    return is_screen(out, environment) and not environment.get("NO_COLOR")


def is_screen(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Returns whether ``out`` is a terminal that understands control sequences."""
    return out.isatty() and environment.get("TERM") != "dumb"


class Terminal:
    """A person's terminal. Without a screen (a pipe, a file) nothing is cleared: lines only follow each other."""

    def __init__(
        self,
        *,
        color: Color = "auto",
        pace: float = 0.0,
        out: TextIO | None = None,
        inp: TextIO | None = None,
        environment: Mapping[str, str] = os.environ,
        read: Callable[[str], str] = input,
    ) -> None:
        """``pace`` is the pause after each event of another seat, in seconds; ``read`` reads a line, as ``input`` does."""
        self.out = sys.stdout if out is None else out
        self.inp = sys.stdin if inp is None else inp
        self.color = wants_color(color, self.out, environment)
        self.screen = is_screen(self.out, environment)
        self.pace = pace
        self._read = read
        if self.screen and sys.platform == "win32":
            os.system("")  # its older consoles take control sequences from then on
        if self.screen and self.inp.isatty():
            with contextlib.suppress(ImportError):  # not on every platform; without it lines cannot be edited
                import readline  # noqa: F401  (makes `input` editable)

    @property
    def columns(self) -> int:
        """The width; 80 without a screen."""
        return shutil.get_terminal_size().columns if self.screen else 80

    def say(self, text: str = "", *, end: str = "\n") -> None:
        """Prints a line, or with ``end`` a part of one."""
        print(text, end=end, file=self.out, flush=True)

    def ask(self, prompt: str) -> str:
        """Returns a line typed from now on, stripped; what was typed ahead is discarded. Raises :class:`EOFError` at the end."""
        if self.screen and self.inp.isatty():
            _drop_typing(self.inp)
        return self._read(prompt).strip()

    def pause(self) -> None:
        """Waits after an event of another seat, always equally long: the time must not depend on its cards."""
        if self.pace:
            time.sleep(self.pace)

    def clear(self) -> bool:
        """Clears the screen; returns False without one."""
        if self.screen:
            self.say(CLEAR, end="")
        return self.screen

    def glimpse(self, text: str, prompt: str, seconds: float) -> None:
        """Shows ``text`` until Enter or for ``seconds`` (0: no limit), then hides it.

        On a screen it is shown without scrollback. Without a screen it cannot be hidden, and there is no time limit.
        """
        if not self.screen:
            self.say(text)
            self.ask(prompt)
            return
        self.say(ALTERNATE + CLEAR, end="")
        try:
            self.say(text)
            if seconds and self.inp.isatty():
                self.say(prompt, end="")
                self._wait(seconds)
            else:
                self.ask(prompt)
        finally:
            self.say(CLEAR + BACK, end="")

    def _wait(self, seconds: float) -> None:
        """Waits for a line or ``seconds``, and discards an unfinished line. Raises :class:`EOFError` at the end of the input."""
        if sys.platform == "win32":  # select takes sockets alone there
            until = time.monotonic() + seconds
            while time.monotonic() < until and _key() != "\r":
                time.sleep(0.02)
            return
        ready, _, _ = select.select([self.inp], [], [], seconds)
        if not ready:
            _drop_typing(self.inp)
        elif not self.inp.readline():
            raise EOFError


def _key() -> str:
    """Returns the oldest key typed into the console of Windows; empty without one."""
    if sys.platform == "win32":
        import msvcrt

        if msvcrt.kbhit():
            return msvcrt.getwch()
    return ""


def _drop_typing(inp: TextIO) -> None:
    while _key():
        pass
    with contextlib.suppress(ImportError):  # not on every platform; without it what was typed ahead is read
        import termios

        termios.tcflush(inp, termios.TCIFLUSH)
