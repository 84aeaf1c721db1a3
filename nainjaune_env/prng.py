"""The random generator inside a table: SplitMix64, a few lines that give the same games on every backend.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The state is one
unsigned 64-bit number, the field ``rng`` of every table. All arithmetic stays in ``uint64``: numba
turns a mix of signed and unsigned 64-bit integers into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.jit import jit, wrapping

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)


@wrapping
def mix(word: Any) -> Any:
    """SplitMix64's output function: a bijection of 64-bit words that scatters close ones."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@wrapping
def advance(word: Any) -> Any:
    """The state after ``word``."""
    return word + _GAMMA


@jit
def next_word(table: Any) -> Any:
    """The next 64 random bits (``uint64``) of ``table.rng``, which moves on."""
    table.rng = advance(table.rng)
    return mix(table.rng)


@jit
def below(table: Any, bound: Any) -> Any:
    """A uniform integer in ``0 .. bound-1`` (``int64``), exact, for ``1 <= bound < 2**32``.

    Multiply-and-reject: Lemire, "Fast random integer generation in an interval", 2019.
    """
    n = np.uint64(bound)
    product = (next_word(table) >> _S32) * n
    if product & _LOW_32 < n:
        least = (_TWO_32 - n) % n
        while product & _LOW_32 < least:
            product = (next_word(table) >> _S32) * n
    return np.int64(product >> _S32)


def streams(seed: int, count: int, stream: int = 0, *, first: int = 0) -> NDArray[np.uint64]:
    """Starting states for ``rng``, numbers ``first .. first+count-1`` of those drawn from ``seed`` and a ``stream`` number.

    Shape ``(count,)``. The i-th state depends on ``seed``, ``stream`` and i alone.
    """
    with np.errstate(over="ignore"):
        base = mix(mix(np.uint64(seed & 0xFFFFFFFFFFFFFFFF)) + np.uint64(stream & 0xFFFFFFFFFFFFFFFF) * _MIX_2)
        words = base + np.arange(first + 1, first + count + 1, dtype=np.uint64) * _GAMMA
        # mixed once more: bare steps of the gamma would make each stream its neighbour's, one draw later
        words = (words ^ (words >> _S30)) * _MIX_1
        words = (words ^ (words >> _S27)) * _MIX_2
        return np.asarray(words ^ (words >> _S31), dtype=np.uint64)
