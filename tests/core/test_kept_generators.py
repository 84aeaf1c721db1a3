"""Others' functions are tried without moving the generators that they draw from."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_env.core.kept_generators import kept_generators

SHARED = np.random.default_rng(1)
LEGACY = np.random.RandomState(2)


class Drawing:
    """Draws from generators of every kind."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)
        self.plain = random.Random(4)
        self.on_cpu = torch.Generator()

    def __call__(self) -> tuple[Any, ...]:
        return self.rng.random(), self.plain.random(), torch.rand(1, generator=self.on_cpu).item()

    def method(self) -> Any:
        return self()


def enclosing() -> Callable[[], float]:
    inner = np.random.default_rng(5)
    return lambda: inner.random()


def by_default(rng: Any = np.random.default_rng(6)) -> Any:  # noqa: B008 - one generator for all calls is meant
    return rng.random()


def by_keyword(*, rng: Any = np.random.default_rng(7)) -> Any:  # noqa: B008 - likewise
    return rng.random()


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "global": lambda: (SHARED.random(), LEGACY.random_sample()),
    "module": lambda: (random.random(), np.random.rand(), torch.rand(1).item()),  # noqa: NPY002
    "object": Drawing(),
    "method": Drawing().method,
    "closure": enclosing(),
    "default": by_default,
    "keyword": by_keyword,
    "partial": functools.partial(lambda rng: rng.random(), np.random.default_rng(8)),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_function_draws_the_same_afterwards(kind: str) -> None:
    function = FUNCTIONS[kind]
    with kept_generators(function):
        first = function()
        assert function() != first
    assert function() == first
    assert function() != first


def test_an_error_restores_them_too() -> None:
    def fails() -> None:
        SHARED.random()
        raise ZeroDivisionError

    before = SHARED.bit_generator.state
    with pytest.raises(ZeroDivisionError), kept_generators(fails):
        fails()
    assert SHARED.bit_generator.state == before


def test_a_closure_without_a_value_is_none() -> None:
    def function() -> Any:
        return later

    with kept_generators(function):
        pass
    later = 3
    assert function() == 3


def test_the_generator_of_the_system_has_no_state_to_keep() -> None:
    generator = random.SystemRandom()
    with kept_generators(lambda: generator.random()):
        assert 0 <= generator.random() < 1
