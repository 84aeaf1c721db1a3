"""Words as sets of bits, and bits written out as the bytes of an observation."""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.jit import inlined


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


SPREAD = np.array([sum((bits >> i & 1) << 8 * i for i in range(8)) for bits in range(256)], np.int64)
"""By 8 bits: the same with a byte for each, lowest first. Sums of a few are counts."""


@inlined
def write_word(out: Any, at: Any, word: Any) -> None:
    """Eight bytes, lowest first, from ``out[at]``: the compiler makes one store of them, and stores are what takes time."""
    for i in range(8):
        out[at + i] = word >> 8 * i & 255


@inlined
def write_flags(out: Any, at: Any, count: Any, bits: Any) -> Any:
    """The lowest ``count`` bits, at most 16, a byte each, from ``out[at]``; gives the end.

    Whole words are written, past the end too: what stands there comes later.
    """
    spread = SPREAD  # named once: each mention would be a copy in the constant memory of a CUDA kernel
    write_word(out, at, spread[bits & 255])
    if count > 8:
        write_word(out, at + 8, spread[bits >> 8 & 255])
    return at + count
