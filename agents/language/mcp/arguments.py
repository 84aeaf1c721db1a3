"""What is wrong with a call of a tool, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from nainjaune_env.core.errors import ConfigError, quoted, unknown_name_message


def check_names(tool: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raises :class:`ConfigError` for an argument that the tool does not have: the SDK would ignore it."""
    for name in given:
        if name not in known:
            raise ConfigError(unknown_name_message(f"argument of {tool}", name, known))


def sentence_on(tool: str, error: ValidationError) -> str:
    """Returns what was expected of the first argument that does not fit, and what came."""
    first, *_ = error.errors(include_url=False, include_context=False)
    name = first["loc"][0]
    if first["type"] == "missing":
        return f"{tool} needs the argument {name!r}."
    expected = first["msg"].removeprefix("Input should be ").removeprefix("String should have ")
    return f"The argument {name!r} of {tool}: expected {expected[:1].lower()}{expected[1:]}, not {quoted(first['input'])}."
