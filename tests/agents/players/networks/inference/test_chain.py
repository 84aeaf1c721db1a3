"""Chains of layers: the outputs of matrix products, each row's bits by itself, in compiled code and in plain Python."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.networks.inference.chain import ROWS, UNITS, WORD, Chain, Layer, find_nonzero, sum_block
from nainjaune_env.compiler.jit import JIT_ENABLED, jit


def layers(*widths: int, seed: int = 1) -> list[Layer]:
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(after, before)).astype(np.float32), rng.normal(size=after).astype(np.float32))
        for before, after in pairwise(widths)
    ]


def inputs(rows: int, size: int, dtype: type = np.uint8, seed: int = 2) -> NDArray[Any]:
    """Half of them are 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, (rows, size)) if dtype is np.uint8 else rng.normal(size=(rows, size))
    return np.where(rng.random((rows, size)) < 0.5, values, 0).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("widths", [(5, 3), (7, UNITS, 1), (70, 2 * UNITS + 1, UNITS - 1, 30)], ids=str)
def test_outputs_are_those_of_matrix_products(widths: tuple[int, ...], relu: bool, dtype: type) -> None:
    parts, x = layers(*widths), inputs(2 * ROWS + 5, widths[0], dtype)
    expected = x.astype(np.float64)
    for number, (weight, bias) in enumerate(parts):
        expected = expected @ weight.T + bias
        if relu or number < len(parts) - 1:
            expected = np.maximum(expected, 0)
    found = Chain(parts, relu=relu)(x)
    assert (found.shape, found.dtype) == (expected.shape, np.float32)
    assert np.abs(found - expected).max() < 1e-6 * max(np.abs(expected).max(), 1)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_has_the_same_bits_whatever_is_computed_with_it(threads: int) -> None:
    chain, x = Chain(layers(40, 65, 9)), inputs(4 * ROWS + 3, 40)
    whole = chain(x)
    assert chain(x, threads).tobytes() == whole.tobytes()
    for begin, end in ((0, 0), (0, 1), (3, 4), (5, 7), (1, ROWS + 2), (7, 3 * ROWS)):
        assert chain(x[begin:end], threads).tobytes() == whole[begin:end].tobytes()


def test_any_kind_of_array_and_no_other_shape() -> None:
    chain, x = Chain(layers(6, 4)), inputs(10, 12)
    expected = chain(np.ascontiguousarray(x[::2, ::2]))
    assert np.array_equal(chain(x[::2, ::2]), expected)
    fixed = np.ascontiguousarray(x[::2, ::2])
    fixed.flags.writeable = False
    assert np.array_equal(chain(fixed), expected)
    with pytest.raises(ValueError, match=r"expected an array of shape \(K, 6\), not \(10, 12\)"):
        chain(x)


@jit
def sum_compiled(*given: Any) -> None:
    sum_block(*given)


@pytest.mark.skipif(not JIT_ENABLED, reason="plain Python has no instructions of its own")
@pytest.mark.parametrize("relu", [False, True])
def test_registers_hold_what_plain_python_adds_up(relu: bool) -> None:
    """To the last bit, at rows and units that begin anywhere."""
    rng = np.random.default_rng(3)
    weight, bias = (rng.normal(size=size).astype(np.float32) for size in (9 * UNITS, 2 * UNITS))
    pairs, index = rng.normal(size=10).astype(np.float32), np.array([0, 3, 1, 7, 2], np.int32)
    found, expected = (np.zeros(5 * UNITS, np.float32) for _ in range(2))
    given = (0, 3 * UNITS), bias, UNITS, weight, UNITS, pairs, index, 1, 5, relu
    sum_compiled(found, *given)
    sum_block.py_func(expected, *given)  # type: ignore[attr-defined]
    assert found.tobytes() == expected.tobytes()
    assert np.count_nonzero(expected) > UNITS // 2


@jit
def find_compiled(x: Any, row: Any, first: Any) -> Any:
    return find_nonzero(x, row, first)


@pytest.mark.skipif(not JIT_ENABLED, reason="plain Python has no instructions of its own")
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_one_comparison_finds_what_plain_python_does(dtype: type) -> None:
    """At rows and columns that begin anywhere; -0 is 0."""
    x = inputs(5, WORD + 7, dtype)
    if dtype is np.float32:
        x[:, ::3] *= np.float32(-1)
    found = [find_compiled(x, row, first) for row in range(5) for first in range(8)]
    assert found == [find_nonzero.py_func(x, row, first) for row in range(5) for first in range(8)]  # type: ignore[attr-defined]
    assert found == [sum(int(x[row, first + k] != 0) << k for k in range(WORD)) for row in range(5) for first in range(8)]
