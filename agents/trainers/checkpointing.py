"""What a trainer keeps in a checkpoint, and how it takes it out again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from ..loading import checkpoint_path
from ..nets.checkpoint import Checkpoint, check_fits, load_checkpoint
from ..nets.net_agent import build_net, stored_net
from ..nets.policy_value import PolicyValueNet
from .config import differing


def checkpoint_of(
    config: Any,
    setup: Setup,
    *,
    iteration: int,
    progress: dict[str, float],
    tensors: dict[str, Tensor],
    recurrent: int = 0,
    common: Layout | None = None,
) -> Checkpoint:
    """A checkpoint of a run under ``config``, which says its ``algorithm`` and the ``hidden`` layers of its network.

    ``common``: the layout that the network takes if it is one for all tables of the game, None if it takes that of ``setup``.
    """
    head = setup.to_dict()
    return Checkpoint(
        algorithm=config.algorithm,
        game=head["game"],
        preset=head["preset"],
        rules=head["rules"],
        players=head["players"],
        layout=(common or setup.layout).fingerprint,
        actions=len(setup.game.actions),
        arch=config.arch,
        hidden=list(config.hidden),
        iteration=iteration,
        config=dataclasses.asdict(config),
        recurrent=recurrent,
        common=common is not None,
        progress=progress,
        tensors=tensors,
    )


@contextmanager
def taking_up(checkpoint: Checkpoint, config: Any, setup: Setup) -> Iterator[None]:
    """Within this a trainer takes over what the ``checkpoint`` of its own run holds.

    Raises :class:`CheckpointError` where it comes from another configuration, or its tensors are not what they should be.
    """
    check_fits(checkpoint, setup, "the run's checkpoint")
    other = differing(dataclasses.asdict(config), checkpoint.config)
    if other:
        raise CheckpointError(f"The run's checkpoint comes from another configuration: {', '.join(other)} differ.")
    try:
        yield
    except (RuntimeError, ValueError, KeyError) as error:
        raise CheckpointError(f"The run's checkpoint does not fit its configuration: {error}.") from None


def begin_from(net: PolicyValueNet, run: str, setup: Setup, *, common: Layout | None = None) -> None:
    """Let ``net`` begin as the network of another ``run``, by its name as an agent, and take over nothing else of it.

    ``common`` is the layout of ``net`` if it is one for all tables of the game, None if it is for tables with ``setup``. Raises
    :class:`CheckpointError` where there is no such run, or the two networks are not alike.
    """
    checkpoint = load_checkpoint(checkpoint_path(run, setup) or Path(run))
    where = f"{run!r}, which the run is to begin from,"
    check_fits(checkpoint, setup, where)
    mine = (net.arch, list(net.hidden), net.recurrent)
    other = (checkpoint.arch, checkpoint.hidden, checkpoint.recurrent)
    if mine != other:
        theirs, ours = (f"arch={arch} hidden={hidden} recurrent={units}" for arch, hidden, units in (other, mine))
        raise CheckpointError(f"{where} has {theirs}, and this run has {ours}.")
    if common and not checkpoint.common:
        raise CheckpointError(f"{where} is a network for one table, and this run is for a mixture.")
    whole = stored_net(checkpoint, common, where) if common else build_net(checkpoint, setup, where)
    net.load_state_dict(whole.state_dict())


def named(prefix: str, net: torch.nn.Module) -> dict[str, Tensor]:
    """The tensors of a network, with ``prefix`` before their names."""
    return {prefix + name: tensor for name, tensor in net.state_dict().items()}


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


OPTIMIZER = "optimizer."


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimizer has gathered, ``optimizer.<parameter>.<key>``."""
    state = optimizer.state_dict()["state"]
    return {f"{OPTIMIZER}{number}.{key}": tensor for number, found in state.items() for key, tensor in found.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Let ``optimizer`` go on with what :func:`optimizer_tensors` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in under(OPTIMIZER, tensors).items():
        number, key = name.split(".")
        state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
