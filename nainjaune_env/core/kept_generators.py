"""Calling somebody else's function without moving the random generators that it draws from."""

from __future__ import annotations

import functools
import inspect
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np


@contextmanager
def kept_generators(owner: object) -> Iterator[None]:
    """Restores, when its block ends, the global generators of ``random``, NumPy and torch, and those of ``owner``.

    These are the attributes of an object, or of a method's object, and what a function takes from its defaults, its closure and
    its module. Generators deeper inside are not found.
    """
    torch: Any = sys.modules.get("torch")
    states: list[tuple[Callable[[Any], object], Any]] = [(random.setstate, random.getstate())]
    states.append((np.random.set_state, np.random.get_state()))  # noqa: NPY002 - that of others' code
    if torch is not None:
        states.append((torch.set_rng_state, torch.get_rng_state()))
    for generator in _parts(owner):
        if isinstance(generator, np.random.Generator):
            bits = generator.bit_generator
            states.append((functools.partial(setattr, bits, "state"), bits.state))
        elif isinstance(generator, random.Random) and not isinstance(generator, random.SystemRandom):  # that has no state
            states.append((generator.setstate, generator.getstate()))
        elif isinstance(generator, np.random.RandomState) or (torch is not None and isinstance(generator, torch.Generator)):
            states.append((generator.set_state, generator.get_state()))
    try:
        yield
    finally:
        for set_state, state in states:
            set_state(state)


def _parts(owner: Any) -> list[object]:
    """Returns what ``owner`` refers to directly."""
    parts = [*getattr(getattr(owner, "__self__", owner), "__dict__", {}).values()]
    if inspect.isfunction(owner):
        parts += [*(owner.__defaults__ or ()), *(owner.__kwdefaults__ or {}).values()]
        with suppress(ValueError):  # a variable of the closure has no value yet
            names = inspect.getclosurevars(owner)
            parts += [*names.nonlocals.values(), *names.globals.values()]
    if isinstance(owner, functools.partial):
        parts += [*owner.args, *owner.keywords.values(), *_parts(owner.func)]
    return parts
