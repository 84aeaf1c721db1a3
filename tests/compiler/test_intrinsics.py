"""Instructions of the processor in compiled code."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_env.compiler.intrinsic_code import processor_has
from nainjaune_env.compiler.jit import JIT_ENABLED, jit
from nainjaune_env.core.bits import nth_lowest, write_counts, write_word

WORD = np.int64(-0x7EDCBA9876543211)

compiled_only = pytest.mark.skipif(not JIT_ENABLED, reason="plain Python has no instructions of its own")


@jit
def write(out: Any, at: Any, word: Any) -> None:
    write_word(out, at, word)


@pytest.mark.parametrize("at", range(9))
@pytest.mark.parametrize("kind", [np.uint8, np.bool_])
def test_a_word_is_written_as_bytes_at_any_address(at: int, kind: type) -> None:
    word = WORD if kind is np.uint8 else np.int64(0x0100_0001_0101_0001)
    out = np.zeros(17, kind)
    write(out, at, word)
    assert out.tobytes() == bytes(at) + int(word).to_bytes(8, "little", signed=True) + bytes(9 - at)


def compiled_anew(function: Any) -> Any:
    """Returns the function compiled without the cache on the disk, which does not keep what can be inspected."""
    return numba.njit(error_model="numpy", _nrt=False)(function.py_func)


@compiled_only
def test_a_word_is_one_store() -> None:
    """The compiler makes eight of the loop in ``write_word``, which took as long as half an observation."""
    function = compiled_anew(write)
    function(np.zeros(8, np.uint8), 0, WORD)
    code = "".join(function.inspect_llvm().values())
    assert "store i64" in code
    assert "store i8 " not in code  # a byte; older LLVM stores pointers as "store i8* "


@jit
def write_how_many(out: Any, at: Any, a: Any, b: Any, c: Any) -> None:
    write_counts(out, at, (a, b, c))


@settings(deadline=None)
@given(at=st.integers(0, 8), words=st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 3))
def test_counts_are_those_of_the_lowest_sixteen_bits_at_any_address(at: int, words: tuple[int, int, int]) -> None:
    out = np.full(26, 7, np.uint8)
    write_how_many(out, at, *map(np.int64, words))
    counts = [sum(word >> bit & 1 for word in words) for bit in range(16)]
    assert out.tolist() == [7] * at + counts + [7] * (10 - at)


@compiled_only
@pytest.mark.skipif(JIT_ENABLED and not processor_has("sse2"), reason="the processor is of another kind")
def test_counts_are_one_store() -> None:
    function = compiled_anew(write_how_many)
    function(np.zeros(16, np.uint8), 0, WORD, WORD, WORD)
    code = "".join(function.inspect_llvm().values())
    assert "store <16 x i8>" in code
    assert "store i64" not in code


@jit
def find(word: Any, n: Any) -> Any:
    return nth_lowest(word, n)


def test_every_bit_of_a_word_is_found() -> None:
    bits = (0, 1, 3, 40, 61, 62)
    word = np.int64(sum(1 << bit for bit in bits))
    assert tuple(int(find(word, np.int64(n))) for n in range(len(bits))) == bits


@compiled_only
@pytest.mark.skipif(JIT_ENABLED and not processor_has("bmi2"), reason="the processor has no instruction for it")
def test_a_bit_is_found_without_a_loop() -> None:
    """The number of rounds cannot be predicted, which took as long as the rest of a random choice."""
    function = compiled_anew(find)
    function(np.int64(6), np.int64(1))
    assert any("pdep" in code for code in function.inspect_llvm().values())


@compiled_only
def test_features_are_those_that_numba_compiles_for() -> None:
    assert not processor_has("no-such-feature")
