"""Every error this package raises on bad input, in one small hierarchy.

Each message is a sentence that says what was expected and what came. Catching
:class:`NainJauneError` catches them all; most also are the built-in error that a
caller would expect (``ValueError``), so that generic handlers keep working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .extras import install_command


class NainJauneError(Exception):
    """Base of all errors raised on purpose by this package."""


class RulesError(NainJauneError, ValueError):
    """An unknown preset or knob, a knob's value that is not allowed, or a wrong number of seats."""


class IllegalActionError(NainJauneError, ValueError):
    """An action that the rules do not allow now. Nothing was changed."""


class DealError(NainJauneError, ValueError):
    """Hands, stacks or pots from which no table can be set up."""


class RecordError(NainJauneError, ValueError):
    """A record that is not well formed, or that replay contradicts."""


class ConfigError(NainJauneError, ValueError):
    """A configuration with an unknown key or a value that does not fit."""


class CheckpointError(NainJauneError, ValueError):
    """A checkpoint that is cut short, or of another game, layout or network."""


class LabelsError(NainJauneError, ValueError):
    """A file of labelled decisions that is missing or cut short, or of another layout or generation."""


class AgentError(NainJauneError, ValueError):
    """An agent's name that nobody answers to, or an agent that answered with no legal action."""


class TreeError(NainJauneError, ValueError):
    """A game that cannot be written out: too many nodes or openings, or chance in the middle of play."""


class DeviceError(NainJauneError, RuntimeError):
    """A device that there is not, or an array that lies elsewhere than the batch it is given to."""


class MissingLibraryError(NainJauneError, ImportError):
    """A library that only some of the package needs, and that is not installed."""

    def __init__(self, what: str, library: str, extra: str) -> None:
        """``what`` is done with ``library``, which the pip extra ``extra`` installs."""
        super().__init__(f"{what} needs the package {library!r}, which is not installed: {install_command(extra)}.", name=library)


def choose_one(what: str, given: object, allowed: Iterable[str]) -> str:
    """The sentence for an unknown name: what came, the nearest valid name, and all valid names."""
    names = list(allowed)
    near = difflib.get_close_matches(str(given), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"Unknown {what} {given!r}.{hint} Valid: {', '.join(names)}."
