"""What a search for hyperparameters varies: ranges of numbers and lists of values, checked against the configuration's types."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nainjaune_env.core.errors import ConfigError, choose_one, quoted

from ..options import option_types
from ..trainers import get_trainer
from ..trainers.base import BaseConfig
from ..trainers.config import apply_settings, build

MOST = 10**9
"""Bound of whole numbers in a range: Optuna computes with them as floats."""
DIGITS = 4
"""Of a float that is drawn from a range: enough for any trainer, and short in names and commands."""
MEASURE_KEYS = ("game", "preset", "players", "rules", "mixture", "start", "eval_deals", "eval_against")
"""Keys that say what an edge is: edges under several values of them are not comparable."""
_NUMBER = r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*"
_RANGE = re.compile(rf"{_NUMBER}\.\.{_NUMBER}(,.*)?", re.DOTALL)
Value = int | float | str
"""Of a key in a trial: a number of a range, or a value of a list as its text (YAML)."""


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included: whole ones where these are ``int``."""

    low: int | float
    high: int | float
    log: bool
    """Whether the logarithm is drawn evenly, and not the number itself."""

    def __str__(self) -> str:
        return f"{self.low!r}..{self.high!r}{',log' if self.log else ''}"

    def holds(self, value: object) -> bool:
        """Returns whether ``value`` is a number of the range."""
        return type(value) is type(self.low) and self.low <= value <= self.high

    def rounded(self, value: float) -> int | float:
        """Returns ``value`` with :data:`DIGITS` digits, of its own or of the width of the range; a whole number as it is."""
        if isinstance(self.low, int):
            return int(value)
        decimals = DIGITS - math.floor(math.log10(value if self.log else self.high - self.low)) - self.log
        return min(max(round(value, decimals), self.low), self.high)


@dataclass(frozen=True)
class Choice:
    """One of several values, each the text after ``key=``."""

    texts: tuple[str, ...]

    def __str__(self) -> str:
        return ",".join(self.texts)

    def holds(self, value: object) -> bool:
        """Returns whether ``value`` is one of the texts."""
        return value in self.texts


Space = Mapping[str, Range | Choice]
"""By key, in the order of the command line."""


def choices(setting: str) -> list[str]:
    """Returns the settings ``key=value`` of ``key=value,value,…``; commas within brackets, braces and quotes do not separate."""
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise ConfigError(f"A setting is key=value or key=value,value,…, not {quoted(setting)}.")
    if key == "seed":
        raise ConfigError("The seeds of a sweep are given by --seeds and --first-seed, not by --set seed=….")
    values, depth, quote = [""], 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "[{") - (c in "]}")
        if c == "," and depth == 0 and not quote:
            values.append("")
        else:
            values[-1] += c
    return [f"{key}={value}" for value in values]


def check_given_once(settings: Sequence[str]) -> None:
    """Raises :class:`ConfigError` if two of the ``settings`` are of the same key."""
    keys = [setting.partition("=")[0] for setting in settings]
    for key in keys:
        if keys.count(key) > 1:
            raise ConfigError(f"A sweep takes each key once, and --set {key}=… is given twice.")


def is_range(setting: str) -> bool:
    """Returns whether the value of a setting looks like a range of numbers: not like a path, which may contain ``..`` too."""
    return _RANGE.fullmatch(setting.partition("=")[2]) is not None


def read_space(values: Mapping[str, Any], settings: Sequence[str]) -> tuple[dict[str, Any], Space]:
    """Returns ``values`` with the settings that have one value, and the space of the others.

    Raises :class:`ConfigError` for a range that is none of its key's type, for a space that is empty or changes what is measured,
    and for an end of a range or a value of a list with which there is no configuration.
    """
    options = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        options[key] = (choices(setting), text)
    check_given_once(settings)
    config = get_trainer(_algorithm(values, options)).Config
    hints = option_types(config)
    fixed, space = dict(values), dict[str, Range | Choice]()
    for key, (alternatives, text) in options.items():
        if (".." in text and hints.get(key) in (int, float)) or is_range(f"{key}={text}"):
            space[key] = _read_range(key, text, hints)
        elif len(alternatives) > 1:
            space[key] = Choice(tuple(alternative.partition("=")[2] for alternative in alternatives))
        else:
            fixed = apply_settings(fixed, alternatives)
            continue
        if key.partition(".")[0] in MEASURE_KEYS:
            raise ConfigError(f"A search compares edges, and {key!r} changes what an edge is: give it one value.")
        if isinstance(choice := space[key], Choice) and len(set(choice.texts)) < len(choice.texts):
            raise ConfigError(f"--set {key}={text} has a value twice.")
    if not space:
        raise ConfigError(
            "A search needs keys to vary: --set KEY=LOW..HIGH, --set KEY=LOW..HIGH,log, or a list, --set KEY=VALUE,VALUE."
        )
    _check_ends(fixed, space)
    return fixed, space


