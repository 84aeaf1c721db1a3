"""The types of calls that compiled code remembers are those that numba finds."""

from __future__ import annotations

import operator
from typing import Any

import numba
import pytest
from numba.core import errors
from numba.core.registry import cpu_target

from nainjaune_env.compiler.call_types import RememberingContext, remembering
from nainjaune_env.compiler.jit import JIT_ENABLED, jit

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="the compiler is switched off")

INT64, UINT8 = numba.types.int64, numba.types.uint8
ROW = numba.types.Array(INT64, 1, "C")


@pytest.fixture
def context() -> RememberingContext:
    numbas: Any = cpu_target.typing_context
    numbas.refresh()
    return RememberingContext(numbas)


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (operator.add, (INT64, INT64)),
        (operator.add, (UINT8, numba.types.literal(3))),
        (operator.truediv, (INT64, INT64)),
        (operator.getitem, (ROW, INT64)),
        (operator.getitem, (numba.types.UniTuple(INT64, 3), INT64)),
        (bool, (INT64,)),
    ],
)
def test_a_call_is_resolved_once_as_numba_resolves_it(
    context: RememberingContext, function: Any, kinds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbas: Any = cpu_target.typing_context
    found = context.resolve_function_type(function, kinds, {})
    assert found == numbas.resolve_function_type(function, kinds, {})
    monkeypatch.setattr(numba.core.typing.context.BaseContext, "resolve_function_type", None)
    assert context.resolve_function_type(function, kinds, {}) is found


def test_literals_and_other_types_have_signatures_of_their_own(context: RememberingContext) -> None:
    pair = numba.types.Tuple((INT64, numba.types.float64))
    first, second = (context.resolve_function_type(operator.getitem, (pair, numba.types.literal(i)), {}) for i in range(2))
    assert (first.return_type, second.return_type) == (INT64, numba.types.float64)


def test_a_call_without_an_implementation_fails_each_time(context: RememberingContext) -> None:
    for _ in range(2):
        with pytest.raises(errors.TypingError):
            context.resolve_function_type(operator.add, (INT64, ROW.copy(dtype=numba.types.voidptr)), {})


def test_calls_of_compiled_functions_are_not_remembered(context: RememberingContext) -> None:
    twice: Any = jit(lambda number: number * 2)
    called = numba.typeof(twice)
    assert context.resolve_function_type(called, (INT64,), {}).return_type == INT64
    assert not any(function is called for function, _ in context._signatures)


def test_other_options_have_a_memory_of_their_own() -> None:
    numbas: Any = cpu_target.typing_context
    assert remembering(numbas, "one") is remembering(numbas, "one")
    assert remembering(numbas, "one") is not remembering(numbas, "other")
