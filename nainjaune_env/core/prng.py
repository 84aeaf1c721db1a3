"""The random generator of a table: SplitMix64, which gives the same games on every backend.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The state is one unsigned 64-bit
number, the field ``rng`` of every table. All arithmetic is in ``uint64``, as numba turns mixed signed and unsigned 64-bit
integers into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import jit, wrapping

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)


def _mix(word: Any) -> Any:
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


mix = wrapping(_mix)
"""Returns SplitMix64's output for the state ``word``: a bijection of 64-bit words that scatters close ones."""


@wrapping
def advance(word: Any) -> Any:
    """Returns the state after ``word``."""
    return word + _GAMMA


@wrapping
def fork(word: Any) -> Any:
    """Returns the state of another generator, whose draws look independent of those that follow from the state ``word``."""
    return mix(mix(word ^ _MIX_1) + _MIX_2)


@jit
def next_word(table: Any) -> Any:
    """Returns the next 64 random bits (``uint64``) of ``table.rng``, and advances it."""
    table.rng = advance(table.rng)
    return mix(table.rng)


@jit
def below(table: Any, bound: Any) -> Any:
    """Returns an exactly uniform integer in ``0 .. bound-1`` (``int64``), for ``1 <= bound < 2**32``.

    Source: multiply-and-reject, Lemire, "Fast random integer generation in an interval", 2019.
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
def uniform(states: Any, i: Any) -> Any:
    """Returns the next number in [0, 1), with 53 random bits, of the generator ``states[i]``, which advances."""
    states[i] = advance(states[i])
    return (mix(states[i]) >> _S11) * _TO_UNIT


@jit
def _fill_rows(states: Any, index: Any, out: Any) -> None:
    for k in range(index.size):
        for j in range(out.shape[1]):
            out[k, j] = uniform(states, index[k])


class RowStreams:
    """K generators with the interface of one: row k of each draw comes from the generator ``states[index[k]]``.

    So what happens in a row does not depend on other rows. ``states (B,) uint64`` advance in place at ``index (K,)``, which has
    no duplicates.
    """

    def __init__(self, states: NDArray[np.uint64], index: NDArray[np.int64]) -> None:
        self._states = states
        self._index = index

    def random(self, size: int | tuple[int, ...]) -> NDArray[np.float64]:
        """Returns uniform numbers in [0, 1) with 53 random bits; raises ``ValueError`` unless the first axis of ``size`` is K."""
        shape = size if isinstance(size, tuple) else (size,)
        rows = len(self._index)
        if shape[0] != rows:
            raise ValueError(f"Expected a draw of {rows} rows, one for each generator, not of {shape[0]}.")
        out = np.empty((rows, int(np.prod(shape[1:]))))
        _fill_rows(self._states, self._index, out)
        return out.reshape(shape)


def streams(seed: int, count: int, stream: int = 0, *, first: int = 0) -> NDArray[np.uint64]:
    """Returns the generator states ``first .. first+count-1`` of ``seed`` and a ``stream`` number, ``(count,)``.

    State i depends on ``seed``, ``stream`` and i alone. Raises :class:`~nainjaune_env.core.errors.DealError` unless ``seed`` is a
    whole number from 0 to 2**64 - 1, ``stream`` one, and ``count`` and ``first`` are at least 0.
    """
    # only here: what all modules import, compiled code depends on
    from nainjaune_env.core.validation import check_seed, check_whole

    count, first = check_whole("The number of generators", count, 0), check_whole("The first generator", first, 0)
    stream = check_whole("A stream of a seed", stream)
    with np.errstate(over="ignore"):
        base = _mix(_mix(np.uint64(check_seed(seed))) + np.uint64(stream & 0xFFFFFFFFFFFFFFFF) * _MIX_2)
        # mixed again: states one gamma apart would give the same draws, shifted by one
        return np.asarray(_mix(base + np.arange(first + 1, first + count + 1, dtype=np.uint64) * _GAMMA))


def entropy() -> int:
    """Returns a seed from the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
