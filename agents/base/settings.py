"""Settings as data: frozen structs with a type, bounds and a meaning beside each key, read strictly by msgspec.

    class Search(Settings):
        deals: Annotated[PositiveInt, "deals in which each move is tried"] = 500

    convert(Search, {"deals": 0}, "search.yaml")   # search.yaml: expected 'deals' to be a whole number, at least 1, not 0.

A key that takes one of several structs is written ``{name: mlp, …}``; what is left out of that is as in the default of the key,
the name too. Its type is a union of structs with ``tag_field="name"`` and a ``tag`` each, or a :class:`Choice`.
"""

from __future__ import annotations

import functools
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import NODEFAULT, Meta, Struct, structs

from nainjaune_env.core.errors import ConfigError, NainJauneError, quoted, unknown_name_message

T = TypeVar("T")

PositiveInt = Annotated[int, Meta(ge=1)]
NonNegativeInt = Annotated[int, Meta(ge=0)]
NonNegativeFloat = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


@functools.cache
def fields(kind: type[Struct]) -> tuple[structs.FieldInfo, ...]:
    """Returns the fields of a struct in order."""
    return structs.fields(kind)


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of settings. An instance that is made in Python is checked too; :class:`ConfigError` says what is wrong."""

    def __post_init__(self) -> None:
        for field in fields(type(self)):
            value = getattr(self, field.name)
            value = value.item() if isinstance(value, np.generic) else value  # a number of NumPy is one of Python
            read = functools.partial(choose, default=field.default) if _choice(field.type)[0] else convert
            value = read(field.type, value, type(self).__name__, key=field.encode_name)
            structs.force_setattr(self, field.name, value)  # as it is read from a file: 1 of a float is 1.0

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as plain values, as files have them; the name of a struct that was chosen comes first."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class Choice:
    """Base, beside :class:`Settings`, of structs of a key that takes any of them, where not all are imported beforehand."""

    __slots__ = ()

    @classmethod
    def names(cls) -> Sequence[str]:
        """Returns the tags."""
        raise NotImplementedError

    @classmethod
    def struct(cls, name: str) -> type[Struct]:
        """Returns the struct whose tag is ``name``, one of :meth:`names`."""
        raise NotImplementedError


def convert(kind: type[T], values: object, what: str, error: type[NainJauneError] = ConfigError, *, key: str = "") -> T:
    """Returns ``values``, as YAML and JSON have them, as a ``kind``: a struct, or any other type that msgspec knows.

    Raises ``error`` for the first key that is unknown or missing, or whose value is of another type or out of bounds: an int may
    stand for a float, a bool is no number, numbers are finite. The message begins with ``what`` has the values, as a file does;
    ``key`` is where they are in it. What a struct's ``__post_init__`` refuses by an error of this package is raised as it is.
    """
    completed = _with_choices(kind, values, what, error, key)
    for path, value in _leaves(completed):
        if isinstance(value, int | float) and not _is_finite(value):
            raise error(f"{what}: {_explained('', path, kind, completed, key)}")
    try:
        result: T = msgspec.convert(completed, kind)
    except msgspec.ValidationError as failure:
        if isinstance(failure.__cause__, NainJauneError):
            raise failure.__cause__ from None
        fault, _, where = str(failure).partition(" - at ")
        raise error(f"{what}: {_explained(fault, _steps(where), kind, completed, key)}") from None
    return result


def choose(
    hint: Any, value: object, what: str, error: type[NainJauneError] = ConfigError, *, key: str, default: object = None
) -> Any:
    """Returns the struct that ``value``, ``{name, **arguments}``, chooses; what it leaves out is as in the struct ``default``.

    ``hint`` is the type of the ``key``; errors are raised as by :func:`convert`.
    """
    if isinstance(value, Struct):
        return value
    if not isinstance(value, Mapping):
        raise error(f"{what}: expected {key!r} to be {{name: …, arguments}}, not {quoted(value)}.")
    names, struct = _choice(hint)
    usual = msgspec.to_builtins(default) if isinstance(default, Struct) else {}
    name = value.get("name", usual.get("name"))
    if name not in names:
        raise error(f"{what}: {unknown_name_message(key, name, names)}")
    kind = struct(name)
    inherited = {key: one for key, one in usual.items() if key in kind.__struct_encode_fields__}
    return convert(kind, {**inherited, **value, "name": name}, what, error, key=key)


def described(kind: type[Struct]) -> list[tuple[str, Any, str]]:
    """Returns every key with its default and its meaning; after a choice, the keys of each struct that can be chosen."""
    rows: list[tuple[str, Any, str]] = []
    for field in fields(kind):
        default = field.default if field.default_factory is NODEFAULT else field.default_factory()
        meaning = next((text for text in typing.get_args(field.type)[1:] if isinstance(text, str)), "")
        rows.append((field.encode_name, msgspec.to_builtins(default), meaning))
        names: dict[tuple[str, str, str], list[str]] = {}
        choices, struct = _choice(field.type)
        for name in choices:
            for key, usual, says in described(struct(name)):
                names.setdefault((f"{field.encode_name}.{key}", repr(usual), says), []).append(name)
        rows += [(key, usual, f"{', '.join(having)}: {says}") for (key, usual, says), having in names.items()]
    return rows


def _with_choices(kind: Any, values: object, what: str, error: type[NainJauneError], key: str) -> object:
    """Returns the ``values`` of a struct with those of its keys that are choices as structs."""
    if not isinstance(values, Mapping) or not _is(kind, Struct):
        return values
    chosen = {
        name: choose(field.type, values[name], what, error, key=_joined(key, name), default=field.default)
        for field in fields(kind)
        if (name := field.encode_name) in values and _choice(field.type)[0]
    }
    return {**values, **chosen}


# ---- types -------------------------------------------------------------------------------------------------------------


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _alternatives(hint: Any) -> Iterator[tuple[Any, list[Meta]]]:
    """Yields the types that a value may have by ``hint``, each with its bounds."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        for kind, metas in _alternatives(arguments[0]):
            yield kind, [*metas, *(meta for meta in arguments[1:] if isinstance(meta, Meta))]
    elif origin in (types.UnionType, typing.Union):
        for argument in arguments:
            yield from _alternatives(argument)
    else:
        yield hint, []


