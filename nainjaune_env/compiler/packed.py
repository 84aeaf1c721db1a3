"""Named tuples of integers, such as the rules of a game, as one array.

A call of a compiled function from Python takes some 0.1 µs for each number in its tuples, and 0.1 µs for a whole array. For a
loop over one table, which takes less than a microsecond itself, the tuples would cost most of a call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import JIT_ENABLED, inlined


def pack(*values: tuple[Any, ...]) -> NDArray[np.int64]:
    """Returns all integers in these tuples, and in tuples within them, one after the other."""
    return np.array([*_flat(values)], np.int64)


def _flat(value: Any) -> Iterator[int]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def lengths(*values: tuple[Any, ...]) -> str:
    """Returns the lengths of the tuples within these: tuples of the same classes with the same lengths have one unpacker."""
    return ".".join(str(len(part)) for value in values for part in value if isinstance(part, tuple))


def packer(value: tuple[Any, ...]) -> Callable[[Any, Any], None]:
    """Returns the compiled function that writes a tuple like ``value`` to the front of an array, as :func:`pack` does."""

    def places(value: Any, name: str) -> Iterator[str]:
        if isinstance(value, tuple):
            for place, part in enumerate(value):
                yield from places(part, f"{name}[{place}]")
        else:
            yield name

    lines = [f"    numbers[{number}] = {name}\n" for number, name in enumerate(places(value, "value"))]
    made: dict[str, Any] = {}
    exec(f"def write(value, numbers):\n{''.join(lines)}", made)
    write: Callable[[Any, Any], None] = inlined(made["write"])
    return write


def unpacker(*values: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Returns the compiled function that makes tuples like ``values`` of the array of :func:`pack`."""
    classes: dict[str, Any] = {}
    number = itertools.count()

    def expression(value: Any) -> str:
        if not isinstance(value, tuple):
            return f"numbers[{next(number)}]"
        made_by = ""
        if hasattr(value, "_fields"):
            made_by = f"class_{len(classes)}"
            classes[made_by] = type(value)
        return f"{made_by}({''.join(f'{expression(part)}, ' for part in value)})"

    # a generated function, as numba knows the length of a tuple only where it is written out
    numbers = "numbers" if JIT_ENABLED else "numbers.tolist()"  # plain Python computes with Python's own integers
    source = f"def unpack(numbers):\n    numbers = {numbers}\n    return {expression(values)}\n"
    exec(source, classes)
    unpack: Callable[[Any], Any] = inlined(classes["unpack"])
    return unpack
