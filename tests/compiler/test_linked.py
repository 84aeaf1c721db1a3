"""What compiled code calls is compiled once: no machine code of its own, and the cache gives it back."""

from __future__ import annotations

import operator
import re
from functools import reduce
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target

from nainjaune_env.compiler.jit import JIT_ENABLED, instantiate, jit
from nainjaune_env.compiler.linked import CallTypes, LinkedCompiler, LinkedLibrary
from nainjaune_env.registry import make_setup

pytestmark = [
    pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off"),
    pytest.mark.usefixtures("empty_cache"),
]

SETUP = make_setup("nain_jaune", "djeco", 4)  # loaded here: its functions are not to be kept in a test's folder


def functions() -> tuple[Any, Any, Any]:
    """Two functions that Python calls, and one that both of them call."""

    def last(numbers: Any, wanted: Any) -> Any:
        matches = -1
        for i in range(numbers.size):
            if numbers[i] == wanted:
                matches = i
        return matches

    shared: Any = jit(last)

    def first(numbers: Any, wanted: Any) -> Any:
        return shared(numbers, wanted) + 100

    def second(numbers: Any, wanted: Any) -> Any:
        return shared(numbers, wanted) * 2

    return shared, jit(first), jit(second)


NUMBERS = np.array([4, 7, 7, 1])


def library(function: Any) -> Any:
    (result,) = function.overloads.values()
    return result.library


def test_a_function_that_compiled_code_calls_has_no_machine_code() -> None:
    shared, first, _ = functions()
    assert first(NUMBERS, 7) == 102
    linked = library(shared.linked)
    assert type(linked) is LinkedLibrary
    assert not linked._codegen._engine.is_symbol_defined(next(iter(shared.linked.overloads.values())).fndesc.llvm_func_name)
    assert type(library(first)) is not LinkedLibrary
    assert "alloca" in linked.get_llvm_str()  # as it was written
    assert "alloca" not in library(first).get_llvm_str().split("_ZN7cpython")[0]  # optimised with what it calls


def test_the_cache_gives_back_what_compiled_code_calls() -> None:
    """A later process that compiles another caller reads the function that both call."""
    shared, first, _ = functions()
    assert first(NUMBERS, 7) == 102
    assert sum(shared.linked.stats.cache_misses.values()) == 1
    shared, first, second = functions()
    assert second(NUMBERS, 1) == 6
    assert sum(shared.linked.stats.cache_hits.values()) == 1
    assert not shared.linked.stats.cache_misses
    assert type(library(shared.linked)) is LinkedLibrary


def test_what_calls_a_kernel_can_be_kept() -> None:
    """A global that is a function has an address in the code that numba writes by itself, which no cache can keep."""
    play_forced = instantiate("nainjaune_env.core.kernel", "kept", game=SETUP.game.kernel).play_forced.linked
    play_forced.compile((numba.from_dtype(SETUP.game.table), numba.typeof(SETUP.kernel_rules), numba.types.int64))
    assert not library(play_forced).has_dynamic_globals


def test_a_function_within_a_function_that_compiled_code_calls_is_inlined() -> None:
    """Were it not, numba would warn that the function cannot be kept."""

    def thrice(number: Any) -> Any:
        twice = number * 2

        def added(other: Any) -> Any:
            return other + twice

        return added(number)

    inner: Any = jit(thrice)
    outer: Any = jit(lambda number: inner(number) + 1)
    assert outer(5) == 16
    assert not library(inner.linked).has_dynamic_globals


def test_what_numba_compiles_for_a_function_is_linked_with_it() -> None:
    """numba compiles a function of its own for a power; the cache gives it back, too."""

    def power(base: Any, exponent: Any) -> Any:
        return base**exponent

    def caller_of(inner: Any, times: int) -> Any:
        return jit(lambda base, exponent: times * inner(base, exponent))

    for hits in range(2):
        inner: Any = jit(power)
        assert caller_of(inner, hits + 2)(3, 4) == (hits + 2) * 81
        assert sum(inner.linked.stats.cache_hits.values()) == hits


def test_a_function_that_is_an_argument_of_another_is_linked() -> None:
    add: Any = jit(lambda one, other: one + other)
    inner: Any = jit(lambda number: reduce(add, (number, 2, 3)))
    outer: Any = jit(lambda number: inner(number))
    assert outer(1) == inner(1) == 6


def code_of(function: Any, *arguments: Any) -> str:
    """The code that is linked for a call of ``function``, compiled anew, without the numbers that numba gives to functions."""
    linked: Any = jit(function.py_func).linked
    linked._cache = NullCache()
    linked.compile(tuple(map(numba.typeof, arguments)))
    return re.sub(r"v\d+", "v", library(linked).get_llvm_str())


def test_what_the_compiler_leaves_out_changes_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    table, rules, kernel = np.zeros(1, SETUP.game.table)[0], SETUP.kernel_rules, SETUP.game.kernel
    calls: list[tuple[Any, ...]] = [(kernel.legal, table, rules), (kernel.step, table, rules, 0)]
    codes = [code_of(*call) for call in calls]
    monkeypatch.setattr(LinkedCompiler, "define_pipelines", Compiler.define_pipelines)
    monkeypatch.setattr(CallTypes, "resolve_function_type", numba.core.typing.context.Context.resolve_function_type)
    assert [code_of(*call) for call in calls] == codes


INT64 = numba.types.int64
PAIR = numba.types.Tuple((INT64, numba.types.float64))


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (operator.add, (INT64, INT64)),
        (operator.add, (numba.types.uint8, numba.types.literal(3))),
        (operator.getitem, (numba.types.Array(INT64, 1, "C"), INT64)),
        (operator.getitem, (PAIR, numba.types.literal(0))),
        (operator.getitem, (PAIR, numba.types.literal(1))),
    ],
)
def test_a_call_is_resolved_once_and_as_numba_resolves_it(function: Any, kinds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu_target.typing_context.refresh()
    context = CallTypes(cpu_target.typing_context)
    signature = context.resolve_function_type(function, kinds, {})
    assert signature == cpu_target.typing_context.resolve_function_type(function, kinds, {})
    monkeypatch.setattr(numba.core.typing.context.BaseContext, "resolve_function_type", None)
    assert context.resolve_function_type(function, kinds, {}) is signature


def test_calls_of_compiled_functions_are_not_remembered() -> None:
    context = CallTypes(cpu_target.typing_context)
    twice: Any = jit(lambda number: number * 2)
    assert context.resolve_function_type(numba.typeof(twice), (INT64,), {}).return_type == INT64
    assert not context._signatures
