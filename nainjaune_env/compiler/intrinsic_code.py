"""What generates the code of ``intrinsics``, for numba on the CPU."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.np import arrayobj

from nainjaune_env.compiler.intrinsics import UNITS, WORD

# without types for mypy
numba_config: Any = numba.core.config
cgutils: Any = numba.core.cgutils
ir: Any = cgutils.ir  # numba's own binding of LLVM
populate_array: Any = arrayobj.populate_array
_tuple_of: Any = types.UniTuple


def intrinsic(fn: Callable[..., Any]) -> Any:
    """``numba.extending.intrinsic`` for mypy: the function that is called has other arguments than ``fn``, which generates it."""
    return numba.extending.intrinsic(fn)


def type_of(function: Any) -> Any:
    """Returns numba's type of an intrinsic as a global of compiled code."""
    context: Any = numba.core.registry.cpu_target.typing_context
    return context.resolve_value_type(function)


def _item(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    made = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, made, [index], wraparound=False)


_LINE = 64
"""Bytes of a line of the cache."""
_TO_WRITE, _TO_KEEP, _DATA = 1, 3, 1
"""LLVM's arguments of a prefetch."""


@intrinsic
def store_word(typing_context: Any, out: Any, at: Any, word: Any) -> Any:
    """Writes the eight bytes of ``word`` (``int64``) from ``out[at]``, an array of bytes, lowest first, at any address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _item(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.int64), generate


_VECTOR = 16
"""Bytes of a vector of SSE2."""


@intrinsic
def store_counts(typing_context: Any, out: Any, at: Any, words: Any) -> Any:
    """Writes 16 bytes from ``out[at]``: byte i says how many of ``words``, a tuple of ``int64``, have bit i set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total = ir.Constant(ir.VectorType(ir.IntType(8), _VECTOR), None)
        for word in cgutils.unpack_tuple(builder, arguments[2]):
            bits = builder.bitcast(builder.trunc(word, ir.IntType(_VECTOR)), ir.VectorType(ir.IntType(1), _VECTOR))
            total = builder.add(total, builder.zext(bits, total.type))
        first = _item(context, builder, signature.args[0], *arguments[:2])
        builder.store(total, builder.bitcast(first, total.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.intp, _tuple_of(types.int64, len(words))), generate


@intrinsic
def prefetch_record(typing_context: Any, rows: Any, at: Any) -> Any:
    """Begins to load ``rows[at]`` into the cache, unless records are of at most 128 bytes: the processor is quicker by itself."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        if size > 2 * _LINE:
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            first = builder.bitcast(_item(context, builder, signature.args[0], *arguments), byte)
            kind = ir.FunctionType(ir.VoidType(), (byte, number, number, number))
            fetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
            for offset in range(0, size, _LINE):
                line = builder.gep(first, [ir.IntType(64)(offset)])
                builder.call(fetch, (line, number(_TO_WRITE), number(_TO_KEEP), number(_DATA)))
        return context.get_dummy_value()

    return types.void(rows, types.intp), generate


def processor_has(feature: str) -> bool:
    """Returns whether numba compiles for a processor with ``feature``, a name of LLVM's."""
    target: Any = numba.core.registry.cpu_target
    return f"+{feature}" in target.target_context.codegen().magic_tuple()[2].split(",")


@intrinsic
def nth_bit(typing_context: Any, word: Any, n: Any) -> Any:
    """Returns the number of the ``n``-th lowest bit set in ``word``, from 0, on a processor with ``bmi2``; both ``int64``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = ir.IntType(64)
        kind = ir.FunctionType(integer, (integer, integer))
        deposit = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.bmi.pdep.64")
        bit = builder.call(deposit, (builder.shl(integer(1), arguments[1]), arguments[0]))
        return builder.cttz(bit, ir.IntType(1)(True))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def load(typing_context: Any, words: Any, at: Any) -> Any:
    """Returns ``words[at]`` of ``words (N,) int64`` as other threads see it; this and :func:`fetch_add` are not reordered."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_item(context, builder, signature.args[0], *arguments), "seq_cst", 8)

    return types.int64(words, types.intp), generate


@intrinsic
def fetch_add(typing_context: Any, words: Any, at: Any, number: Any) -> Any:
    """Adds ``number`` to ``words[at]`` of ``words (N,) int64`` in one instruction; returns what stood there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _item(context, builder, signature.args[0], *arguments[:2]), arguments[2], "seq_cst")

    return types.int64(words, types.intp, types.int64), generate


@intrinsic
def sum_units(
    typing_context: Any,
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
) -> Any:
    """Writes :data:`UNITS` outputs of a linear layer for two rows, all sums in registers (``inference.chain.sum_block``)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = dict(zip(("out", "bias", "weight", "pairs", "index"), (signature.args[k] for k in (0, 2, 4, 6, 7)), strict=True))
        given = dict(zip(("out", "bias", "weight", "pairs", "index"), (arguments[k] for k in (0, 2, 4, 6, 7)), strict=True))
        units, number = ir.VectorType(ir.FloatType(), UNITS), ir.IntType(64)
        undefined, zero = ir.Constant(units, ir.Undefined), ir.Constant(units, None)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), UNITS), None)

        def pointer(name: str, at: Any) -> Any:
            return _item(context, builder, kinds[name], given[name], at)

        def vector(name: str, at: Any) -> Any:
            return builder.bitcast(pointer(name, at), units.as_pointer())

        start = builder.load(vector("bias", arguments[3]), align=4)
        sums = [cgutils.alloca_once_value(builder, start) for _ in range(2)]
        with cgutils.for_range_slice(builder, arguments[8], arguments[9], number(1), number) as (k, _):
            row = builder.sext(builder.load(pointer("index", k)), number)
            at = builder.add(arguments[5], builder.mul(row, number(UNITS)))
            weights = builder.load(vector("weight", at), align=4)
            for which, total in enumerate(sums):
                value = builder.load(pointer("pairs", builder.add(builder.mul(k, number(2)), number(which))))
                spread = builder.insert_element(undefined, value, ir.IntType(32)(0))
                product = builder.fmul(builder.shuffle_vector(spread, undefined, everywhere), weights)
                builder.store(builder.fadd(builder.load(total), product), total)
        for total, row in zip(sums, cgutils.unpack_tuple(builder, arguments[1]), strict=True):
            result = builder.load(total)
            positive = builder.select(builder.fcmp_ordered(">", result, zero), result, zero)
            relu_bit = context.get_value_as_data(builder, types.boolean, arguments[10])
            chosen = builder.select(builder.trunc(relu_bit, ir.IntType(1)), positive, result)
            builder.store(chosen, vector("out", builder.add(row, arguments[3])), align=4)
        return context.get_dummy_value()

    integers = types.intp
    pair = _tuple_of(integers, 2)
    return types.void(out, pair, bias, integers, weight, integers, pairs, index, integers, integers, types.boolean), generate


