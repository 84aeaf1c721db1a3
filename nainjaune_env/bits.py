"""Words as sets of bits."""

from __future__ import annotations

from typing import Any

from nainjaune_env.jit import inlined


@inlined
def count(word: Any) -> Any:
    """How many bits of ``word`` are set. The compiler knows the loop: it becomes one instruction."""
    number = 0
    while word:
        word &= word - 1
        number += 1
    return number


@inlined
def lowest(word: Any) -> Any:
    """The number of the lowest bit that is set in a ``word`` that is not 0."""
    return count((word & -word) - 1)
