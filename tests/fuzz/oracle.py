"""What every fuzzer demands: an error is a sentence of the library, and files that were there are still there."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from nainjaune_env.core.errors import NainJauneError

LONGEST = 2500
"""Most characters of an error: it quotes some 200 of what came, and may list all valid names."""


class Fault(AssertionError):
    """What a fuzzer found."""


class Fuzzer(ABC):
    """Cases by number; each depends on the seed and its number alone."""

    name: ClassVar[str]
    short: ClassVar[int]
    """Cases that run with all tests."""
    long: ClassVar[int]
    """Cases of ``make fuzz``."""

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        """``folder`` is empty and for this fuzzer's files; ``thorough`` allows cases that take seconds, processes and memory."""
        self.folder = folder
        self.thorough = thorough

    def run(self, seed: int, number: int) -> None:
        """Runs one case; raises :class:`Fault`, or any other error that should not have come."""
        self.case(random.Random(f"{self.name}, seed {seed}, case {number}"))

    def close(self) -> None:  # noqa: B027 - most have started nothing
        """Ends what the fuzzer has started, such as a browser."""

    @abstractmethod
    def case(self, rng: random.Random) -> None:
        """Runs the case that ``rng`` draws."""


def check_sentence(message: str, where: str) -> None:
    """Raises :class:`Fault` unless ``message`` can be an error that a user reads."""
    wrong = None
    if not message.strip():
        wrong = "nothing"
    elif len(message) > LONGEST:
        wrong = f"{len(message)} characters"
    elif "Traceback (most recent call last)" in message or "Error ignored in" in message:
        wrong = "a traceback"
    elif not message.replace("\n", "").replace("\t", "").isprintable():
        wrong = "characters that steer a terminal"
    if wrong:
        raise Fault(f"{where}: the error is {wrong}: {message[:LONGEST]!r}")


def refused(call: Callable[[], Any], *kinds: type[Exception], where: str) -> Any | None:
    """Returns the error with which ``call`` refused, one of ``kinds`` (none: the library's) and a sentence; None if it did not.

    Any other error is a fault.
    """
    try:
        call()
    except Exception as error:
        if isinstance(error, kinds or NainJauneError):
            check_sentence(str(error), where)
            return error
        raise Fault(f"{where}: {type(error).__name__}: {str(error)[:500]}") from error
    return None


Tree = dict[Path, bytes | None]
"""The files below a folder with their bytes; folders with None."""


def tree(folder: Path) -> Tree:
    """Returns everything below ``folder``."""
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def check_nothing_lost(before: Tree, after: Tree, where: str, *, may_change: Iterable[Path] = ()) -> None:
    """Raises :class:`Fault` where something of ``before`` is gone or altered, except for the folders and files ``may_change``."""
    allowed = [*may_change]
    for path, content in before.items():
        if any(path == other or other in path.parents for other in allowed):
            continue
        if path not in after:
            raise Fault(f"{where}: {path} is gone")
        if after[path] != content:
            raise Fault(f"{where}: {path} is altered")
