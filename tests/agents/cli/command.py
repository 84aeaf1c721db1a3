"""The command line in this process."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import pytest

from nainjaune_agents.cli.main import main

Capture = pytest.CaptureFixture[str]


def status_of(words: Sequence[str]) -> int:
    """The exit status, of errors of the parser too."""
    try:
        return main(words)
    except SystemExit as stopped:
        return int(stopped.code or 0)


def nainjaune(capfd: Capture, words: str, *more: str) -> tuple[int, str, str]:
    """The exit status, what was printed, and what went to stderr, without progress bars; ``more`` words are not split."""
    status = status_of([*words.split(), *more])
    out, err = capfd.readouterr()
    return status, out, re.sub(r"[^\n]*\r", "", err).strip()


def output_of(capfd: Capture, words: str, *more: str) -> str:
    """What a command prints that succeeds and has nothing to say to stderr."""
    status, out, err = nainjaune(capfd, words, *more)
    assert (status, err) == (0, "")
    return out


def refused(capfd: Capture, words: str, says: str, *, printed: bool = False) -> None:
    """The command fails with a sentence that matches ``says``, in a line, and leaves the folder as it was.

    ``printed``: it may print something before, to stderr too.
    """
    before = os.listdir()
    status, out, err = nainjaune(capfd, words)
    program = words.split()[0]
    assert (status, "" if printed else out) == (2, "")
    said = err.splitlines()[-1] if printed else err
    assert re.fullmatch(rf"nainjaune {program}[^\n:]*: [^\n]*(?:{says})[^\n]*", said), err
    assert os.listdir() == before
