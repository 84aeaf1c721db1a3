"""A trained network as an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch, Rng
from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from ..sampling import greedy, sample
from .checkpoint import Checkpoint, check_fits, load_checkpoint
from .common_layout import common_layout
from .devices import check_device
from .modules import PolicyValueNet
from .quick_net import QuickNet
from .specialised import specialised

ROWS = 16384
"""Most decisions that go through the network at once."""


class NetAgent:
    """Plays the network's most likely action, or draws from its policy; remembers what the network does."""

    def __init__(self, name: str, net: PolicyValueNet, *, stochastic: bool = False, device: str | None = None) -> None:
        """``device`` (``"cpu"``, ``"cuda"``) is where ``net`` is moved to and computes; None: where it is.

        Turns and answers are NumPy's wherever it is. Raises :class:`~nainjaune_env.core.errors.DeviceError` for a device that
        there is
        not.
        """
        self.name = name
        self.net = net if device is None else net.to(check_device(device))
        self.stochastic = stochastic

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """The network's state: ``(recurrent,) float32``, nothing where it has none."""
        return np.dtype((np.float32, (self.net.recurrent,)))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """A legal action for each decision, shape ``(K,)``."""
        logits = self._logits(decisions)
        if self.stochastic:
            return sample(logits, decisions.legal, rng)[0]
        return greedy(logits, decisions.legal)

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        """The policy, shape ``(K, A)``; all on the likeliest action where it does not draw."""
        logits = self._logits(decisions)
        if not self.stochastic:
            return np.eye(decisions.num_actions)[greedy(logits, decisions.legal)]
        legal = np.where(decisions.mask, logits.astype(np.float64), -np.inf)
        weights = np.exp(legal - legal.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def scorer(self) -> QuickNet:
        """The network as it is now, for rollouts: near enough to it and several times as quick."""
        return QuickNet(self.net)

    def _logits(self, decisions: DecisionBatch) -> NDArray[np.float32]:
        state = decisions.state if self.net.recurrent else None
        parts = []
        for at in range(0, max(len(decisions.index), 1), ROWS):  # of no decision too there is something to put together
            piece = slice(at, at + ROWS)
            parts.append(self.net.evaluate(decisions.observation[piece], None if state is None else state[piece])[0])
        return np.concatenate(parts)


def build_net(checkpoint: Checkpoint, setup: Setup, where: str) -> PolicyValueNet:
    """The network of a checkpoint, for the observations of ``setup``; of one for all tables, what it is at this one.

    Raises :class:`CheckpointError` where its tensors are not those of such a network.
    """
    if not checkpoint.common:
        return stored_net(checkpoint, setup.layout, where).eval()
    return specialised(stored_net(checkpoint, common_layout(setup.game), where), setup).eval()


def stored_net(checkpoint: Checkpoint, layout: Layout, where: str) -> PolicyValueNet:
    """The network of a checkpoint as it was trained, on the observation ``layout`` that it is for.

    Raises :class:`CheckpointError` where its tensors are not those of such a network.
    """
    weights = {name.removeprefix("model."): t for name, t in checkpoint.tensors.items() if name.startswith("model.")}
    try:
        net = PolicyValueNet(layout, checkpoint.actions, checkpoint.hidden, torch.Generator(), recurrent=checkpoint.recurrent)
        net.load_state_dict(weights)
        if checkpoint.common and not net.hidden:
            raise ValueError("a network for all tables has a hidden layer")
    except (RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(f"The tensors of {where} are not those of its network: {error}.") from None
    return net


def load_net_agent(
    path: Path,
    setup: Setup,
    name: str,
    *,
    algorithm: str | None = None,
    stochastic: bool = False,
    device: str | None = None,
) -> NetAgent:
    """The agent trained in the run at ``path`` (a folder or a checkpoint file), for tables with ``setup``, on ``device``.

    Raises :class:`CheckpointError` where it cannot play at them, or was trained by another ``algorithm`` (None: any), and
    :class:`~nainjaune_env.core.errors.DeviceError` for a device that there is not.
    """
    checkpoint = load_checkpoint(path)
    if algorithm is not None and checkpoint.algorithm != algorithm:
        raise CheckpointError(f"{str(path)!r} was trained by {checkpoint.algorithm!r}, not by {algorithm!r}.")
    check_fits(checkpoint, setup, repr(str(path)))
    return NetAgent(name, build_net(checkpoint, setup, repr(str(path))), stochastic=stochastic, device=device)