@intrinsic
def nonzero_bits(typing_context: Any, x: Any, row: Any, first: Any) -> Any:
    """Returns which of ``x[row, first : first + WORD]``, a contiguous array ``(K, N)``, are not 0: bit k for ``first + k``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        item = cgutils.get_item_pointer(context, builder, array_type, array, list(arguments[1:]), wraparound=False)
        kind = ir.VectorType(context.get_data_type(array_type.dtype), WORD)
        values, zero = builder.load(builder.bitcast(item, kind.as_pointer()), align=1), ir.Constant(kind, None)
        compare = builder.fcmp_unordered if isinstance(array_type.dtype, types.Float) else builder.icmp_unsigned
        return builder.zext(builder.bitcast(compare("!=", values, zero), ir.IntType(WORD)), ir.IntType(64))

    return types.int64(x, types.intp, types.intp), generate


_ARM = ("aarch64", "arm64")
_YIELD = 1
"""The number of the hint ``yield`` of an ARM processor."""


@intrinsic
def pause(typing_context: Any) -> Any:
    """Says to the processor that this thread waits in a loop, which leaves more of a core to its other thread.

    Does nothing in code for any processor.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        machine = platform.machine().lower()
        if processor_has("sse2"):
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), ir.FunctionType(ir.VoidType(), ())), ())
        elif machine in _ARM and numba_config.CPU_NAME != "generic":
            number = ir.IntType(32)
            hint = builder.module.declare_intrinsic("llvm.aarch64.hint", (), ir.FunctionType(ir.VoidType(), (number,)))
            builder.call(hint, (number(_YIELD),))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def address_of(typing_context: Any, array: Any) -> Any:
    """Returns the address of the first item of ``array`` as ``int64``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.int64))

    return types.int64(array), generate


@intrinsic
def array_at(typing_context: Any, like: Any, address: Any, size: Any) -> Any:
    """Returns ``size`` items from ``address`` on as an array of the type of ``like (N,)``, contiguous; nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.return_type)(context, builder)
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(signature.return_type.dtype)))
        populate_array(
            array,
            data=builder.inttoptr(arguments[1], array.data.type),
            shape=[arguments[2]],
            strides=[itemsize],
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue()

    return like(like, types.int64, types.intp), generate


@intrinsic
def rows_of(typing_context: Any, flat: Any, count: Any, width: Any) -> Any:
    """Returns the first ``count * width`` items of ``flat (N,)``, contiguous, as ``(count, width)``; nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.return_type)(context, builder)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(signature.return_type.dtype)))
        strides = [builder.mul(arguments[2], itemsize), itemsize]
        populate_array(array, data=data, shape=[*arguments[1:]], strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()

    return flat.copy(ndim=2)(flat, types.intp, types.intp), generate


@intrinsic
def view_at(typing_context: Any, address: Any, offset: Any, shape: Any, dtype: Any) -> Any:
    """Returns the items of ``dtype`` from ``offset`` bytes after the pointer ``address`` on as a contiguous array of ``shape``.

    ``shape`` is a tuple of lengths; nothing is checked. (``numba.carray`` needs numba's runtime.)
    """
    array_type = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        lengths = cgutils.unpack_tuple(builder, arguments[2])
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
        strides = [itemsize]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        first = builder.gep(arguments[0], [arguments[1]])
        data = builder.bitcast(first, array.data.type)
        populate_array(array, data=data, shape=lengths, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()

    return array_type(types.voidptr, types.intp, _tuple_of(types.intp, len(shape)), dtype), generate


@intrinsic
def pointer_at(typing_context: Any, address: Any, offset: Any) -> Any:
    """Returns the pointer that stands ``offset`` bytes after the pointer ``address``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = context.get_value_type(types.voidptr)
        return builder.load(builder.bitcast(builder.gep(arguments[0], [arguments[1]]), pointer.as_pointer()))

    return types.voidptr(types.voidptr, types.intp), generate
