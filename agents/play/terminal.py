"""The terminal: lines out, lines in, and what only a screen can do."""

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
"""To a screen that keeps no lines once they are gone, and back."""


def wants_color(color: Color, out: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to use colours; ``auto``: on a terminal that has them, unless ``NO_COLOR`` is set (no-color.org)."""
    if color != "auto":
        return color == "always"
    return is_screen(out, environment) and not environment.get("NO_COLOR")


def is_screen(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether ``out`` is a terminal that understands more than lines."""
    return out.isatty() and environment.get("TERM") != "dumb"


class Terminal:
    """Where a person reads and types. Without a screen (a pipe, a file) everything goes on below what was there."""

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
        """``pace`` is the pause after something another seat does, in seconds; ``read`` asks for a line, as ``input`` does."""
        self.out = sys.stdout if out is None else out
        self.inp = sys.stdin if inp is None else inp
        self.color = wants_color(color, self.out, environment)
        self.screen = is_screen(self.out, environment)
        self.pace = pace
        self._read = read
        if self.screen and self.inp.isatty():
            with contextlib.suppress(ImportError):  # not everywhere; without it a line cannot be edited
                import readline  # noqa: F401  (from now on `input` lets one edit the line)

    @property
    def columns(self) -> int:
        """The width; 80 where there is no screen to ask."""
        return shutil.get_terminal_size().columns if self.screen else 80

    def say(self, text: str = "", *, end: str = "\n") -> None:
        """A line, or with ``end`` a part of one."""
        print(text, end=end, file=self.out, flush=True)

    def ask(self, prompt: str) -> str:
        """A line typed, without blanks around it. ``EOFError`` where there will be no more."""
        return self._read(prompt).strip()

    def pause(self) -> None:
        """Time to see what another seat has done: always the same, for who needs longer might have more to think about."""
        if self.pace:
            time.sleep(self.pace)

    def clear(self) -> bool:
        """An empty screen; False where there is no screen, and what was there stays."""
        if self.screen:
            self.say(CLEAR, end="")
        return self.screen

    def glimpse(self, text: str, prompt: str, seconds: float) -> None:
        """Show ``text`` until Enter, or for so many ``seconds`` (0: no limit), and then no more.

        On a screen it is shown where nothing can be scrolled back to. Without one it cannot be hidden again, nor is there a
        limit of time.
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
        """Until a line is typed, or for so many seconds; what was begun to be typed is dropped. ``EOFError`` as :meth:`ask`."""
        ready, _, _ = select.select([self.inp], [], [], seconds)
        if not ready:
            _drop_typing(self.inp)
        elif not self.inp.readline():
            raise EOFError


def _drop_typing(inp: TextIO) -> None:
    with contextlib.suppress(ImportError):  # not everywhere; without it what was begun stands before the next line
        import termios

        termios.tcflush(inp, termios.TCIFLUSH)
