"""Chains of linear layers with a ReLU between them, in compiled code that skips zeros.

Most bytes of an observation are 0, and so are most outputs of a ReLU in a trained network: 86 to 99 % in ``zoo:strong``.
A layer adds up the rows of weights whose inputs are not 0, for two decisions at a time, :data:`UNITS` outputs in registers.
Inputs come in the order of their numbers and no product is fused with a sum, so a decision's outputs are the same bits whatever
else is computed with it, and on every processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.intrinsics import UNITS, WORD, nonzero_bits, rows_of, sum_units
from nainjaune_env.compiler.jit import jit, replaced_by
from nainjaune_env.core.bits import lowest

ROWS = 64
"""Decisions that go through all layers together: their features stay in the processor's cache."""

LINE = 64
"""Bytes of a line of the cache."""

Layer = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Weight ``(outputs, inputs)`` and bias ``(outputs,)`` of a linear layer."""


@replaced_by(sum_units)
def sum_block(
    out: Any,
    rows: Any,
    bias: Any,
    unit: Any,
    weight: Any,
    block: Any,
    pairs: Any,
    index: Any,
    first: Any,
    last: Any,
    relu: Any,
) -> None:
    """Writes the outputs from ``unit`` on of a layer, :data:`UNITS` of them, at two ``rows`` of the flat array ``out``.

    Input ``index[k]`` of the two is ``pairs[2 * k]`` and ``pairs[2 * k + 1]``, for k from ``first`` to ``last``; other inputs are
    0. Its weights are ``UNITS`` numbers of the flat array ``weight``, the first input's from ``block`` on.
    """
    zero = np.float32(0)
    for j in range(unit, unit + UNITS):
        one, other = bias[j], bias[j]
        for k in range(first, last):
            factor = weight[block + index[k] * UNITS + j - unit]
            one += pairs[2 * k] * factor
            other += pairs[2 * k + 1] * factor
        out[rows[0] + j] = max(one, zero) if relu else one
        out[rows[1] + j] = max(other, zero) if relu else other


@replaced_by(nonzero_bits)
def find_nonzero(x: Any, row: Any, first: Any) -> Any:
    """Returns which of ``x[row, first : first + WORD]`` are not 0, as bits: bit k for ``first + k``."""
    bits = np.int64(0)
    for k in range(WORD):
        bits |= np.int64(x[row, first + k] != 0) << k
    return bits


@replaced_by(rows_of)  # numba's own reshape calls its library of C functions
def as_rows(flat: Any, count: Any, width: Any) -> Any:
    """Returns the first ``count * width`` items of ``flat (N,)`` as ``(count, width)``."""
    return flat[: count * width].reshape(count, width)


@jit
def _apply_layer(
    x: Any, first_row: Any, count: Any, layer: Any, weight: Any, bias: Any, relu: Any, scratch: Any, out: Any
) -> None:
    """Writes a layer's outputs for ``count`` rows of ``x``, padded to whole blocks, one after the other to the flat ``out``.

    ``layer``: inputs, padded outputs, and where its weights and biases begin.
    """
    inputs, width, first_weight, first_bias = layer
    pairs, index, ends = scratch
    kept = 0
    in_words = inputs - inputs % WORD
    for row in range(0, count, 2):
        one, other = first_row + row, first_row + min(row + 1, count - 1)
        for begin in range(0, in_words, WORD):
            bits = find_nonzero(x, one, begin) | find_nonzero(x, other, begin)
            while bits:
                i = begin + lowest(bits)
                bits &= bits - 1
                pairs[2 * kept] = x[one, i]
                pairs[2 * kept + 1] = x[other, i]
                index[kept] = i
                kept += 1
        for i in range(in_words, inputs):
            pairs[2 * kept] = x[one, i]
            pairs[2 * kept + 1] = x[other, i]
            index[kept] = i
            kept += (x[one, i] != 0) | (x[other, i] != 0)  # without a branch, which could not be predicted
        ends[row] = kept
    biases = bias[first_bias : first_bias + width]
    for unit in range(0, width, UNITS):
        first = 0
        for row in range(0, count, 2):
            rows = (row * width, min(row + 1, count - 1) * width)
            block = first_weight + unit * inputs
            sum_block(out, rows, biases, unit, weight, block, pairs, index, first, ends[row], relu)
            first = ends[row]


@jit
def _apply_chain(x: Any, layers: Any, weight: Any, bias: Any, relu: Any, scratch: Any, features: Any, out: Any) -> None:
    """Writes the outputs of the last of ``layers (L, 4)`` to ``out (K, outputs)``, for ``x (K, inputs)``."""
    last = layers.shape[0] - 1
    for first_row in range(0, x.shape[0], ROWS):
        count = min(ROWS, x.shape[0] - first_row)
        for k in range(last + 1):
            inputs, width, first_weight, first_bias = layers[k, 0], layers[k, 1], layers[k, 2], layers[k, 3]
            layer = (inputs, width, first_weight, first_bias)
            after = features[k % 2]
            if k == 0:
                _apply_layer(x, first_row, count, layer, weight, bias, relu or k < last, scratch, after)
            else:
                before = as_rows(features[(k + 1) % 2], count, layers[k - 1, 1])
                _apply_layer(before, 0, count, layer, weight, bias, relu or k < last, scratch, after)
        width = layers[last, 1]
        for row in range(count):
            for j in range(out.shape[1]):
                out[first_row + row, j] = features[last % 2, row * width + j]


class Chain:
    """Linear layers, a ReLU after each but the last; with ``relu`` after the last too."""

    def __init__(self, layers: Sequence[Layer], *, relu: bool = False) -> None:
        self._relu = relu
        self._inputs, self.outputs = layers[0][0].shape[1], len(layers[-1][1])
        padded = [-(-len(bias) // UNITS) * UNITS for _, bias in layers]
        self._widest = max(padded)
        self._most_inputs = max(weight.shape[1] for weight, _ in layers)
        table = np.zeros((len(layers), 4), np.int64)
        weights, biases, begun = [], [], np.zeros(2, np.int64)
        for number, ((weight, bias), width) in enumerate(zip(layers, padded, strict=True)):
            outputs, inputs = weight.shape
            table[number] = inputs, width, *begun
            blocks = np.zeros((width, inputs), np.float32)
            blocks[:outputs] = weight
            weights.append(blocks.reshape(width // UNITS, UNITS, inputs).swapaxes(1, 2).ravel())
            biases.append(np.pad(bias.astype(np.float32), (0, width - outputs)))
            begun += width * inputs, width
        self._layers = table
        self._weight, self._bias = _aligned(np.concatenate(weights)), np.concatenate(biases)

    def __call__(self, x: NDArray[np.uint8] | NDArray[np.float32], threads: int = 1) -> NDArray[np.float32]:
        """Returns ``(K, outputs)`` for ``x (K, inputs)``; ``threads`` share a large batch, and its bits do not depend on them."""
        if x.ndim != 2 or x.shape[1] != self._inputs:
            raise ValueError(f"expected an array of shape (K, {self._inputs}), not {x.shape}")
        if not (x.flags.c_contiguous and x.flags.writeable):
            x = x.copy(order="C")  # each other kind of array would be compiled anew
        out = np.empty((len(x), self.outputs), np.float32)
        if threads == 1 or len(x) < threads * ROWS:
            self._compute(x, out)
        else:
            ends = np.linspace(0, len(x), threads + 1).astype(np.int64)
            slices = [slice(begin, end) for begin, end in pairwise(ends)]
            list(_pool(threads).map(lambda part: self._compute(x[part], out[part]), slices))
        return out

    def _compute(self, x: NDArray[Any], out: NDArray[np.float32]) -> None:
        rows = min(len(x), ROWS)
        pairs = -(-rows // 2) * self._most_inputs + 1  # the last is written once more, and not kept
        scratch = np.empty(2 * pairs, np.float32), np.empty(pairs, np.int32), np.empty(rows, np.int64)
        features = np.empty((2, rows * self._widest), np.float32)
        _apply_chain(x, self._layers, self._weight, self._bias, self._relu, scratch, features, out)


def _aligned(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns a copy that begins with a line of the cache: vectors that lie in two lines take a quarter more time to load."""
    memory = np.empty(values.nbytes + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE
    aligned = memory[begin : begin + values.nbytes].view(np.float32)
    aligned[:] = values
    return aligned


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)
