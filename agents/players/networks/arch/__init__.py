"""Networks by name: each is a module of this package that bears its name, with one subclass of ``PolicyValueNet``.

The class declares the arguments of the network as ``Arguments``, whose ``tag`` is that name. In configurations, checkpoints and
Python a network is ``{name, **arguments}``, as in ``{"name": "residual", "width": 128, "blocks": 3}``. A folder that is appended
to ``__path__`` of this package adds the networks in its files.

The modules need torch; names and arguments do not where ``networks.inference`` computes the network too, which has the class of
its arguments.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABCMeta
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import (
    CheckpointError,
    ConfigError,
    MissingLibraryError,
    as_sentence,
    quoted,
    unknown_name_message,
)
from nainjaune_env.core.layout import Layout

from ....base.settings import Choice, choose
from ..checkpoint import Checkpoint
from ..inference import NAMES, class_of, get_inference
from ..inference.base import NetArguments

if TYPE_CHECKING:
    import torch

    from ..policy_value import PolicyValueNet


def arch_names() -> list[str]:
    """Returns the names of all networks."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def get_arch(name: str) -> type[PolicyValueNet]:
    """Returns the class of the network ``name``; raises :class:`ConfigError` for an unknown name."""
    if name not in arch_names():
        raise ConfigError(unknown_name_message("arch", name, arch_names()))
    from ..policy_value import PolicyValueNet

    cls: type[PolicyValueNet] = class_of(importlib.import_module(f"{__name__}.{name}"), PolicyValueNet)
    return cls


def arguments_of(name: str) -> type[NetArguments]:
    """Returns the class of the arguments of the network ``name``; raises :class:`ConfigError` for an unknown name."""
    return get_inference(name).Arguments if name in NAMES else get_arch(name).Arguments


class Network(Choice, metaclass=ABCMeta):
    """The type of a key that takes a network, ``{name, **arguments}``; its values are ``NetArguments``."""

    @classmethod
    def names(cls) -> list[str]:
        """Returns the names of all networks."""
        return arch_names()

    @classmethod
    def struct(cls, name: str) -> type[NetArguments]:
        """Returns the class of the arguments of one of them."""
        return arguments_of(name)


Network.register(NetArguments)


def read_arch(arch: object) -> NetArguments:
    """Returns the network ``{name, **arguments}`` as an instance of its arguments' class.

    Raises :class:`ConfigError` for an unknown network and for arguments that it does not take.
    """
    arguments = choose(Network, arch, "The network", key="arch")
    assert isinstance(arguments, NetArguments)
    return arguments


def make_net(arch: Network | Mapping[str, Any], layout: Layout, actions: int, generator: torch.Generator) -> PolicyValueNet:
    """Returns an untrained network, its weights drawn from ``generator`` alone; raises what :func:`read_arch` does."""
    arguments = read_arch(arch)
    return get_arch(arguments.name)(layout, actions, arguments, generator)


def stored_arguments(checkpoint: Checkpoint, where: str) -> Any:
    """Returns the arguments of the network of a checkpoint.

    Raises :class:`CheckpointError` for an unknown network and for arguments that it does not take, and
    :class:`MissingLibraryError` without torch for one that ``networks.inference`` does not compute.
    """
    name = checkpoint.arch.get("name")
    if name not in arch_names():
        raise CheckpointError(
            f"The network of {where} is of the arch {quoted(name)}, and here there are {', '.join(arch_names())}: its file is "
            "missing from the folders of networks.arch, or a newer version has it."
        )
    try:
        return read_arch(checkpoint.arch)
    except ModuleNotFoundError as error:
        need = f"The network of {where} is of the arch {name!r}, which torch computes, and"
        raise MissingLibraryError(need, str(error.name), "train") from error
    except ConfigError as error:
        raise CheckpointError(f"The tensors of {where} are not those of its network: {as_sentence(error)}") from None
