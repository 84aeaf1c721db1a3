"""Standard output and error: any encoding, closed or full, and errors in one form."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import shutil
import sys
import textwrap
import warnings
from typing import Any, TextIO

from nainjaune_env.core.errors import FallbackWarning
from nainjaune_env.core.printable import printable

PLAIN = "nainjaune-plain"
"""The error handler of output whose encoding lacks a character."""
SUBSTITUTES = str.maketrans(dict(zip("−–—·“”’♠♥♦♣─═│║╭╮╰╯╔╗╚╝", '---.""\'shdc--||++++++++', strict=True)) | {"±": "+-"})
"""What is printed for characters that an encoding lacks; for all others a question mark."""
_COMMAND = re.compile(r"(?<=: )(?:nainjaune|pip|python) .*")
"""A command at the end of a line, which stays in one piece so that it can be copied."""
FAILED = 2
"""The exit status after an error."""


_format_warning = warnings.formatwarning


def open_streams() -> None:
    """Makes ``sys.stdout`` and ``sys.stderr`` usable: no encoding error, and a stand-in for a stream that is closed.

    A :class:`FallbackWarning` is one line, without a place in the code.
    """
    warnings.formatwarning = _one_line
    codecs.register_error(PLAIN, _substitute)
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def _one_line(message: Any, category: type[Warning], *where: Any, **line: Any) -> str:
    if category is not FallbackWarning:
        return _format_warning(message, category, *where, **line)
    return f"{fitted(printable(str(message)), sys.stderr)}\n"


def fitted(text: str, stream: TextIO) -> str:
    """Returns ``text`` with its sentences wrapped to the width of the terminal; unchanged where ``stream`` is no terminal.

    Lines with two spaces in succession, which are rows of tables, and commands at their ends are not wrapped.
    """
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(line if "  " in line else _wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    whole = _COMMAND.sub(lambda match: match[0].replace(" ", "\0"), line)
    return textwrap.fill(whole, width, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def print_text(text: str) -> None:
    """Prints ``text``, fitted to the terminal."""
    print(fitted(text, sys.stdout))


def close_output() -> None:
    """Flushes ``sys.stdout``; raises :class:`OSError` if not all of it was written, and then discards the rest."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard(sys.stdout)
        raise


def print_error(program: str, error: BaseException | str) -> None:
    """Prints an error to stderr in the form of all commands: the program, and a sentence on one line."""
    text = " ".join(_sentence(error).split("\n"))
    print_note(f"{program}: {text}")


def print_note(text: str) -> None:
    """Prints a line to stderr at once, fitted to the terminal; a stream that cannot take it gets no more."""
    try:
        print(fitted(printable(text), sys.stderr), file=sys.stderr, flush=True)
    except OSError:  # there is nowhere to report it; the exit status says it
        _discard(sys.stderr)


def print_json(value: object) -> None:
    """Prints ``value`` as JSON; characters that cannot be printed are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    print("".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text))


def _sentence(error: BaseException | str) -> str:
    if isinstance(error, OSError) and error.strerror:
        names = [repr(os.fsdecode(name)) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
        text = ": ".join([error.strerror, *names])
    else:
        text = str(error)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Returns the replacement for characters that cannot be encoded, as ``codecs.register_error`` expects."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(SUBSTITUTES)
    return "".join(character if character.isascii() else "?" for character in text), error.end


def _discard(stream: TextIO) -> None:
    """Lets what ``stream`` still holds go nowhere, so that Python does not try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Closed(io.StringIO):
    """Stands for a closed stream: a command can print to it, and its flush raises an error if anything was printed."""

    def __init__(self) -> None:
        super().__init__()
        self._null = os.open(os.devnull, os.O_WRONLY)  # or the next file would get the number of the closed stream

    def fileno(self) -> int:
        return self._null

    def flush(self) -> None:
        if self.tell():
            self.seek(0)
            self.truncate()
            raise OSError("What was printed is lost, because the output is closed.")
