"""Configurations: frozen dataclasses, read from YAML that holds only what differs, and from ``--set key=value``."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml

from nainjaune_env.core.errors import ConfigError, RulesError, choose_one
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup

C = TypeVar("C")


WHERE = frozenset({"device"})
"""Keys that say where a run computes and not what: it may be gone on with elsewhere."""


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The keys in which two configurations differ so that one run cannot be gone on with as the other."""
    return sorted(key for key in (one.keys() | other.keys()) - WHERE if one.get(key) != other.get(key))


def option(default: Any, meaning: str) -> Any:
    """A field of a configuration, with its line of documentation."""
    if isinstance(default, list | dict):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata={"meaning": meaning})
    return dataclasses.field(default=default, metadata={"meaning": meaning})


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; raises :class:`ConfigError` where the file is missing or holds something else."""
    if not path.is_file():
        raise ConfigError(f"There is no configuration at {str(path)!r}.")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{str(path)!r} is not YAML: {error}") from None
    if values is None:  # nothing in it but comments: nothing differs
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{str(path)!r} should hold keys and values, and holds {type(values).__name__}.")
    return values


def apply_settings(values: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """``values`` with settings ``key=value`` over them; the value is YAML, and ``rules.decline=never`` sets inside a mapping."""
    result = dict(values)
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ConfigError(f"A setting is key=value, not {setting!r}.")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"The value in {setting!r} is not YAML: {error}") from None
        outer, dot, inner = key.partition(".")
        if dot:
            within = result.get(outer, {})
            if not isinstance(within, dict):
                raise ConfigError(f"{outer!r} holds {within!r}, so {key!r} cannot be set inside it.")
            result[outer] = {**within, inner: value}
        else:
            result[key] = value
    return result


def build(cls: type[C], values: Mapping[str, Any]) -> C:
    """A configuration from its values; raises :class:`ConfigError` for an unknown key or a value of the wrong type."""
    hints = typing.get_type_hints(cls)
    names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    fitting = {}
    for key, value in values.items():
        if key not in names:
            raise ConfigError(choose_one("configuration key", key, names))
        fitting[key] = _number(value) if hints[key] is float else value
        if not _fits(fitting[key], hints[key]):
            raise ConfigError(f"The configuration key {key!r} takes {_type_name(hints[key])}, not {value!r}.")
    return cls(**fitting)


def _number(value: Any) -> Any:
    """``value`` as a float if it says one. YAML takes ``1e-3`` for text: it wants ``1.0e-3``, as nobody writes it."""
    if isinstance(value, bool):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _fits(value: Any, hint: Any) -> bool:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return any(_fits(value, part) for part in typing.get_args(hint))
    if hint is float:
        return isinstance(value, float) and math.isfinite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if typing.get_origin(hint) is list:
        return isinstance(value, list) and all(_fits(item, typing.get_args(hint)[0]) for item in value)
    return isinstance(value, typing.get_origin(hint) or hint)


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def settle(game: str, preset: str | None, players: int | None, knobs: Mapping[str, Any]) -> Setup:
    """The setup with ``knobs`` over the preset; raises :class:`~nainjaune_env.core.errors.RulesError` as ``make_setup`` does.

    Knobs from a file go through here: as keyword arguments, one called ``preset`` would be a Python error.
    """
    setup = make_setup(game, preset, players)
    names = setup.rules.names()
    for name in knobs:
        if name not in names:
            raise RulesError(choose_one("knob", name, names))
    return dataclasses.replace(setup, rules=setup.rules.replace(**knobs))


def at_least(config: Any, **least: float) -> None:
    """Raises :class:`ConfigError` where a value of ``config`` is below the one given for its key."""
    for key, low in least.items():
        if getattr(config, key) < low:
            raise ConfigError(f"The configuration key {key!r} is at least {low}, and it is {getattr(config, key)}.")


def at_most(config: Any, **most: float) -> None:
    """Raises :class:`ConfigError` where a value of ``config`` is above the one given for its key."""
    for key, high in most.items():
        if getattr(config, key) > high:
            raise ConfigError(f"The configuration key {key!r} is at most {high}, and it is {getattr(config, key)}.")


def options(cls: type[Any]) -> list[tuple[str, Any, str]]:
    """Every key of a configuration with its default and its meaning."""
    rows = []
    for f in dataclasses.fields(cls):
        default = f.default_factory() if callable(f.default_factory) else f.default
        rows.append((f.name, default, f.metadata["meaning"]))
    return rows


def describe(cls: type[Any]) -> str:
    """The table of keys for ``--keys``: key, default, meaning."""
    return "\n".join(f"  {name:20} {default!s:14} {meaning}" for name, default, meaning in options(cls))
