"""The types of calls in compiled code, which numba finds once for each function and types of arguments.

By itself numba tries the implementations of a function one after the other at every call. An operator has many: those for sets,
strings, dates and arrays come before the one for integers.
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core.types import Dispatcher, Type
from numba.core.typing.context import Context


class RememberingContext(Context):
    """numba's context of types ``context``, whose declarations it shares, with a memory of the calls that it has resolved.

    Calls of compiled functions are not remembered: to resolve one compiles the function, where that has not been done. A
    signature stays, also where numba later loads another implementation for the same call.
    """

    def __init__(self, context: Any) -> None:
        self.__dict__.update(context.__dict__)  # the same objects, so that each sees what the other declares
        self._signatures: dict[Any, Any] = {}

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Returns numba's signature of a call of ``func`` with arguments of the types ``args`` and, by name, ``kws``."""
        if kws or isinstance(func, Dispatcher) or not all(isinstance(kind, Type) for kind in args):
            return super().resolve_function_type(func, args, kws)
        call = func, tuple(args)
        signature = self._signatures.get(call)
        if signature is None:
            signature = self._signatures[call] = super().resolve_function_type(func, args, kws)
        return signature


@functools.cache
def remembering(context: Any, options: str) -> RememberingContext:
    """Returns the one :class:`RememberingContext` of ``context`` for functions that are compiled with ``options``, a key only.

    numba compiles some of its own functions, such as ``min``, with the options of what calls them.
    """
    return RememberingContext(context)
