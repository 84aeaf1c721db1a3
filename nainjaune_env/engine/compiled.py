"""The compiled loops of a setup, and its rules and options as their argument."""

from __future__ import annotations

import functools
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.compiler.jit import instantiate
from nainjaune_env.compiler.packed import lengths, pack, unpacker
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.options import EpisodeOptions

ROUND = EpisodeOptions(whole_match=0, carry=0, skip_forced=1, autoreset=0, observe=0)
"""The options of single rounds, and for loops that read the rules alone."""


def numbers_of(setup: Setup, options: EpisodeOptions = ROUND) -> NDArray[np.int64]:
    """Returns the rules and the options, packed for the loops; the array is shared, and nobody writes to it."""
    return _packed(setup.kernel_rules, options)


_packed = functools.lru_cache(maxsize=1024)(pack)


def instance_of(setup: Setup, template: str, *parts: str, **bound: object) -> ModuleType:
    """Returns the module ``template`` with ``game``, ``unpack`` and the names ``bound``, for rules with tuples of these lengths.

    Instances with other values of ``bound`` have other ``parts``.
    """
    rules = setup.kernel_rules
    instance = ",".join((setup.game.name, lengths(rules), *parts))
    made = _INSTANCES.get((template, instance))
    if made is None:  # an unpacker takes milliseconds to make
        made = instantiate(template, instance, game=setup.game.kernel, unpack=unpacker(rules, ROUND), **bound)
        _INSTANCES[template, instance] = made
    return made


_INSTANCES: dict[tuple[str, str], ModuleType] = {}


def loops_of(setup: Setup) -> ModuleType:
    """Returns ``engine.loops`` compiled for a game, for all rules with tuples of the same lengths."""
    return instance_of(setup, "nainjaune_env.engine.loops")


def replay_loops_of(setup: Setup) -> ModuleType:
    """Returns ``engine.replay_loops``, likewise."""
    return instance_of(setup, "nainjaune_env.engine.replay_loops", loops=loops_of(setup))