def _choice(hint: Any) -> tuple[Sequence[str], Callable[[str], type[Struct]]]:
    """Returns the names that a key of the type ``hint`` chooses by, none if it is no choice, and the struct of each."""
    named: dict[str, type[Struct]] = {}
    for kind, _ in _alternatives(hint):
        if _is(kind, Choice):
            return kind.names(), kind.struct
        if _is(kind, Struct) and kind.__struct_config__.tag_field == "name":
            named[kind.__struct_config__.tag] = kind
    return [*named], named.__getitem__


def _struct(hint: Any, value: object) -> Any:
    """Returns the struct that the mapping ``value`` is of by ``hint``: of several the one with its tag."""
    candidates = [kind for kind, _ in _alternatives(hint) if _is(kind, Struct)]
    for kind in candidates:
        config = kind.__struct_config__
        if len(candidates) == 1 or (isinstance(value, Mapping) and value.get(config.tag_field) == config.tag):
            return kind
    return None


def _inner(hint: Any, value: object, step: str | int) -> Any:
    """Returns the type of what is at ``step`` in ``value``, which is of the type ``hint``."""
    structure = _struct(hint, value)
    if structure is not None and step in structure.__struct_encode_fields__:
        return next(field.type for field in fields(structure) if field.encode_name == step)
    for kind, _ in _alternatives(hint):
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is dict:
            return arguments[1]
        if origin in (list, tuple):
            return arguments[0 if origin is list or arguments[-1] is Ellipsis else int(step)]
    tags = [kind.__struct_config__.tag for kind, _ in _alternatives(hint) if _is(kind, Struct)]
    return Literal[tuple(tags)] if tags else Any


# ---- sentences ---------------------------------------------------------------------------------------------------------


def _joined(key: str, step: str | int) -> str:
    """Returns the key at ``step`` in ``key``, as in ``arch.hidden[1]``."""
    return f"{key}[{step}]" if isinstance(step, int) else f"{key}.{step}".removeprefix(".")


