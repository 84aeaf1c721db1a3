"""Every error this package raises on bad input, in one small hierarchy.

Each message is a sentence that says what was expected and what came. Catching :class:`NainJauneError` catches them all; most also
are the built-in error that a caller would expect, such as ``ValueError``.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from itertools import islice

from .extras import install_command


class NainJauneError(Exception):
    """Base of all errors raised on purpose by this package."""


class FallbackWarning(UserWarning):
    """An agent plays by another one's name and weights, as its own are not known to play well under the rules."""


class GameError(NainJauneError, ValueError):
    """A game that cannot be imported, that lacks a part, or whose parts do not fit together."""


class RulesError(NainJauneError, ValueError):
    """An unknown preset or knob, a knob's value that is not allowed, or a wrong number of seats."""


class KeywordError(RulesError, TypeError):
    """A keyword argument that is neither an argument of the function nor a knob of the game."""


class IllegalActionError(NainJauneError, ValueError):
    """An action that the rules do not allow now. Nothing was changed."""


class AnswerError(IllegalActionError):
    """An answer in words that means no legal action."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message, kind)  # both, so that it can be pickled
        self.kind = kind
        """What is wrong with it: one of ``text.answers.KINDS``."""

    def __str__(self) -> str:
        """Returns the sentence for the player."""
        return str(self.args[0])


class DealError(NainJauneError, ValueError):
    """Hands, stacks or pots from which no table can be set up."""


class RecordError(NainJauneError, ValueError):
    """A record that is not well formed, or that replay contradicts."""


class ConfigError(NainJauneError, ValueError):
    """A configuration with an unknown key or a value that does not fit."""


class CheckpointError(NainJauneError, ValueError):
    """A checkpoint that is cut short, or of another game, layout or network."""


class DivergenceError(NainJauneError, ArithmeticError):
    """A network whose weights or outputs are NaN or infinite."""


class LabelsError(NainJauneError, ValueError):
    """A file of labelled decisions that is missing or cut short, or of another layout or generation."""


class AgentError(NainJauneError, ValueError):
    """An unknown agent, one that cannot play at these tables, or one whose answer is not a legal action for each decision."""


class IllegalChoiceError(AgentError, IllegalActionError):
    """An illegal action of an agent. The message names the legal ones, and so cards of its hand."""


class LeakError(NainJauneError, AssertionError):
    """An environment that shows a seat what is hidden from it."""


class TreeError(NainJauneError, ValueError):
    """A game that cannot be written out: too many nodes or openings, or chance in the middle of play."""


class DeviceError(NainJauneError, RuntimeError):
    """A device that there is not, or an array that lies elsewhere than the batch it is given to."""


class WorkError(NainJauneError, RuntimeError):
    """Workers that fail or do not fit a run, or files of results that belong to another one or are missing."""


class PlatformError(NainJauneError, ImportError):
    """A Python or a machine that the package does not run on."""


class MissingLibraryError(NainJauneError, ImportError):
    """A library that only some of the package needs, and that is not installed."""

    def __init__(self, what: str, library: str, extra: str, then: str = "") -> None:
        """``what`` is done with ``library``, which the pip extra ``extra`` installs; ``then`` is to be done after that."""
        self.need = f"{what} needs the package {library!r}, which is not installed"
        """The sentence without the command that installs it, which may name a folder of this machine."""
        super().__init__(f"{self.need}: {install_command(extra)}{then and ', then '}{then}.", name=library)


MAX_QUOTED = 200
"""Characters that an error quotes of a value."""


class _Quoting(reprlib.Repr):
    """Writes no more of a value than is quoted: a file may hold lists of many megabytes, and lists nested without end."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxlong = self.maxother = MAX_QUOTED
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = MAX_QUOTED // 3
        self.maxdict = MAX_QUOTED // 6

    def repr_int(self, x: int, level: int) -> str:
        """Returns the digits of ``x``; Python refuses to write more than some thousands."""
        bits = x.bit_length()
        return super().repr_int(x, level) if bits < 4 * MAX_QUOTED else f"a whole number of {bits} bits"

    def repr_dict(self, x: dict[object, object], level: int) -> str:
        """Returns the items of ``x`` in their own order, where the base class sorts them."""
        if level <= 0 and x:
            return "{...}"
        shown = [f"{self.repr1(key, level - 1)}: {self.repr1(x[key], level - 1)}" for key in islice(x, self.maxdict)]
        return "{" + ", ".join([*shown, "..."] if len(x) > self.maxdict else shown) + "}"


_QUOTING = _Quoting()


def quoted(value: object) -> str:
    """Returns ``repr(value)``, or its beginning and "..." where it has more than ``MAX_QUOTED`` characters."""
    text = _QUOTING.repr(value)
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "..."


def as_sentence(error: Exception) -> str:
    """Returns the message of ``error``, of any library, with one full stop at its end."""
    return f"{str(error).rstrip().rstrip('.')}."


def unknown_name_message(what: str, given: object, allowed: Iterable[str]) -> str:
    """Returns the sentence for an unknown name: what came, the nearest valid name, and all valid names."""
    names = list(allowed)
    return f"{near_name_message(what, given, names, cutoff=0.5)} Valid: {', '.join(names)}."


def near_name_message(what: str, given: object, allowed: Iterable[str], cutoff: float = 0.6) -> str:
    """Returns the sentence for an unknown name with the nearest valid name alone, if its ``difflib`` ratio reaches ``cutoff``."""
    text = given[:MAX_QUOTED] if isinstance(given, str) else quoted(given)
    near = difflib.get_close_matches(text, list(allowed), n=1, cutoff=cutoff)
    return f"Unknown {what} {quoted(given)}." + (f" Did you mean {near[0]!r}?" if near else "")
