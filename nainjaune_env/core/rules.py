"""House rules as typed knobs: :func:`knob`, :class:`Rules` and :class:`Preset`."""

from __future__ import annotations

import dataclasses
import functools
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from nainjaune_env.core.errors import RulesError, quoted, unknown_name_message
from nainjaune_env.core.validation import check_flag, check_name

MAX_NUMBER = 1_000_000
"""Default upper bound of a numeric knob, far below the range of the 32-bit chips of a table."""


def knob(
    default: Any,
    meaning: str,
    source: str,
    *,
    choices: tuple[str, ...] | None = None,
    low: int | None = None,
    high: int | None = None,
    optional: bool = False,
    extension: bool = False,
    samples: tuple[int | None, ...] = (),
) -> Any:
    """Returns a dataclass field that is a house rule.

    A knob is a word with ``choices``, a number from ``low`` to ``high``, or else a flag; an ``optional`` number may be None.
    ``source`` is the rule article. An ``extension`` is a knob of no rule sheet, such as a shortened deck for exact solutions;
    :meth:`Rules.to_dict` contains it only if it is not at its default. ``samples`` are the values of a number that random rules
    take: by default only its own.
    """
    kind = "word" if choices else "number" if low is not None else "flag"
    about: dict[str, Any] = {
        "meaning": meaning,
        "source": source,
        "choices": choices,
        "optional": optional,
        "extension": extension,
    }
    about |= {"kind": kind, "low": low, "high": MAX_NUMBER if high is None else high}
    values = choices or ((False, True) if kind == "flag" else samples or (default,))
    return field(default=default, metadata={**about, "samples": values})


@dataclass(frozen=True)
class Rules:
    """Base of a game's rules: a frozen dataclass whose fields are all made by :func:`knob`."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            _check_knob(f, value)
            if value is not None:  # NumPy's values become Python's, as JSON cannot write them
                object.__setattr__(self, f.name, _PYTHON_TYPES[f.metadata["kind"]](value))

    def replace(self, **knobs: Any) -> Self:
        """Returns these rules with some knobs changed; raises :class:`RulesError` for an unknown knob or a value not allowed."""
        for name in knobs:
            if name not in self.names():
                raise RulesError(unknown_name_message("knob", name, self.names()))
        return dataclasses.replace(self, **knobs)

    def numbers(self) -> Any:
        """Returns the knobs as a named tuple of integers: words by their place among the choices, None as ``low - 1``."""
        return _numbers_class(type(self).__name__, self.names())(
            *(_number(f.metadata, getattr(self, f.name)) for f in fields(self))
        )

    @classmethod
    def names(cls, *, extensions: bool | None = None) -> tuple[str, ...]:
        """Returns the knobs in order of declaration: all, only extensions (``extensions`` True), or all others (False)."""
        return tuple(f.name for f in fields(cls) if extensions in (None, f.metadata["extension"]))

    def to_dict(self) -> dict[str, Any]:
        """Returns knobs and values in order of declaration, without extensions that are at their default."""
        values = dataclasses.asdict(self)
        left_out = [f.name for f in fields(self) if f.metadata["extension"] and values[f.name] == f.default]
        return {name: value for name, value in values.items() if name not in left_out}


@functools.cache
def _numbers_class(rules: str, knobs: tuple[str, ...]) -> Any:
    return namedtuple(f"{rules}Numbers", knobs)


def _number(about: Mapping[str, Any], value: Any) -> int:
    if value is None:
        number: int = about["low"] - 1
        return number
    return about["choices"].index(value) if about["kind"] == "word" else int(value)


_PYTHON_TYPES: Mapping[str, Callable[[Any], Any]] = {"word": str, "flag": bool, "number": int}


def _check_knob(f: dataclasses.Field[Any], value: Any) -> None:
    about = f.metadata
    if value is None and about["optional"]:
        return
    if about["kind"] == "word":
        check_name(f"value for the knob {f.name!r}:", value, about["choices"])
    elif about["kind"] == "flag":
        check_flag(f"The knob {f.name!r}", value)
    elif isinstance(value, bool) or not isinstance(value, int | np.integer) or not about["low"] <= value <= about["high"]:
        none = " or None" if about["optional"] else ""
        limits = f"from {about['low']} to {about['high']}"
        raise RulesError(f"The knob {f.name!r} is a whole number {limits}{none}, not {quoted(value)}.")


@dataclass(frozen=True)
class Preset:
    """A named instance of the rules, as one source gives them."""

    rules: Rules
    players: range
    """The numbers of seats that it allows."""
    source: str
    """The rule sheet, in a few words."""
