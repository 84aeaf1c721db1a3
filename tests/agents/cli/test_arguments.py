"""The numbers on a command line: each has bounds, and what is out of them is refused before anything runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from nainjaune_agents.cli.main import command_line
from tests.agents.cli.command import Capture, status_of

NONSENSE = ["nan", "inf", "-inf", "1e400", "-1e400", "9" * 23, "9" * 5000, "x" * 10_000, "", "1;2", "\x1b[31m"]


def numeric(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """All options that convert what they get, except paths, with their commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from numeric(sub)
        elif action.type is not None and action.type.__module__ != "pathlib":  # type: ignore[union-attr]
            yield parser.prog, action


OPTIONS = list(numeric(command_line("nainjaune")))


def test_no_number_is_without_bounds() -> None:
    """Each option names them, takes them, and refuses what lies beyond."""
    for _, action in OPTIONS:
        with pytest.raises(argparse.ArgumentTypeError) as caught:
            action.type("x")  # type: ignore[operator]
        bounds = re.fullmatch("expected a (whole )?number from (.*) to (.*), not 'x'", str(caught.value))
        if bounds is None:
            assert action.option_strings[-1] in ("--shard", "--http")
            continue
        if bounds[1]:
            with pytest.raises(argparse.ArgumentTypeError):
                action.type(f"{bounds[3]}.5")  # type: ignore[operator]
        for text, beyond in ((bounds[2], -1), (bounds[3], 1)):
            assert float(action.type(text)) == float(text)  # type: ignore[operator]
            with pytest.raises(argparse.ArgumentTypeError):
                action.type(str(int(text) + beyond if bounds[1] else 2 * float(text) + beyond))  # type: ignore[operator]


def test_nonsense_is_refused_in_a_sentence() -> None:
    for _, action in OPTIONS:
        for text in NONSENSE:
            with pytest.raises(argparse.ArgumentTypeError, match=r"^expected a [^\x1b\n]{,500}$"):
                action.type(text)  # type: ignore[operator]


@pytest.mark.parametrize("word", ["a\0b", "a\ud800b"])
def test_an_argument_that_no_file_can_be_called_is_a_sentence(word: str, capfd: Capture) -> None:
    assert status_of(["record", "verify", word]) == 2
    assert capfd.readouterr().err.startswith("nainjaune: An argument has a character that no name can have: 'a\\")
