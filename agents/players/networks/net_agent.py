"""A trained network as an agent. Networks that ``networks.inference`` computes play without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.errors import AgentError, CheckpointError, MissingLibraryError, as_sentence
from nainjaune_env.core.spec import Setup

from ...base.devices import check_device
from ..search.policies import Scorer
from .arch import stored_arguments
from .checkpoint import Checkpoint, load_checkpoint, playing_weights
from .fit import check_fits, check_rules
from .inference import NAMES, get_inference
from .inference.base import InferenceNet
from .inference.chain import Layer
from .inference.mlp import MLPInference
from .policy_agent import PolicyAgent

ROWS = 16384
"""Most decisions computed at once."""


class PlayingNet(Protocol):
    """A network as an agent plays it: an ``InferenceNet``, or a ``PolicyValueNet`` of torch."""

    recurrent: int
    """Units of a seat's state; 0 = no memory."""
    payoff_scale: Any
    """The unit of its values, a number."""
    threads: int
    """Threads that compute a large batch."""

    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns logits ``(K, A)``, not masked, and values ``(K,)``; overwrites ``state (K, recurrent)``."""
        ...

    def scorer(self) -> Scorer:
        """Returns the logits by the fastest computation available, for a network without memory."""
        ...


class NetAgent(PolicyAgent):
    """Plays by a network of ours."""

    def __init__(self, name: str, net: PlayingNet, *, stochastic: bool = False) -> None:
        super().__init__(name, net.recurrent, stochastic=stochastic)
        self.net = net
        self.depends_on_batch = not isinstance(net, InferenceNet)  # our compiled layers round a row by itself

    def scorer(self) -> Scorer:
        """Returns the network for rollouts; a torch network's logits may differ by rounding.

        Raises ValueError where it has memory.
        """
        self.check_scorer()
        return self.net.scorer()

    def logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        """See :meth:`PolicyAgent.logits`."""
        state, observation = decisions.state if self.net.recurrent else None, decisions.observation
        if len(observation) <= ROWS:
            return self.net.evaluate(observation, state)[0]
        parts = []
        for at in range(0, len(observation), ROWS):
            piece = slice(at, at + ROWS)
            parts.append(self.net.evaluate(observation[piece], None if state is None else state[piece])[0])
        return np.concatenate(parts)


def folded_layers(agent: Agent) -> list[Layer]:
    """Returns weight ``(outputs, inputs)`` and bias ``(outputs,)`` of each layer of a plain MLP, for another program to play by.

    Inputs are the bytes of an observation as they are: their scale and zero are folded into the first layer, in float32 as all
    weights, and so are seats and rules where the network is for all tables. A ReLU follows each layer but the last, whose outputs
    are a logit for each action and then the value. Raises :class:`AgentError` for an agent that is no such network.
    """
    net = agent.net if isinstance(agent, NetAgent) else None
    if not isinstance(net, MLPInference) or net.recurrent:
        raise AgentError(f"Expected a player that is a plain MLP without memory, not {agent.name!r}.")
    return net.layers


def playing_net(checkpoint: Checkpoint, setup: Setup, where: str, device: str | None = None, threads: int = 1) -> PlayingNet:
    """Returns the network of a checkpoint for the observations of ``setup``; one for all tables is folded to it.

    ``threads`` compute large batches.
    torch computes it on a ``device`` other than the CPU (None: the CPU), and if ``networks.inference`` has no such network.
    Raises :class:`CheckpointError` where the tensors do not fit the network that the checkpoint declares,
    :class:`~nainjaune_env.core.errors.DeviceError` where there is no such device, and :class:`MissingLibraryError` without torch.
    """
    arguments, name = stored_arguments(checkpoint, where), checkpoint.arch["name"]
    if device not in (None, "cpu") or name not in NAMES:
        try:
            from .torch_nets import build_net
        except ModuleNotFoundError as error:
            raise MissingLibraryError(f"A network on device={device!r}", str(error.name), "train") from error
        net: PlayingNet = build_net(checkpoint, setup, where).to(check_device(device or "cpu"))
        net.threads = threads
        return net
    cls, weights = get_inference(name), playing_weights(checkpoint)
    try:
        if checkpoint.common:
            net = cls.at_table(arguments, weights, setup, checkpoint.actions)
        else:
            net = cls(arguments, weights, setup.layout, checkpoint.actions)
    except ValueError as error:
        raise CheckpointError(f"The tensors of {where} are not those of its network: {as_sentence(error)}") from None
    net.threads = threads
    return net


def load_net_agent(
    path: Path,
    setup: Setup,
    name: str,
    *,
    algorithm: str | None = None,
    stochastic: bool = False,
    any_rules: bool = False,
    device: str | None = None,
    threads: int = 1,
) -> NetAgent:
    """Returns the agent trained in the run at ``path`` (a folder or a checkpoint file), for tables with ``setup``, on ``device``.

    ``threads`` compute large batches.
    Raises :class:`CheckpointError` where it cannot play at them, was trained by another ``algorithm`` (None: any), or, without
    ``any_rules``, under other rules, and :class:`~nainjaune_env.core.errors.DeviceError` where there is no such device.
    """
    checkpoint = load_checkpoint(path)
    if algorithm is not None and checkpoint.algorithm != algorithm:
        raise CheckpointError(f"{str(path)!r} was trained by {checkpoint.algorithm!r}, not by {algorithm!r}.")
    check_fits(checkpoint, setup, repr(str(path)))
    if not any_rules:
        check_rules(checkpoint, setup, repr(str(path)))
    return NetAgent(name, playing_net(checkpoint, setup, repr(str(path)), device, threads), stochastic=stochastic)
