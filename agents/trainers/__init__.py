"""Trainers, one readable file an algorithm, by the name that a configuration gives as ``algorithm``.

A trainer's module defines ``Config`` (a frozen dataclass), ``METRICS`` (what it logs, each with its meaning) and
``train(config, run, checkpoint, progress)``; and ``PACKAGES``, where it stands on others than the rest does.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from nainjaune_env.errors import ConfigError, choose_one

_TOOLS = (
    "advantages", "chains", "collecting", "config", "curves", "labels", "mixture", "on_device", "passes", "response", "run",
    "sb3", "schedule", "state", "surrogate",
)  # fmt: skip
"""Modules here that are no trainers."""


def trainer_names() -> tuple[str, ...]:
    """Names of all algorithms, sorted."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _TOOLS))


def get_trainer(name: object) -> ModuleType:
    """The module of an algorithm; raises :class:`ConfigError` where there is none of that name."""
    if name not in trainer_names():
        raise ConfigError(choose_one("algorithm", name, trainer_names()))
    return importlib.import_module(f"{__name__}.{name}")
