"""Networks of checkpoints as torch computes them, for training, for GPUs, and for architectures that only torch computes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray

from nainjaune_env.core.errors import CheckpointError, as_sentence
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from .arch import make_net, stored_arguments
from .checkpoint import Checkpoint, playing_weights
from .common_layout import CommonView, random_payoff_scale
from .fit import layout_of
from .inference import NAMES, get_inference
from .inference.base import InferenceNet
from .policy_value import PolicyValueNet


def build_net(checkpoint: Checkpoint, setup: Setup, where: str) -> PolicyValueNet:
    """Returns the network of a checkpoint for the observations of ``setup``; one for all tables is specialised to it.

    Raises :class:`CheckpointError` where the tensors do not fit the network that the checkpoint declares.
    """
    net = stored_net(checkpoint, layout_of(checkpoint, setup), where)
    return (specialised(net, setup) if checkpoint.common else net).eval()


def stored_net(checkpoint: Checkpoint, layout: Layout, where: str) -> PolicyValueNet:
    """Returns the network of a checkpoint as it was trained, for observations of ``layout``.

    Raises :class:`CheckpointError` where the tensors do not fit the network that the checkpoint declares.
    """
    stored_arguments(checkpoint, where)
    try:
        return net_with(checkpoint.arch, layout, checkpoint.actions, playing_weights(checkpoint))
    except (RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(f"The tensors of {where} are not those of its network: {as_sentence(error)}") from None


def net_with(arch: Mapping[str, Any], layout: Layout, actions: int, weights: Mapping[str, NDArray[Any]]) -> PolicyValueNet:
    """Returns the network ``arch`` with ``weights``; raises RuntimeError where they are not those of such a network."""
    net = make_net(arch, layout, actions, torch.Generator())
    net.load_state_dict(tensors_of(weights))
    return net


def tensors_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, torch.Tensor]:
    """Returns the ``arrays`` as tensors, which share their memory."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def specialised(net: PolicyValueNet, setup: Setup) -> PolicyValueNet:
    """Returns a copy of ``net``, which takes the common layout of a game, for the observations of ``setup``.

    What is constant there moves into its weights (``InferenceNet.at_table``); where ``networks.inference`` does not compute such
    a network, it is put beside each observation. Raises ValueError where ``net`` is not on the common layout of the game.
    """
    view = CommonView(setup)
    if net.zero.shape != (view.layout.size,):
        raise ValueError(f"a network for all tables takes {view.layout.size} bytes, and this one takes {len(net.zero)}")
    if has_inference(net):
        table_net = as_torch(inference_net(net, setup, common=True))
        table_net.threads = net.threads
        return table_net
    table_net = copy.deepcopy(net)
    table_net.take_table(view)
    table_net.payoff_scale.fill_(random_payoff_scale(setup))
    return table_net


def has_inference(net: PolicyValueNet) -> bool:
    """Returns whether ``networks.inference`` computes networks of this arch."""
    return net.arch["name"] in NAMES


def inference_net(net: PolicyValueNet, setup: Setup, *, common: bool) -> InferenceNet:
    """Returns the network as ``networks.inference`` computes it, for the observations of ``setup``.

    ``common`` as in checkpoints: whether ``net`` takes the common layout.
    """
    cls = get_inference(net.arch["name"])
    weights = {name: tensor.cpu().numpy() for name, tensor in net.state_dict().items()}
    if common:
        return cls.at_table(net.arguments, weights, setup, net.policy.out_features)
    return cls(net.arguments, weights, setup.layout, net.policy.out_features)


def as_torch(net: Any) -> PolicyValueNet:
    """Returns the network of an agent as torch computes it: itself, or one with the weights of an ``InferenceNet``."""
    if isinstance(net, InferenceNet):
        net = net_with(net.arch, net.layout, net.actions, net.weights).eval()
    assert isinstance(net, PolicyValueNet)
    return net
