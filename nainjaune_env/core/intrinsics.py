"""Instructions of the processor that numba has no Python for, as functions that compiled code on the CPU calls.

``jit.replaced_by`` puts one in the place of a function of this project that plain Python and CUDA run as it is written.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import cgutils, types

intrinsic: Any = extending.intrinsic  # to mypy, what it decorates would take the arguments of its generator


def _item(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    made = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, made, [index], wraparound=False)


@intrinsic
def store_word(typing_context: Any, out: Any, at: Any, word: Any) -> Any:
    """Writes the eight bytes of ``word`` (``int64``) from ``out[at]``, an array of bytes, lowest first, at any address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _item(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], builder.bitcast(first, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.int64), generate
