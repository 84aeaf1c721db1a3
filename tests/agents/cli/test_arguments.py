"""The numbers on a command line: each has bounds, and what is out of them is refused before anything runs."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterator

import pytest

from nainjaune_agents.cli.arguments import integer, number
from nainjaune_agents.cli.main import command_line
from tests.agents.cli.command import Capture, refused, status_of

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


BOUNDS = {
    "a whole number from 0 to 10000": "--search",
    "a whole number from 0 to 65535": "--port",
    "a whole number from 0 to 1000000": "--draws",
    "a whole number from 0 to 1000000000": ("--deals --first --first-seed --iterations --ply --pots --seat --worst"),
    "a whole number from 0 to 4611686018427387904": "--first",
    "a whole number from 0 to 18446744073709551615": "--search-seed --seed",
    "a whole number from 1 to 1024": "--threads --workers",
    "a whole number from 1 to 10000": "--batch --rounds --search --seeds",
    "a whole number from 1 to 100000": "--chunk",
    "a whole number from 1 to 1000000000": ("--iterations --limit --match --matches --most --move --players --round --rounds"),
    "a whole number from 2 to 100000": "--search",
    "a whole number from 2 to 10000000": "--choosing --deals --measuring --searching",
    "a whole number from 2 to 1000000000": "--choosing --deals --tasks",
    "a number from -1e+06 to 1e+06": "--bounds",
    "a number from 0 to 1000": "--lead",
    "a number from 0 to 3600": "--look --pace",
    "a number from 0 to 36500": "--days",
    "a number from 0 to 1e+06": "--bot-seconds --bot-start-seconds --minutes",
    "a number from 1e-09 to 0.5": "--alpha --beta",
    "a number from 1e-09 to 1": "--search-share",
    "a number from 1e-06 to 100000": "--error",
    "a number from 0.001 to 100000": "--minutes",
    "a number from 0.01 to 655.35": "--hold --seconds",
    "a number from 0.02 to 8": "--scale",
    "a part and the number of parts, as in 3/100": "--shard",
    "a port, or a host and a port": "--http",
}
"""What the options of all commands take."""


def test_no_number_is_without_bounds() -> None:
    by_bounds: dict[str, set[str]] = {}
    for _, action in OPTIONS:
        with pytest.raises(argparse.ArgumentTypeError) as caught:
            action.type("x")  # type: ignore[operator]
        bounds = re.fullmatch("expected (.*), not 'x'", str(caught.value))
        assert bounds is not None
        by_bounds.setdefault(bounds[1], set()).add(action.option_strings[-1])
    assert by_bounds == {bounds: set(options.split()) for bounds, options in BOUNDS.items()}


def test_nonsense_is_refused_in_a_sentence() -> None:
    for _, action in OPTIONS:
        for text in NONSENSE:
            with pytest.raises(argparse.ArgumentTypeError, match=r"^expected a [^\x1b\n]{,500}$"):
                action.type(text)  # type: ignore[operator]


@pytest.mark.parametrize(
    "words",
    [
        "film --agents random --out x.gif --scale 1e-9",
        "evaluate --agents lowest random --deals 99999999999999",
        "versus lowest random --bounds 0 nan",
    ],
)
def test_numbers_that_ended_the_process_or_never_ended(words: str, capfd: Capture) -> None:
    refused(capfd, words, ": expected a ")


def test_bounds_belong_to_what_is_allowed() -> None:
    for text, least, most in itertools.product(("1", "7"), (1,), (7,)):
        assert integer(least, most)(text) == int(text)
        assert number(least, most)(text) == float(text)
    for text in ("0", "8", "0.99", "7.01", "1.5"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"^expected a whole number from 1 to 7, not '{text}'$"):
            integer(1, 7)(text)
    for text in ("0", "8", "0.99", "7.01"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"^expected a number from 1 to 7, not '{text}'$"):
            number(1, 7)(text)


@pytest.mark.parametrize("word", ["a\0b", "a\ud800b"])
def test_an_argument_that_no_file_can_be_called_is_a_sentence(word: str, capfd: Capture) -> None:
    assert status_of(["record", "verify", word]) == 2
    assert capfd.readouterr().err.startswith("nainjaune: An argument has a character that no name can have: 'a\\")
