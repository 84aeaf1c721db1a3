"""Options as data: frozen dataclasses whose fields have a meaning and bounds, and choices ``{name, **arguments}``.

A choice is one of several classes of arguments by name, such as a network or an optimizer. It is written as a mapping, in YAML,
in checkpoints and in Python, and :class:`Choice` checks and completes it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nainjaune_env.core.errors import ConfigError, quoted, unknown_name_message
from nainjaune_env.core.validation import finite, whole

T = TypeVar("T")


def option(
    default: Any, meaning: str, *, low: float | None = None, high: float | None = None, choice: Choice | None = None
) -> Any:
    """Returns a dataclass field for an option: its default, its line of documentation and its bounds (inclusive).

    The bounds of a list hold for each of its items. The value of an option with a ``choice`` is ``{name, **arguments}``.
    :func:`check_options` enforces bounds and completes choices.
    """
    metadata = {"meaning": meaning, "low": low, "high": high, "choice": choice}
    if isinstance(default, list | dict):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Arguments:
    """What follows the ``name`` in a choice: a subclass has an :func:`option` for each argument."""

    def check(self) -> None:
        """Raises :class:`ConfigError` for arguments that do not go together; each is within its bounds."""


@dataclass(frozen=True)
class Choice:
    """What an option ``{name, **arguments}`` chooses among."""

    key: str
    """The name of the option."""
    names: Callable[[], Iterable[str]]
    arguments: Callable[[str], type[Arguments]]
    """Returns the dataclass of the arguments of one of ``names``."""

    def build(self, value: Any, default: Mapping[str, Any] | None = None) -> Any:
        """Returns the arguments in ``value``, an instance of their class; a missing one is taken from ``default``, if it has it.

        Raises :class:`ConfigError` for an unknown name or argument, and for a value of the wrong type or out of bounds.
        """
        default = default or {}
        if not isinstance(value, Mapping):
            raise ConfigError(f"The configuration key {self.key!r} takes {{name: …, arguments}}, not {quoted(value)}.")
        given = dict(value)
        name = given.pop("name", default.get("name"))
        names = list(self.names())
        if name not in names:
            raise ConfigError(unknown_name_message(self.key, name, names))
        cls = self.arguments(name)
        known = {f.name for f in dataclasses.fields(cls)}
        inherited = {key: argument for key, argument in default.items() if key in known}
        arguments = build(cls, {**inherited, **given}, prefix=f"{self.key}.")
        check_options(arguments, f"{self.key}.")
        arguments.check()
        return arguments

    def complete(self, value: Any, default: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns ``value`` with its name and all its arguments, as :meth:`build` takes them."""
        arguments = self.build(value, default)
        return {"name": value.get("name", (default or {}).get("name")), **dataclasses.asdict(arguments)}


def check_options(options: Any, prefix: str = "") -> None:
    """Completes the choices of a dataclass; raises :class:`ConfigError` for the first value that is outside its bounds."""
    for f in dataclasses.fields(options):
        value = getattr(options, f.name)
        if choice := f.metadata.get("choice"):
            object.__setattr__(options, f.name, choice.complete(value, default_of(f)))
            continue
        items = value if isinstance(value, list) else [value]
        for bound, within in (("low", "at least"), ("high", "at most")):
            limit = f.metadata[bound]
            if limit is not None and any(item < limit if bound == "low" else item > limit for item in items):
                raise ConfigError(f"The configuration key {prefix + f.name!r} is {within} {limit}, and it is {quoted(value)}.")


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Returns the default of an option; a choice has all its arguments."""
    value = field.default_factory() if callable(field.default_factory) else field.default
    choice = field.metadata.get("choice")
    return choice.complete(value) if choice else value


def defaults(cls: type[Any]) -> dict[str, Any]:
    """Returns the default of every option of a class."""
    return {f.name: default_of(f) for f in dataclasses.fields(cls)}


def option_types(cls: type[Any]) -> dict[str, Any]:
    """Returns the type of every option of a class by its name; arguments of choices are named ``option.argument``."""
    types_by_name = typing.get_type_hints(cls)
    hints = {f.name: types_by_name[f.name] for f in dataclasses.fields(cls)}
    for f in dataclasses.fields(cls):
        choice: Choice | None = f.metadata.get("choice")
        if choice is None:
            continue
        for name in choice.names():
            hints |= {f"{f.name}.{key}": hint for key, hint in option_types(choice.arguments(name)).items()}
    return hints


def build(cls: type[T], values: Mapping[str, Any], *, prefix: str = "") -> T:
    """Returns an instance of ``cls`` with ``values``; ``prefix`` goes before names in messages.

    Raises :class:`ConfigError` for an unknown option or a value of the wrong type.
    """
    hints = typing.get_type_hints(cls)
    names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    converted = {}
    for key, value in values.items():
        if key not in names:
            known = [prefix + name for name in names]
            raise ConfigError(unknown_name_message("configuration key", f"{prefix}{key}" if isinstance(key, str) else key, known))
        converted[key] = _number(value) if hints[key] is float else value
        if not has_type(converted[key], hints[key]):
            raise ConfigError(f"The configuration key {prefix + key!r} takes {type_name(hints[key])}, not {quoted(value)}.")
    return cls(**converted)


def described(cls: type[Any]) -> list[tuple[str, Any, str]]:
    """Returns every option of a class with its default and its meaning; after a choice, the arguments of each of its names."""
    rows: list[tuple[str, Any, str]] = []
    for f in dataclasses.fields(cls):
        rows.append((f.name, default_of(f), f.metadata["meaning"]))
        choice: Choice | None = f.metadata.get("choice")
        if choice is None:
            continue
        names: dict[tuple[str, str, str], list[str]] = {}
        for name in choice.names():
            for key, default, meaning in described(choice.arguments(name)):
                names.setdefault((f"{f.name}.{key}", repr(default), meaning), []).append(name)
        rows += [(key, default, f"{', '.join(having)}: {meaning}") for (key, default, meaning), having in names.items()]
    return rows


def _number(value: Any) -> Any:
    """Returns ``value`` as a float if it can be read as one: YAML reads ``1e-3`` as text and only ``1.0e-3`` as a number."""
    if isinstance(value, bool):
        return value
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def has_type(value: object, hint: Any) -> bool:
    """Returns whether ``value`` is of the type ``hint``; a bool is no number, and numbers are finite."""
    origin, of = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return any(has_type(value, part) for part in of)
    if origin is typing.Literal:
        return isinstance(value, str) and value in of
    if origin is list and isinstance(value, list):
        return all(has_type(item, of[0]) for item in value)
    if origin is tuple and isinstance(value, tuple):
        kinds = of[:1] * len(value) if of[-1] is Ellipsis else of
        return len(kinds) == len(value) and all(map(has_type, value, kinds))
    if hint is int:
        return whole(value) is not None
    if hint is float:
        return finite(value) is not None
    return isinstance(value, origin or hint)


_WORDS = {
    int: "a whole number", float: "a finite number", bool: "true or false", str: "a text", dict: "keys and values",
    types.NoneType: "null",
}  # fmt: skip
_LISTED = {int: "whole numbers", float: "finite numbers", str: "texts", dict: "keys and values"}


def type_name(hint: Any) -> str:
    """Returns what a value of the type ``hint`` is, in words."""
    origin, of = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(map(type_name, of))
    if origin is list:
        item = typing.get_origin(of[0]) or of[0]
        return f"a list of {_LISTED.get(item, type_name(of[0]))}"
    return _WORDS.get(origin or hint, str(hint))
