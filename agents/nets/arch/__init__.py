"""Architectures by name. Each is a module of this package with one subclass of ``PolicyValueNet``, whose ``arch`` is its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

import torch

from nainjaune_env.core.errors import ConfigError, choose_one
from nainjaune_env.core.layout import Layout

from ..policy_value import PolicyValueNet

DEFAULT_ARCH = "mlp"
"""The architecture of configurations and checkpoints that name none."""


def arch_names() -> list[str]:
    """Returns the names of all architectures."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def get_arch(name: str) -> type[PolicyValueNet]:
    """Returns the class of the architecture ``name``; raises :class:`ConfigError` for an unknown name."""
    if name not in arch_names():
        raise ConfigError(choose_one("arch", name, arch_names()))
    importlib.import_module(f"{__name__}.{name}")
    return next(net for net in PolicyValueNet.__subclasses__() if net.arch == name)


def make_net(
    arch: str, layout: Layout, actions: int, hidden: Sequence[int], generator: torch.Generator, *, recurrent: int = 0
) -> PolicyValueNet:
    """Returns an untrained network; its weights come from ``generator`` alone.

    Raises :class:`ConfigError` for an unknown ``arch`` and for arguments that it does not take.
    """
    net = get_arch(arch)
    net.check_arguments(hidden, recurrent)
    return net(layout, actions, hidden, generator, recurrent=recurrent)
