"""Types of arguments: each number has its bounds where it is declared, and an error says what was expected and what came."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from nainjaune_env.core.errors import quoted
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.core.validation import MAX_SEED, MAX_THREADS

MAX_COUNT = 10**9
"""Bound of numbers of deals, rounds and iterations: more than any machine plays in a year."""


def integer(least: int, most: int = MAX_COUNT) -> Callable[[str], int]:
    """Returns the type of whole numbers from ``least`` to ``most``."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:  # also from more digits than Python converts
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"expected a whole number from {least} to {most}, not {quoted(text)}")
        return value

    return parse


def number(least: float, most: float) -> Callable[[str], float]:
    """Returns the type of numbers from ``least`` to ``most``, which are finite."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:  # nor is NaN
            raise argparse.ArgumentTypeError(f"expected a number from {least:g} to {most:g}, not {quoted(text)}")
        return value

    return parse


def path(text: str) -> Path:
    """The type of paths: ``Path("")`` would be the working folder."""
    if not text:
        raise argparse.ArgumentTypeError("expected a path, not ''")
    return Path(text)


def add_seed_argument(parser: argparse.ArgumentParser, *, default: int | None = 0, meaning: str = "") -> None:
    """Declares ``--seed``; ``meaning`` replaces the usual help."""
    meaning = meaning or "seed of deals and all other random numbers (default: %(default)s)"
    parser.add_argument("--seed", type=integer(0, MAX_SEED), default=default, help=meaning)


def add_threads_argument(parser: argparse.ArgumentParser, *, default: int = 1, meaning: str = "threads of networks") -> None:
    """Declares ``--threads``."""
    parser.add_argument(
        "--threads",
        type=integer(1, MAX_THREADS),
        default=default,
        help=f"{meaning}, at most the free cores (default: %(default)s)",
    )


def add_language_argument(parser: argparse.ArgumentParser) -> None:
    """Declares ``--lang``."""
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="the language (default: %(default)s)")


def add_color_argument(parser: argparse.ArgumentParser) -> None:
    """Declares ``--color``."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours; auto: on a terminal, unless NO_COLOR is set (default: %(default)s)",
    )
