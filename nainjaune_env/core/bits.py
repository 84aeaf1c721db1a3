"""Sets of small numbers as the bits of an integer, and bits written as the bytes of an observation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.intrinsics import nth_bit, store_counts, store_word
from nainjaune_env.compiler.jit import inlined, jit, replaced_by
from nainjaune_env.core.prng import below


@inlined
def count(word: Any) -> Any:
    """Returns the number of bits set in ``word``. The compiler turns this loop into one instruction."""
    number = 0
    while word:
        word &= word - 1
        number += 1
    return number


@inlined
def lowest(word: Any) -> Any:
    """Returns the number of the lowest bit set in ``word``, which is not 0."""
    return count((word & -word) - 1)


@inlined
def is_legal(legal_bits: Any, action: Any) -> Any:
    """Returns whether ``action``, any integer, is in the set ``legal_bits``."""
    return 0 <= action <= 62 and legal_bits >> action & 1 == 1


@inlined
def needs_decision(table: Any, rules: Any, legal_bits: Any) -> Any:
    """Returns whether there is more than one legal action: the function of a kernel (``core.kernel``) that has no other."""
    return legal_bits & (legal_bits - 1) != 0


def legal_actions(legal_bits: int) -> list[int]:
    """Returns the actions of the set ``legal_bits``, ascending."""
    return [action for action in range(63) if legal_bits >> action & 1]


def are_legal(legal: NDArray[np.int64], actions: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns whether each of ``actions (K,)``, any integers, is in its set of ``legal (K,)``; not for compiled code."""
    inside = np.empty(len(actions), np.bool_)
    _are_legal(np.ascontiguousarray(legal), np.ascontiguousarray(actions, np.int64), inside)  # beyond 63 bits: negative
    return inside


@jit
def _are_legal(legal: Any, actions: Any, inside: Any) -> None:
    for k in range(inside.size):
        inside[k] = is_legal(legal[k], actions[k])


@replaced_by(nth_bit, feature="bmi2")  # the loop's end cannot be predicted
def nth_lowest(word: Any, n: Any) -> Any:
    """Returns the number of the ``n``-th lowest bit set in ``word``, from 0; ``word`` has more than ``n`` bits set."""
    for _ in range(n):
        word &= word - 1
    return lowest(word)


@inlined
def random_bit(table: Any, word: Any) -> Any:
    """Returns the number of a uniformly random bit set in ``word``, which is not 0; drawn from ``table.rng``."""
    return nth_lowest(word, below(table, count(word)))


SPREAD = np.array([sum((bits >> i & 1) << 8 * i for i in range(8)) for bits in range(256)], np.int64)
"""``(256,) int64``: 8 bits as 8 bytes of 0 or 1, lowest first. The sum of a few entries has a count in each byte."""


@replaced_by(store_word)  # one store; the compiler does not turn this loop into one
def write_word(out: Any, at: Any, word: Any) -> None:
    """Writes the eight bytes of ``word`` from ``out[at]``, an array of bytes, lowest first."""
    for i in range(8):
        out[at + i] = word >> 8 * i & 255


@replaced_by(store_counts, feature="sse2")  # on x86; on processors of other kinds it was not timed
def write_counts(out: Any, at: Any, words: Any) -> None:
    """Writes 16 bytes from ``out[at]``: byte i says how many of ``words``, a tuple, have bit i set."""
    spread = SPREAD  # each mention of the global would be a copy in the constant memory of a CUDA kernel
    low = high = np.int64(0)
    for word in words:
        low += spread[word & 255]
        high += spread[word >> 8 & 255]
    write_word(out, at, low)
    write_word(out, at + 8, high)


@inlined
def write_flags(out: Any, at: Any, count: Any, bits: Any) -> Any:
    """Writes the lowest ``count`` of ``bits``, at most 16, a byte each, from ``out[at]``; returns the index after the last.

    Bytes are written in groups of eight, which may overwrite those after the last one: write these later.
    """
    if count > 8:
        write_counts(out, at, (bits,))
    else:
        write_word(out, at, SPREAD[bits & 255])
    return at + count
