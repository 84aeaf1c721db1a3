"""Compiled functions: what a compilation does to the process."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numba
import pytest

from nainjaune_env.compiler.dispatcher import compiled


def add(a: int, b: int) -> int:
    return a + b


@pytest.mark.parametrize("switch", [gc.enable, gc.disable])
def test_the_garbage_collector_is_off_while_a_function_compiles_and_then_as_it_was(
    switch: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[bool] = []
    compile_ = numba.core.registry.CPUDispatcher.compile

    def compile_and_note(self: object, sig: object) -> object:
        states.append(gc.isenabled())
        return compile_(self, sig)

    monkeypatch.setattr(numba.core.registry.CPUDispatcher, "compile", compile_and_note)
    switch()
    before = gc.isenabled()
    try:
        assert compiled(add)(1, 2) == 3
        assert gc.isenabled() == before
    finally:
        gc.enable()
    assert states == [False]


def test_the_garbage_collector_is_as_it_was_after_a_compilation_that_fails() -> None:
    with pytest.raises(numba.core.errors.TypingError):
        compiled(add)("a", 2)
    assert gc.isenabled()
