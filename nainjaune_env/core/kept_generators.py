"""Calling a function of somebody else without moving random generators that it draws from."""

from __future__ import annotations

import functools
import inspect
import random
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

MAX_OBJECTS = 2000
"""Objects that are looked at: a model may refer to whole libraries."""


@contextmanager
def kept_generators(*owners: object) -> Iterator[None]:
    """Restores, when its block ends, the global generators of ``random``, NumPy and torch, and those that ``owners`` refer to.

    An owner is a function, whose closure, defaults and global names are followed, or an object, whose attributes are. Only a
    torch that has been imported is looked at.
    """
    states = [(set_state, state) for set_state, state in map(_state_of, _reachable(owners)) if set_state is not None]
    states.append((random.setstate, random.getstate()))
    states.append((np.random.set_state, np.random.get_state()))  # noqa: NPY002 - that of others' code
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        states.append((torch.set_rng_state, torch.get_rng_state()))
    try:
        yield
    finally:
        for set_state, state in states:
            set_state(state)


def _state_of(generator: Any) -> tuple[Any, Any]:
    """Returns the function that sets the state of a generator, and its state; None twice for anything else."""
    if isinstance(generator, np.random.Generator):
        bits = generator.bit_generator
        return functools.partial(setattr, bits, "state"), bits.state
    if isinstance(generator, random.Random) and not isinstance(generator, random.SystemRandom):  # that has no state
        return generator.setstate, generator.getstate()
    if isinstance(generator, np.random.RandomState) or type(generator).__module__ == "torch._C":
        getter, setter = getattr(generator, "get_state", None), getattr(generator, "set_state", None)
        if callable(getter) and callable(setter):
            return setter, getter()
    return None, None


def _reachable(owners: tuple[object, ...]) -> list[object]:
    """Returns what ``owners`` refer to, themselves included, breadth first."""
    found: list[object] = []
    seen: set[int] = set()
    waiting: list[object] = list(owners)
    while waiting and len(found) < MAX_OBJECTS:
        one = waiting.pop(0)
        if id(one) not in seen and not isinstance(one, types.ModuleType | type | str | bytes | int | float | np.ndarray | None):
            seen.add(id(one))
            found.append(one)
            waiting += _parts(one)
    return found


def _parts(one: Any) -> list[object]:
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if inspect.ismethod(one):
        return [one.__self__, one.__func__]
    if inspect.isfunction(one):
        try:
            names = inspect.getclosurevars(one)
            outer = [*names.nonlocals.values(), *names.globals.values()]
        except ValueError:  # a variable of the closure has no value yet
            outer = []
        return [*outer, *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
    if isinstance(one, dict):
        return [*one.values()]
    if isinstance(one, list | tuple | set):
        return [*one]
    call = vars(type(one)).get("__call__")
    return [*getattr(one, "__dict__", {}).values(), *([call] if inspect.isfunction(call) else [])]
