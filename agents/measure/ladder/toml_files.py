"""TOML files with exactly the keys that are known, each of its type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import ConfigError, as_sentence, quoted, unknown_name_message

MAX_BYTES = 1 << 16
"""Of a file: many times what an entry has."""
_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table", float: "a number"}


def read_toml(path: Path, what: str, required: Mapping[str, type], optional: Mapping[str, type]) -> dict[str, Any]:
    """Returns the values of the file ``path``, which is ``what``: all ``required`` keys, and no others but the ``optional`` ones.

    Raises :class:`ConfigError` where the file is missing, too long or no TOML (which also refuses a key that comes twice), and
    for an unknown or missing key and a value of another type. A whole number is also a number.
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError("it is no file")  # a pipe may wait for ever
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES} bytes")
        values = tomllib.loads(content.decode())
    except FileNotFoundError:
        raise ConfigError(f"There is no {what} at {str(path)!r}.") from None
    except (OSError, ValueError) as error:  # also what is no UTF-8, and no TOML
        raise ConfigError(f"{str(path)!r} is no {what} in TOML: {as_sentence(error)}") from None
    check_values(str(path), values, required, optional)
    return values


def check_values(where: str, values: Mapping[str, Any], required: Mapping[str, type], optional: Mapping[str, type]) -> None:
    """Raises :class:`ConfigError`, beginning with ``where``, for values with other keys or types."""
    kinds = {**required, **optional}
    for key, value in values.items():
        if key not in kinds:
            raise ConfigError(f"{where}: {unknown_name_message('key', key, kinds)}")
        kind = kinds[key]
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise ConfigError(f"{where}: {key!r} is {_WORDS[kind]}, not {quoted(value)}.")
        if isinstance(value, str) and (not value.strip() or not value.isprintable()):
            raise ConfigError(f"{where}: {key!r} is one line of text, not {quoted(value)}.")
    for key in required:
        if key not in values:
            raise ConfigError(f"{where}: the key {key!r} is missing; there are {', '.join(values) or 'none'}.")