def _leaves(value: object) -> Iterator[tuple[list[str | int], object]]:
    """Yields each value in nested lists and mappings with its path."""
    waiting: list[tuple[list[Any], object]] = [([], value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping | list | tuple):
            inner = [*(value.items() if isinstance(value, Mapping) else enumerate(value))]
            waiting += [([*path, step], one) for step, one in reversed(inner)]
        else:
            yield path, value


def _is_finite(number: float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:  # a whole number that no float holds
        return False


def _steps(where: str) -> list[str | int]:
    """Returns the path in a message of msgspec, such as ``$.arch.hidden[1]``; ``...`` is a key of a mapping."""
    steps = re.findall(r"\.([^.\[\]`]+)|\[(\d+|\.\.\.)\]", where)
    return [name or (int(index) if index.isdigit() else index) for name, index in steps]


def _explained(fault: str, path: Sequence[str | int], kind: Any, values: Any, key: str) -> str:
    """Returns the sentence for the ``fault`` that msgspec names at ``path`` in ``values``: what was expected and what came."""
    for step in path:
        if step == "..." and step not in values:
            step = next(name for name, one in values.items() if not _fits(one, _inner(kind, values, step)))
        kind, values, key = _inner(kind, values, step), values[step], _joined(key, step)
    if name := re.fullmatch(r"Object contains unknown field `(.*)`", fault, re.DOTALL):
        structure = _struct(kind, values)
        known = filter(None, (*structure.__struct_encode_fields__, structure.__struct_config__.tag_field))
        return unknown_name_message("key", _joined(key, name[1]), [_joined(key, one) for one in known])
    if name := re.fullmatch(r"Object missing required field `(.*)`", fault):
        return f"The key {_joined(key, name[1])!r} is missing."
    literals = [one for one, _ in _alternatives(kind) if one is not type(None)]
    names = [name for one in literals for name in typing.get_args(one)] if all(map(_is_literal, literals)) else []
    if names and isinstance(values, str):
        return unknown_name_message(key, values, names)
    if isinstance(values, Mapping) and (others := [name for name in values if not isinstance(name, str)]):
        return f"expected texts as keys{f' of {key!r}' if key else ''}, not {quoted(others[0])}."
    expected = _expected(kind) if fault or isinstance(values, int) else _WORDS[float]
    return f"expected {f'{key!r} to be ' if key else ''}{expected}, not {quoted(values)}."


def _is_literal(hint: Any) -> bool:
    return typing.get_origin(hint) is Literal


def _fits(value: object, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True


_WORDS = {int: "a whole number", float: "a finite number", bool: "true or false", str: "a text", type(None): "null"}


def _expected(hint: Any) -> str:
    """Returns what a value of the type ``hint`` is, in words."""
    words = dict.fromkeys(_words(kind, metas) for kind, metas in _alternatives(hint))
    return (", or " if any("," in word for word in [*words][:-1]) else " or ").join(words)


def _words(kind: Any, metas: Sequence[Meta]) -> str:
    """Returns what a value of the type ``kind`` with bounds is, in words."""
    if _is_literal(kind):
        return " or ".join(map(repr, typing.get_args(kind)))
    if form := next((meta.description for meta in metas if meta.pattern and meta.description), None):
        return form  # a regular expression in words
    origin, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
    words = "a list" if origin in (list, tuple, set, frozenset) else _WORDS.get(origin, "keys and values")
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        words = f"a list of {' and '.join(_expected(argument) for argument in arguments)}"
    bounds = {name: bound for meta in metas for name in _BOUNDS if (bound := getattr(meta, name)) is not None}
    if "ge" in bounds and "le" in bounds:
        return f"{words} from {bounds['ge']} to {bounds['le']}"
    limits = " and ".join(_BOUNDS[name].format(bound) for name, bound in bounds.items())
    return f"{words}, {limits}" if limits else words


_BOUNDS = {
    "ge": "at least {}", "gt": "above {}", "le": "at most {}", "lt": "below {}",
    "min_length": "at least {} long", "max_length": "at most {} long",
}  # fmt: skip
