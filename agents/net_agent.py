"""A trained network as an agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_env.errors import CheckpointError
from nainjaune_env.spec import Setup

from .agent import Turn
from .checkpoint import Checkpoint, check_fits, load_checkpoint
from .networks import PolicyValueNet
from .sampling import greedy, sample

ROWS = 16384
"""Most decisions that go through the network at once."""


class NetAgent:
    """Plays the network's most likely action, or draws from its policy."""

    def __init__(self, name: str, net: PolicyValueNet, *, stochastic: bool = False) -> None:
        self.name = name
        self.net = net
        self.stochastic = stochastic

    def act(self, turn: Turn, rng: np.random.Generator) -> NDArray[np.int64]:
        """A legal action for each decision, shape ``(K,)``."""
        parts = [turn.observation[at : at + ROWS] for at in range(0, len(turn.index), ROWS)]
        logits = np.concatenate([self.net.evaluate(part)[0] for part in parts])
        if self.stochastic:
            return sample(logits, turn.legal, rng)[0]
        return greedy(logits, turn.legal)


def build_net(checkpoint: Checkpoint, setup: Setup, where: str) -> PolicyValueNet:
    """The network of a checkpoint; raises :class:`CheckpointError` where its tensors are not those of such a network."""
    weights = {name.removeprefix("model."): t for name, t in checkpoint.tensors.items() if name.startswith("model.")}
    try:
        net = PolicyValueNet(setup.layout, len(setup.game.actions), checkpoint.hidden, torch.Generator())
        net.load_state_dict(weights)
    except (RuntimeError, TypeError) as error:
        raise CheckpointError(f"The tensors of {where} are not those of its network: {error}.") from None
    return net.eval()


def load_net_agent(
    path: Path, setup: Setup, name: str, *, algorithm: str | None = None, stochastic: bool = False
) -> NetAgent:
    """The agent trained in the run at ``path`` (a folder or a checkpoint file), for tables with ``setup``.

    Raises :class:`CheckpointError` where it cannot play at them, or was trained by another ``algorithm`` (None: any).
    """
    checkpoint = load_checkpoint(path)
    if algorithm is not None and checkpoint.algorithm != algorithm:
        raise CheckpointError(f"{str(path)!r} was trained by {checkpoint.algorithm!r}, not by {algorithm!r}.")
    check_fits(checkpoint, setup, repr(str(path)))
    return NetAgent(name, build_net(checkpoint, setup, repr(str(path))), stochastic=stochastic)
