"""Compiles functions ahead in this process and prints what calls of them give: it is started for any processor (``lowering``)."""

from __future__ import annotations

import ctypes
import importlib
import json
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.build.lowering import block_function, lower
from nainjaune_env.compiler.ahead import AheadFunction, Library, bind
from nainjaune_env.compiler.dispatcher import compiled
from nainjaune_env.compiler.signatures import example_of, signature_of

llvm: Any = importlib.import_module("llvmlite.binding")
RECORD = np.dtype([("rng", np.uint64), ("hand", np.int16, (3,))], align=True)


class Pair(NamedTuple):
    """A tuple of a call."""

    first: Any
    second: Any


def everything(array: Any, part: Any, row: Any, pair: Any, log: Any, number: Any, word: Any, share: Any, flag: Any) -> Any:
    """Reads an argument of each type, and writes to arrays and to a record."""
    total = np.int64(0)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            total += array[i, j]
            array[i, j] = -1
    for i in range(part.size):
        part[i] += number
    row.hand[1] = pair.first + pair.second[1]
    row.rng = word
    if log is None and flag:
        total += 1000
    return total, np.float64(share + row.hand[1]), word, flag


def twice(number: Any) -> Any:
    """Returns one number."""
    return 2 * number


def arguments() -> tuple[Any, ...]:
    """Returns arguments of :func:`everything`."""
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    part = np.arange(8, dtype=np.uint8)[1::3]
    return array, part, np.zeros(2, RECORD)[1], Pair(5, (6, 7)), None, 3, np.uint64(2**64 - 2), 0.5, True


def main() -> None:
    """Prints the results of calls in turn, and the arrays after them."""
    functions = {everything: signature_of(arguments()), twice: signature_of((1,))}
    types = {f.__name__: tuple(map(compiled(f).typeof_pyval, examples(kind))) for f, kind in functions.items()}
    module = lower({f.__name__: (types[f.__name__], f) for f in functions}, block_function)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    results = {"everything": ["int64", "float64", "uint64", "bool"], "twice": "int64"}
    about = {
        f"{f.__module__}:{f.__name__}": [{"signature": kind, "symbol": f.__name__, "results": results[f.__name__]}]
        for f, kind in functions.items()
    }
    code = {f.__name__: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address(f.__name__)) for f in functions}
    library = Library(about, code)
    ahead, doubled = (AheadFunction(f, library, {}) for f in functions)
    given = arguments()
    called = ahead(*given)
    bound_to = arguments()
    bound = bind(ahead, *bound_to)
    again = bound(*bound_to)
    others = arguments()
    changed = bound(bound_to[0], *others[1:])
    double = bind(doubled, 1)
    print(
        json.dumps(
            {
                "called": [*called],
                "arrays": [given[0].tolist(), given[1].tolist(), given[2]["hand"].tolist(), int(given[2]["rng"])],
                "bound": [*again],
                "changed": [changed[0], others[1].tolist(), bound_to[1].tolist()],
                "twice": [doubled(21), double(4), double(-5), double(2.5)],
                "numba": [ahead.dispatcher.signatures == [], [str(kind) for kind in doubled.dispatcher.signatures]],
            }
        )
    )


def examples(kind: Any) -> list[Any]:
    """Returns arguments with a signature."""
    from nainjaune_env.compiler.signatures import dtype_name

    return [example_of(entry, {dtype_name(RECORD): RECORD}) for entry in kind]


if __name__ == "__main__":
    main()
