"""The libraries of code that numba makes of functions that compiled code calls: optimised once, in their callers.

By itself numba optimises each function, and translates it to machine code with all that it calls, before its callers link and
inline it, optimise it again and translate it again. A function that only compiled code calls needs neither: a
:class:`LinkedLibrary` keeps it as it is written. A first start takes four fifths of the time, and the machine code is as fast.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from numba.core import codegen as numba_codegen
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_machinery import PassManager
from numba.core.imputils import lower_constant
from numba.core.types import Dispatcher
from numba.extending import models, register_model

from nainjaune_env.compiler.call_types import remembering


class LinkedFunctionType(Dispatcher):
    """The type of a global of compiled code that is a function to call."""


register_model(LinkedFunctionType)(models.OpaqueModel)


@lower_constant(LinkedFunctionType)
def _lower_function(context: Any, builder: Any, kind: LinkedFunctionType, function: Any) -> Any:
    """Returns a null pointer, as calls do not use the value; numba's would be an address, which no cache can keep."""
    return context.get_dummy_value()


class _NoEnvironments:
    """Stands for the code generator where numba attaches a function's environment, which calls from Python use."""

    def set_env(self, env_name: str, env: Any) -> None:
        """Attaches nothing."""


class LinkedLibrary(JITCodeLibrary):
    """The code of a function and of all that it calls, for callers to link; it has no machine code."""

    @property
    def codegen(self) -> _NoEnvironments:
        """What numba attaches the environment to."""
        return _NoEnvironments()

    def get_pointer_to_function(self, name: str) -> int:
        """Returns 0, numba's sign that there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # all that numba's passes over single functions must do

    def _optimize_final_module(self) -> None:
        """Leaves that to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """Returns what :meth:`load` takes."""
        return self.name, "linked", self._get_module_for_linking().as_bitcode()

    @classmethod
    def load(cls, codegen: Any, data: tuple[str, str, bytes]) -> LinkedLibrary:
        """Returns the library that :meth:`serialize_using_object_code` wrote."""
        library = cls(codegen, data[0])
        library._final_module = numba_codegen.ll.parse_bitcode(data[2])  # type: ignore[attr-defined]
        library._finalize_final_module()
        return library


_LEFT_OUT = frozenset(
    (
        "NopythonRewrites",  # turns sums of arrays and the like into loops over a new array; compiled functions allocate none
        "AnnotateTypes",  # for numba's `inspect_types`, which prints the types of variables
    )
)
"""numba's passes that have nothing to do in the functions of this project. What they took was a twentieth of a first start."""
_FOR_INNER_FUNCTIONS = "InlineClosureLikes"
"""The pass that only functions need which define others, `lambda` and comprehensions included."""


class LinkedCompiler(Compiler):
    """numba's compiler of a function into a :class:`LinkedLibrary`, without what takes time for nothing."""

    def __init__(self, typing_context: Any, target_context: Any, library: None, *rest: Any) -> None:
        super().__init__(typing_context, target_context, LinkedLibrary(target_context.codegen(), "linked"), *rest)
        self.state.typingctx = remembering(typing_context, str(self.state.flags))

    def define_pipelines(self) -> list[PassManager]:
        """Returns numba's passes without those that are left out."""
        inner_functions = any(isinstance(constant, CodeType) for constant in self.state.func_id.code.co_consts)
        left_out = _LEFT_OUT if inner_functions else _LEFT_OUT | {_FOR_INNER_FUNCTIONS}
        pipelines: list[PassManager] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(step, says) for step, says in pipeline.passes if step.__name__ not in left_out]
            pipeline.finalize()
        return pipelines


class _Loading:
    """A target context of numba whose code generator loads a :class:`LinkedLibrary`."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> _Loading:
        """Returns what loads libraries."""
        return self

    def unserialize_library(self, data: tuple[str, str, bytes]) -> LinkedLibrary:
        """Returns the library in ``data``."""
        return LinkedLibrary.load(self._context.codegen(), data)


class LinkedCache(CompileResultCacheImpl):
    """Writes what :class:`LinkedCompiler` compiles to numba's cache, and reads it."""

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> CompileResult:
        """Returns the function that was kept."""
        result: Any = CompileResult
        return result._rebuild(_Loading(target_context), *payload)._replace(target_context=target_context)
