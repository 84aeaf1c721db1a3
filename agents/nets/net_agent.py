"""A trained network as an agent."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.errors import CheckpointError, as_sentence
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from ..sampling import greedy, sample
from .arch import make_net
from .checkpoint import Checkpoint, check_fits, check_rules, layout_of, load_checkpoint
from .common_layout import CommonView
from .devices import check_device
from .fused_mlp import FusedInference, fast_dtype
from .payoff_scale import random_payoff_scale
from .policy_value import PolicyValueNet

ROWS = 16384
"""Most decisions computed at once."""


class NetAgent:
    """Plays the network's most likely action, or samples from its policy; keeps the network's state where it has one."""

    def __init__(self, name: str, net: PolicyValueNet, *, stochastic: bool = False, device: str | None = None) -> None:
        """``device`` (``"cpu"``, ``"cuda"``): where ``net`` is moved and computes; None: where it is.

        Decisions and actions are NumPy arrays in any case. Raises :class:`~nainjaune_env.core.errors.DeviceError` where there is
        no such device.
        """
        self.name = name
        self.net = net if device is None else net.to(check_device(device))
        self.stochastic = stochastic

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns the dtype of the network's state: ``(recurrent,) float32``, of size 0 without memory."""
        return np.dtype((np.float32, (self.net.recurrent,)))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns a legal action for each decision, shape ``(K,)``."""
        logits = self._logits(decisions)
        if self.stochastic:
            return sample(logits, decisions.legal, rng)[0]
        return greedy(logits, decisions.legal)

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """Returns the policy, shape ``(K, A)``: one-hot at the likeliest action where the agent does not sample."""
        logits = self._logits(decisions)
        if not self.stochastic:
            return np.eye(decisions.num_actions)[greedy(logits, decisions.legal)]
        legal = np.where(decisions.mask, logits.astype(np.float64), -np.inf)
        weights = np.exp(legal - legal.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def values(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns what the seats to act net in the rest of the round, ``(K,)``, in the game's unit, by the network's value head.

        ``observation (K, size)``; not for networks with memory.
        """
        return self.net.evaluate(observation)[1] * np.float32(self.net.payoff_scale)

    def scorer(self) -> FusedInference | TorchScorer:
        """Returns a copy of the network for rollouts, fused where it is a plain MLP; its logits may differ by rounding.

        Raises ValueError where it has memory.
        """
        if self.net.recurrent:
            raise ValueError(f"a network with memory ({self.net.recurrent} units) has no logits without its state")
        chain = self.net.fused()
        if chain is None:
            return TorchScorer(self.net)
        return FusedInference(replace(chain, heads=chain.heads[:1]), device="cpu")

    def _logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        state, observation = decisions.state if self.net.recurrent else None, decisions.observation
        parts = []
        for at in range(0, max(len(decisions.index), 1), ROWS):  # one part even of no decisions, to concatenate
            piece = slice(at, at + ROWS)
            parts.append(self.net.evaluate(observation[piece], None if state is None else state[piece])[0])
        return np.concatenate(parts)


class TorchScorer:
    """The logits of a copy of any network without memory, through torch on the CPU."""

    def __init__(self, net: PolicyValueNet, dtype: torch.dtype | None = None) -> None:
        """``dtype`` of the products (None: :func:`fast_dtype`)."""
        self._net = copy.deepcopy(net).cpu().eval()
        self._autocast = (dtype or fast_dtype()) is torch.bfloat16

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns logits ``(K, A)``, not masked, of ``observation (K, size)``."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self._autocast):
            return self._net.evaluate(observation)[0]


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
    weights = {name.removeprefix("model."): t for name, t in checkpoint.tensors.items() if name.startswith("model.")}
    try:
        net = make_net(checkpoint.arch, layout, checkpoint.actions, torch.Generator())
        net.load_state_dict(weights)
    except (RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(f"The tensors of {where} are not those of its network: {as_sentence(error)}") from None
    return net


def specialised(net: PolicyValueNet, setup: Setup) -> PolicyValueNet:
    """Returns ``net``, which takes the common layout of a game, for the observations of ``setup``, with the same outputs.

    At one setup most of what the common layout adds is constant: seats, rules, and zeros where seats are missing. It moves into
    the network (:meth:`PolicyValueNet.fold`), which then costs as little as one for the setup alone. Its values are in units of
    :func:`random_payoff_scale`. Raises ValueError where the network is not on the common layout of the game.
    """
    view = CommonView(setup)
    if net.zero.shape != (view.layout.size,):
        raise ValueError(f"a network for all tables takes {view.layout.size} bytes, and this one takes {len(net.zero)}")
    columns = torch.from_numpy(view.places)
    constant = net.scaled(torch.from_numpy(view.rest)[None])[0].double()
    constant[columns] = 0.0
    small = net.fold(setup.layout, columns, constant)
    small.payoff_scale.fill_(random_payoff_scale(setup))
    return small


def load_net_agent(
    path: Path,
    setup: Setup,
    name: str,
    *,
    algorithm: str | None = None,
    stochastic: bool = False,
    any_rules: bool = False,
    device: str | None = None,
) -> NetAgent:
    """Returns the agent trained in the run at ``path`` (a folder or a checkpoint file), for tables with ``setup``, on ``device``.

    Raises :class:`CheckpointError` where it cannot play at them, was trained by another ``algorithm`` (None: any), or, without
    ``any_rules``, under other rules, and :class:`~nainjaune_env.core.errors.DeviceError` where there is no such device.
    """
    checkpoint = load_checkpoint(path)
    if algorithm is not None and checkpoint.algorithm != algorithm:
        raise CheckpointError(f"{str(path)!r} was trained by {checkpoint.algorithm!r}, not by {algorithm!r}.")
    check_fits(checkpoint, setup, repr(str(path)))
    if not any_rules:
        check_rules(checkpoint, setup, repr(str(path)))
    return NetAgent(name, build_net(checkpoint, setup, repr(str(path))), stochastic=stochastic, device=device)
