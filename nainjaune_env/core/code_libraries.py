"""The libraries of code that numba's compiler makes of this project's functions: what compiled code calls is optimised once.

By itself numba optimises each function, and translates it to machine code with all that it calls, before its callers link and
inline it, optimise it again and translate it again. Here a function that only compiled code calls is left as it is written
(:class:`LinkedLibrary`), and one that Python calls is optimised together with all that it calls (:class:`CalledLibrary`). A first
start takes three quarters of the time, and the machine code is as fast.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.imputils import lower_constant
from numba.core.types import Dispatcher
from numba.extending import models, register_model


class LinkedFunctionType(Dispatcher):
    """The type of a global of compiled code that is a function to call."""


register_model(LinkedFunctionType)(models.OpaqueModel)


@lower_constant(LinkedFunctionType)
def _lower_function(context: Any, builder: Any, kind: LinkedFunctionType, function: Any) -> Any:
    """Returns a null pointer, as calls do not use the value; numba's would be an address, which no cache can keep."""
    return context.get_dummy_value()


class CalledLibrary(JITCodeLibrary):
    """The code of a function that Python calls, optimised once all that it calls is linked."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # all that numba's passes over single functions must do

    def _optimize_final_module(self) -> None:
        # without numba's cheaper passes before, after which it removes counting of references: here nothing counts any
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _NoEnvironments:
    """Stands for the code generator where numba attaches a function's environment, which calls from Python use."""

    def set_env(self, env_name: str, env: Any) -> None:
        """Attaches nothing."""


class LinkedLibrary(CalledLibrary):
    """The code of a function and of all that it calls, for callers to link; it has no machine code."""

    @property
    def codegen(self) -> _NoEnvironments:
        """What numba attaches the environment to."""
        return _NoEnvironments()

    def get_pointer_to_function(self, name: str) -> int:
        """Returns 0, numba's sign that there is no machine code."""
        self._ensure_finalized()
        return 0

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
        library._final_module = parse_bitcode(data[2])
        library._finalize_final_module()
        return library


class CalledCompiler(Compiler):
    """numba's compiler of a function into a :class:`CalledLibrary`."""

    library_class: type[CalledLibrary] = CalledLibrary

    def __init__(self, typing_context: Any, target_context: Any, library: None, *rest: Any) -> None:
        made = self.library_class(target_context.codegen(), self.library_class.__name__)
        made.enable_object_caching()
        super().__init__(typing_context, target_context, made, *rest)


class LinkedCompiler(CalledCompiler):
    """numba's compiler of a function into a :class:`LinkedLibrary`."""

    library_class = LinkedLibrary


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
