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
from numba.core.types import Dispatcher, Type, unliteral
from numba.core.typing.context import Context
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


class CallTypes(Context):
    """numba's context of types with a memory of the calls that it has resolved.

    By itself numba tries the implementations of an operator one after the other at every use: those for sets, strings, dates and
    arrays before the one for integers. Calls of compiled functions are not remembered, as to resolve one compiles the function.
    """

    def __init__(self, context: Any) -> None:
        vars(self).update(vars(context))  # the same declarations
        self._signatures: dict[Any, Any] = {}

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Returns the signature of a call of ``func`` with arguments of the types ``args`` and, by name, ``kws``."""
        if kws or isinstance(func, Dispatcher) or not all(isinstance(kind, Type) for kind in args):
            return super().resolve_function_type(func, args, kws)
        call = func, tuple(args)
        if call not in self._signatures:
            self._signatures[call] = super().resolve_function_type(func, args, kws)
        return self._signatures[call]


@functools.cache
def call_types(context: Any, flags: str) -> CallTypes:
    """Returns the :class:`CallTypes` for functions with the same ``flags``: numba compiles what they call with these."""
    return CallTypes(context)


LEFT_OUT = {"NopythonRewrites", "AnnotateTypes"}
"""numba's passes for expressions of whole arrays, which need new arrays, and for ``inspect_types``."""


class LinkedCompiler(Compiler):
    """numba's compiler of a function into a :class:`LinkedLibrary`, without what took a tenth of a first start for nothing."""

    def __init__(self, typing_context: Any, target_context: Any, *rest: Any) -> None:
        super().__init__(typing_context, linked_context(target_context), *rest)
        self.state.typingctx = call_types(typing_context, str(self.state.flags))

    def define_pipelines(self) -> list[Any]:
        """Returns numba's passes without :data:`LEFT_OUT`."""
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(step, name) for step, name in pipeline.passes if step.__name__ not in LEFT_OUT]
            pipeline.finalize()
        return pipelines


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
