"""The random generator inside a table: SplitMix64, a few lines that give the same games on every backend.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The state is one
unsigned 64-bit number, the field ``rng`` of every table. All arithmetic stays in ``uint64``: numba
turns a mix of signed and unsigned 64-bit integers into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.jit import jit, wrapping

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


_TO_UNIT = 2.0**-53
_S11 = np.uint64(11)


@jit
def _fill_rows(states: Any, index: Any, out: Any) -> None:
    for k in range(index.size):
        for j in range(out.shape[1]):
            states[index[k]] = advance(states[index[k]])
            out[k, j] = (mix(states[index[k]]) >> _S11) * _TO_UNIT


class RowStreams:
    """A generator for each of K rows that is drawn from like one: row k of what is drawn comes from the row's own.

    What happens in a row then depends on its own generator alone, however many rows there are. The ``states`` (B,) uint64 at the
    places ``index (K,)``, none twice, move on in place.
    """

    def __init__(self, states: NDArray[np.uint64], index: NDArray[np.int64]) -> None:
        self._states = states
        self._index = index

    def random(self, size: int | tuple[int, ...]) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1) with 53 random bits, shape ``size``; raises :class:`ValueError` where its first is not K."""
        shape = size if isinstance(size, tuple) else (size,)
        rows = len(self._index)
        if shape[0] != rows:
            raise ValueError(f"Here is a generator for each of {rows} rows, so {rows} rows can be drawn, not {shape[0]}.")
        out = np.empty((rows, int(np.prod(shape[1:]))))
        _fill_rows(self._states, self._index, out)
        return out.reshape(shape)


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
