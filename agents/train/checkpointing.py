"""Tensors of modules and optimizers in a checkpoint, and what a run takes over from its own or another run's checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from nainjaune_env.core.errors import CheckpointError, as_sentence
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from ..players.loading import checkpoint_path
from ..players.networks.checkpoint import Checkpoint, check_objective, load_checkpoint
from ..players.networks.fit import check_fits
from ..players.networks.policy_value import PolicyValueNet
from ..players.networks.torch_nets import build_net, stored_net
from .config import changed_keys


@contextmanager
def restoring(checkpoint: Checkpoint, config: Any, setup: Setup) -> Iterator[None]:
    """Within this context a trainer takes over the state in a ``checkpoint`` of its own run.

    Raises :class:`CheckpointError` if that is of another configuration, or an error within shows that its tensors do not fit.
    """
    check_fits(checkpoint, setup, "the run's checkpoint")
    changed = changed_keys(config.to_dict(), checkpoint.config)
    if changed:
        raise CheckpointError(f"The run's checkpoint comes from another configuration: {', '.join(changed)} differ.")
    try:
        yield
    except (RuntimeError, ValueError, KeyError) as error:
        raise CheckpointError(f"The run's checkpoint does not fit its configuration: {as_sentence(error)}") from None


def load_initial_weights(
    net: PolicyValueNet, run: str, setup: Setup, *, objective: str | None = None, common: Layout | None = None
) -> None:
    """Copies the network of another ``run``, named as an agent, into ``net``, and nothing else of that run.

    ``objective`` is the one that ``net`` is trained for (None: any). ``common`` is the layout of ``net`` if it plays all tables
    of the game, None if it plays tables with ``setup`` only.

    Raises :class:`~nainjaune_env.core.errors.AgentError` for a zoo player without a network for such tables, and
    :class:`CheckpointError` if there is no such run, it was trained for another objective, which its value head predicts, or the
    two networks differ in their layers or their layout.
    """
    path = checkpoint_path(run, setup, anywhere=common is not None, any_rules=True)  # it learns to play under those of `setup`
    checkpoint = load_checkpoint(path or Path(run))
    where = f"{run!r}, named by 'init',"
    check_fits(checkpoint, setup, where)
    check_objective(checkpoint, objective, where)
    if common and not checkpoint.common:
        raise CheckpointError(f"{where} is a network for one table, and this run is for a mixture.")
    source = stored_net(checkpoint, common, where) if common else build_net(checkpoint, setup, where)
    if source.arch != net.arch:
        source_arch, net_arch = (
            yaml.safe_dump(one.arch, default_flow_style=True, sort_keys=False).strip() for one in (source, net)
        )
        raise CheckpointError(f"{where} has arch={source_arch}, and this run has arch={net_arch}.")
    net.load_state_dict(source.state_dict())


def with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns ``tensors`` with ``prefix`` before their names."""
    return {prefix + name: tensor for name, tensor in tensors.items()}


def without_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns those ``tensors`` whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def optimizer_tensors(prefix: str, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Returns the state of an optimizer: ``<prefix><parameter>.<key>``, parameters numbered."""
    state = optimizer.state_dict()["state"]
    return {f"{prefix}{number}.{key}": tensor for number, values in state.items() for key, tensor in values.items()}


def load_optimizer(prefix: str, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Sets the state of ``optimizer`` to what :func:`optimizer_tensors` returned; other ``tensors`` are ignored."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in without_prefix(prefix, tensors).items():
        number, key = name.split(".")
        state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
