"""Trainers, one readable file an algorithm, by the name that a configuration gives as ``algorithm``.

A trainer's module defines ``Config`` (a frozen dataclass), ``METRICS`` (what it logs, each with its meaning) and
``train(config, run, checkpoint, progress)``; and ``PACKAGES``, where it stands on others than the rest does.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from nainjaune_env.core.errors import ConfigError, choose_one

TRAINERS = ("deep_monte_carlo", "expert", "maskable_ppo", "ppo")
"""The algorithms; a new one is a module here and a name in this list."""


def trainer_names() -> tuple[str, ...]:
    """Names of all algorithms, sorted."""
    return TRAINERS


def get_trainer(name: object) -> ModuleType:
    """The module of an algorithm; raises :class:`ConfigError` where there is none of that name."""
    if name not in trainer_names():
        raise ConfigError(choose_one("algorithm", name, trainer_names()))
    return importlib.import_module(f"{__name__}.{name}")
