"""Training: one readable file for each algorithm, sweeps, publishing. It may use ``measure`` and below.

The configuration's key ``algorithm`` names a trainer. Its module defines ``Config`` (of ``base.BaseConfig``), ``Trainer`` (of
``base.BaseTrainer``), ``METRICS`` (each logged metric with its meaning), ``train(config, run, checkpoint, progress)``, and
``PACKAGES`` if it uses any of its own.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from nainjaune_env.core.errors import ConfigError, unknown_name_message

TRAINERS = ("deep_monte_carlo", "expert", "maskable_ppo", "ppo", "vine")
"""The algorithms; a new one is a module of this package and a name in this list."""
_registered: dict[str, ModuleType] = {}


def trainer_names() -> tuple[str, ...]:
    """Returns the names of all algorithms, sorted."""
    return TRAINERS


def register(name: str, module: ModuleType) -> None:
    """Makes ``module`` the algorithm ``name`` in this process; raises :class:`ConfigError` for a name that another one has.

    A script calls this at its import, which the processes of a sweep repeat. No run names a module to load.
    """
    if name in TRAINERS or _registered.get(name, module) is not module:
        raise ConfigError(f"There is an algorithm {name!r} already: register the module under another name.")
    _registered[name] = module


def get_trainer(name: object) -> ModuleType:
    """Returns the module of an algorithm; raises :class:`ConfigError` for an unknown name."""
    if isinstance(name, str) and name in _registered:
        return _registered[name]
    if name not in trainer_names():
        raise ConfigError(unknown_name_message("algorithm", name, trainer_names()))
    return importlib.import_module(f"{__name__}.{name}")
