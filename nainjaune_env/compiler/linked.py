"""Functions as compiled code links them: without an interface to Python, and optimised once, in their callers.

By itself numba gives every function an interface to Python, optimises it, and translates it to machine code with all that it
calls, before its callers link and inline it, optimise it again and translate it again. A function that only compiled code calls
needs none of this: a :class:`LinkedLibrary` keeps it as it is written. A first start takes half of the time
(``docs/compiled_code.md``), and the machine code is as fast.
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler
from numba.core.imputils import lower_constant
from numba.core.registry import CPUDispatcher
from numba.core.types import Dispatcher, unliteral
from numba.extending import models, register_model


class LinkedLibrary(JITCodeLibrary):
    """The code of a function and of all that it calls, for callers to link; it has no machine code."""

    def get_pointer_to_function(self, name: str) -> int:
        """Returns 0, numba's sign that there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leaves that to the callers."""

    def _optimize_final_module(self) -> None:
        """Leaves that to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    serialize_using_object_code = JITCodeLibrary.serialize_using_bitcode  # what numba's cache keeps


class LinkedCodegen(JITCPUCodegen):
    """numba's code generator ``codegen``, but its libraries are :class:`LinkedLibrary`."""

    _library_class = LinkedLibrary

    def __init__(self, codegen: JITCPUCodegen) -> None:
        vars(self).update(vars(codegen))  # the same objects of LLVM

    def magic_tuple(self) -> tuple[Any, ...]:
        """Returns what the cache tells the code of different generators apart by."""
        return *super().magic_tuple(), "linked"

    def set_env(self, env_name: str, env: Any) -> None:
        """Does nothing: only calls from Python use the environment of a function."""


@functools.cache
def linked_context(target_context: Any) -> Any:
    """Returns numba's ``target_context`` with a :class:`LinkedCodegen`."""
    return target_context.subtarget(_internal_codegen=LinkedCodegen(target_context.codegen()))


class LinkedCompiler(Compiler):
    """numba's compiler of a function into a :class:`LinkedLibrary`."""

    def __init__(self, typing_context: Any, target_context: Any, *rest: Any) -> None:
        super().__init__(typing_context, linked_context(target_context), *rest)


class LinkedFunction(CPUDispatcher):
    """The form of a compiled function that compiled code calls. Python must not call it."""

    def __init__(self, py_func: Any, targetoptions: dict[str, Any]) -> None:
        super().__init__(py_func, targetoptions=targetoptions | {"no_cpython_wrapper": True}, pipeline_class=LinkedCompiler)
        self.targetctx = linked_context(self.targetctx)  # the cache loads with it

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Returns numba's template of a call; constants among the arguments do not have a form compiled of their own."""
        return super().get_call_template(tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})


class LinkedFunctionType(Dispatcher):
    """The type of a global of compiled code that is a function to call."""


register_model(LinkedFunctionType)(models.OpaqueModel)


@lower_constant(LinkedFunctionType)
def _lower_function(context: Any, builder: Any, kind: LinkedFunctionType, function: Any) -> Any:
    """Returns a null pointer, as calls do not use the value; numba's would be an address, which no cache can keep."""
    return context.get_dummy_value()