def _algorithm(values: Mapping[str, Any], options: Mapping[str, tuple[list[str], str]]) -> str:
    """Returns the trainer by which types are looked up: that of the first value."""
    if "algorithm" in options:
        return str(apply_settings({}, options["algorithm"][0][:1])["algorithm"])
    return str(values.get("algorithm", "ppo"))


def _read_range(key: str, text: str, hints: Mapping[str, Any]) -> Range:
    """Returns the range ``LOW..HIGH`` or ``LOW..HIGH,log`` of a key."""
    outer, dot, _ = key.partition(".")
    if outer not in hints or (key not in hints and any(name.startswith(outer + dot) for name in hints if name != outer)):
        raise ConfigError(choose_one("configuration key", key, hints))
    kind = hints.get(key)
    if kind not in (int, float):
        name = "settings of its own" if kind is None else getattr(kind, "__name__", kind) if kind in (bool, str) else kind
        raise ConfigError(f"A range is of numbers, and the key {key!r} takes {name}: list its values, --set {key}=VALUE,VALUE.")
    ends, comma, scale = text.partition(",")
    low, _, high = ends.partition("..")
    try:
        a, b = kind(low), kind(high)
    except ValueError:
        a = b = math.nan
    if math.isnan(a) or math.isnan(b) or (comma and scale.strip() != "log"):
        number = "a whole number" if kind is int else "a number"
        raise ConfigError(
            f"A range of {key!r} is LOW..HIGH, or LOW..HIGH,log for an even draw of the logarithm, each end {number}; "
            f"not {quoted(text)}."
        )
    if not a < b:
        raise ConfigError(f"The range {quoted(text)} of {key!r} should go from a lower number to a higher one.")
    if (kind is int and max(abs(a), abs(b)) > MOST) or not math.isfinite(b - a):
        raise ConfigError(f"The range {quoted(text)} of {key!r} is too wide" + (f": at most {MOST:,}." if kind is int else "."))
    if comma and a <= 0:
        raise ConfigError(f"A logarithmic range lies above 0, and the lower end of {key!r} is {a!r}.")
    return Range(a, b, bool(comma))


def _check_ends(fixed: Mapping[str, Any], space: Space) -> None:
    """Builds the configurations of both ends of each range and each value of a list, all other keys having their first."""
    first = {key: ends(one)[0] for key, one in space.items()}
    for key, one in space.items():
        for value in ends(one):
            configured(fixed, as_settings({**first, key: value}))


def ends(one: Range | Choice) -> list[Value]:
    """Returns the ends of a range or the values of a list."""
    return [one.low, one.high] if isinstance(one, Range) else [*one.texts]


def as_settings(values: Mapping[str, Value]) -> list[str]:
    """Returns the settings ``key=value`` of a trial."""
    return [f"{key}={value}" for key, value in values.items()]


def configured(values: Mapping[str, Any], settings: Sequence[str], seed: int = 0) -> BaseConfig:
    """Returns the configuration of a run; raises :class:`ConfigError` where there is none, or it is not evaluated."""
    given = {**apply_settings(values, settings), "seed": seed}
    config: BaseConfig = build(get_trainer(given.get("algorithm", "ppo")).Config, given)
    if not config.evaluates:
        raise ConfigError("A sweep compares edges, and these runs are not evaluated: set 'eval_every' and 'eval_deals'.")
    return config
