"""Checks of values from outside: each returns the value or raises, and none repairs it."""

from __future__ import annotations

import json
import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import (
    DealError,
    NainJauneError,
    RecordError,
    RulesError,
    as_sentence,
    quoted,
    unknown_name_message,
)

MAX_SEED = (1 << 64) - 1
"""The largest seed: the state of a generator is 64 bits."""
MAX_THREADS = 1024
"""The most threads that step tables or compute networks."""


BOOLS = (bool, np.bool_)


def whole(given: Any) -> int | None:
    """Returns ``given``, a Python or NumPy integer, as an ``int``; None if it is anything else, such as a bool."""
    if isinstance(given, BOOLS):  # True would be 1
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def finite(given: Any) -> float | None:
    """Returns ``given``, a finite Python or NumPy number, as a ``float``; None if it is anything else, such as a bool."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def check_flag(what: str, given: object) -> bool:
    """Returns ``given`` as a Python ``bool``; raises :class:`RulesError` unless it is one, of Python or NumPy."""
    if not isinstance(given, bool | np.bool_):
        raise RulesError(f"{what} is True or False, not {quoted(given)}.")
    return bool(given)


def check_viewer(what: str, given: object, players: int, error: type[NainJauneError] = DealError) -> int | None:
    """Returns ``given``, a seat or None, as an ``int`` or None; raises ``error`` unless one of the ``players`` has that seat."""
    seat = whole(given)
    if given is not None and (seat is None or not 0 <= seat < players):
        raise error(f"{what} is a seat from 0 to {players - 1}, or None for a spectator, not {quoted(given)}.")
    return seat


def check_whole(what: str, given: object, low: int | None = None, high: int | None = None) -> int:
    """Returns ``given`` as an ``int``; raises :class:`DealError` unless it is whole and from ``low`` to ``high``, if given."""
    number = whole(given)
    if number is None:
        raise DealError(f"{what} is a whole number, not {quoted(given)}.")
    if (low is not None and number < low) or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
        raise DealError(f"{what} is {bounds}, not {quoted(number)}.")
    return number


def check_seed(given: Any) -> int:
    """Returns ``given`` as an ``int`` if it is a whole number from 0 to ``MAX_SEED``; raises :class:`DealError` otherwise."""
    seed = whole(given)
    if seed is None or not 0 <= seed <= MAX_SEED:
        raise DealError(f"A seed is a whole number from 0 to {MAX_SEED}, not {quoted(given)}.")
    return seed


def as_array(refusal: str, given: Any, error: type[NainJauneError] = DealError) -> NDArray[Any]:
    """Returns ``given`` as an array; raises ``error``, the sentence ``refusal`` with ``given`` at its end, for ragged lists."""
    try:
        return np.asarray(given)
    except ValueError:
        raise error(f"{refusal} {quoted(given)}.") from None


def read_json(path: Path, what: str, error: type[NainJauneError]) -> Any:
    """Returns the JSON in the file ``path``, which is ``what``.

    Raises ``error`` if there is none, it is incomplete, or an object in it has a key twice.
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is no file")  # a device may have no end
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=distinct_keys)
    except FileNotFoundError:
        raise error(f"There is no {what} at {str(path)!r}.") from None
    except (OSError, ValueError, RecursionError) as reason:
        raise error(f"{str(path)!r} is not a {what}: {as_sentence(reason)}") from None


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON; raises :class:`RecordError` for a key that comes twice: ``json`` would keep the last one."""
    content = dict(pairs)
    if len(content) != len(pairs):
        key, count = Counter(key for key, _ in pairs).most_common(1)[0]
        raise RecordError(f"Expected each key once, and {quoted(key)} comes {count} times.")
    return content


def identical(given: object, expected: object) -> bool:
    """Returns whether the values are equal and of equal types, in nested lists too: 1, 1.0 and True differ in a record."""
    if type(given) is not type(expected):
        return False
    if isinstance(given, list) and isinstance(expected, list):
        return len(given) == len(expected) and all(map(identical, given, expected))
    return given == expected


def check_name(what: str, given: object, allowed: Iterable[str]) -> str:
    """Returns ``given`` if it is one of the names ``allowed``; raises :class:`RulesError`, which lists them, otherwise."""
    names = list(allowed)
    if not isinstance(given, str) or given not in names:  # lists have no hash, arrays no single truth value
        raise RulesError(unknown_name_message(what, given, names))
    return given


def check_equal(where: str, name: str, given: object, expected: object) -> None:
    """Raises :class:`RecordError` unless ``given`` is :func:`identical` to ``expected``."""
    if not identical(given, expected):
        raise RecordError(f"{where}: expected {name!r} to be {quoted(expected)}, and it is {quoted(given)}.")


def check_keys(where: str, given: object, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Returns ``given`` if it is an object with all ``required`` keys and no others but the ``optional`` ones.

    Raises :class:`RecordError` naming the first missing or unknown key.
    """
    if not isinstance(given, Mapping):
        raise RecordError(f"{where}: expected an object with the keys {', '.join(required)}, not {quoted(given)}.")
    for key in given:
        if key not in required and key not in optional:
            raise RecordError(f"{where}: {unknown_name_message('key', key, (*required, *optional))}")
    for key in required:
        if key not in given:
            raise RecordError(f"{where}: the key {key!r} is missing; there are {', '.join(given) or 'none'}.")
    return given


def check_list(where: str, name: str, given: object, of: type, length: int | None = None, *, items: bool = True) -> list[Any]:
    """Returns ``given`` if it is a list of ``length`` items (None: any number), all exactly of the type ``of``.

    Without ``items`` the caller checks them, to name the one that is wrong. Raises :class:`RecordError` otherwise; a bool is not
    an ``int`` here.
    """
    if isinstance(given, list) and length in (None, len(given)) and (not items or all(type(item) is of for item in given)):
        return given
    size = "" if length is None else f"{length} "
    raise RecordError(f"{where}: expected {name!r} to be a list of {size}{_PLURAL[of]}, not {quoted(given)}.")


_PLURAL = {int: "whole numbers", str: "texts", list: "lists", dict: "objects"}
