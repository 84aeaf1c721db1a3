"""The networks of PPO as it asks them: forward to play, forward and back to learn, in float32 or bfloat16.

A network that remembers nothing is a chain of linear layers over the bytes of an observation (:meth:`PolicyValueNet.layers`),
its heads side by side as one: that is all that is computed, in the precision that is asked for, while what learns stays in
float32. One that remembers goes through torch's GRU, in bfloat16 by autocast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..networks import BeliefHead, PolicyValueNet, ValueNet, before_last, through
from ..quick_net import QuickNet

JUDGED = 2048
"""Most that go through the critic at once."""


class Told(NamedTuple):
    """What a pass over K decisions gives, to be differentiated."""

    policy: Tensor  # (K, A + 1) float32: logits, not masked, and the value
    judged: Tensor | None  # (K,) the critic's values, None without one
    recall_loss: Tensor  # scalar
    belief_loss: Tensor  # scalar


@dataclass
class Networks:
    """What learns: what plays, and what only training has."""

    net: PolicyValueNet
    critic: ValueNet | None
    belief: BeliefHead | None
    private: NDArray[np.int64]  # the places of an observation's private bytes, which are to be recalled
    high: NDArray[np.float32]  # what each of these is at most
    recalling: bool
    bf16: bool

    def modules(self) -> Iterator[tuple[str, torch.nn.Module]]:
        """Each by what it is called in checkpoints."""
        for name, module in (("model.", self.net), ("critic.", self.critic), ("belief.", self.belief)):
            if module is not None:
                yield name, module

    @property
    def dtype(self) -> torch.dtype:
        """What is multiplied."""
        return torch.bfloat16 if self.bf16 else torch.float32

    def autocast(self) -> torch.autocast:
        """For what is not a chain of layers."""
        return torch.autocast(self.net.device.type, torch.bfloat16, enabled=self.bf16)

    def learn(self, observation: Tensor, omniscient: Tensor, batch_sizes: Tensor | None) -> Told:
        """A pass over decisions: ``observation (K, size) uint8``, and ``omniscient (K, larger size)`` for the critic.

        ``batch_sizes`` is for a network that remembers, see :meth:`PolicyValueNet.trunk`.
        """
        nothing = torch.zeros((), device=observation.device)
        recall_loss = belief_loss = nothing
        if self.net.recurrent:
            with self.autocast():
                features, state = self.net.trunk(observation, batch_sizes=batch_sizes)
                logits, value = self.net.heads(features)
            policy = torch.cat([logits, value[:, None]], dim=1)
            if self.recalling:
                assert state is not None
                assert batch_sizes is not None
                recall_loss = self.recall_loss(observation, state, batch_sizes)
        else:
            layers = self.net.layers(self.dtype)
            features = before_last(layers, observation)
            policy = torch.nn.functional.linear(features, *layers[-1]).float()
            if not self.net.hidden:  # the heads' weights take in how bytes are scaled, and others' do not
                features = self.net.scaled(observation)
        if self.belief:
            with self.autocast():
                belief_loss = self.belief.loss(features, omniscient)
        judged = through(self.critic.layers(self.dtype), omniscient).squeeze(1).float() if self.critic else None
        return Told(policy, judged, recall_loss, belief_loss)

    def stepper(self) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The networks as they are now, to play with: of ``observation (K, size) uint8`` and ``state (K, recurrent)``.

        Gives what ``policy`` is in :class:`Told`, and the state after.
        """
        if self.net.recurrent:
            return self._remember
        with torch.no_grad():
            layers = self.net.layers(self.dtype)
        return lambda observation, state: (through(layers, observation).float(), state)

    def _remember(self, observation: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        with self.autocast():
            logits, value, after = self.net(observation, state)
        return torch.cat([logits, value[:, None]], dim=1), after.float()

    @torch.inference_mode()
    def judged(self, omniscient: Tensor) -> Tensor:
        """Values ``(K,) float32`` of the critic, of ``omniscient (K, larger size) uint8``."""
        assert self.critic is not None
        layers = self.critic.layers(self.dtype)
        return torch.cat([through(layers, piece) for piece in torch.split(omniscient, JUDGED)]).squeeze(1).float()

    def recall_loss(self, observation: Tensor, state: Tensor, batch_sizes: Tensor) -> Tensor:
        """Cross-entropy of telling the private bytes of each chain's first observation from the state at each decision."""
        private = torch.from_numpy(self.private).to(observation.device)
        first = observation[: batch_sizes[0]][:, private].float() / torch.from_numpy(self.high).to(observation.device)
        goal = torch.cat([first[:number] for number in batch_sizes.tolist()])
        with self.autocast():
            told = self.net.recall(state)
        return torch.nn.functional.binary_cross_entropy_with_logits(told.float(), goal)


class Player:
    """The networks as they are now, to play with and judge by: of NumPy's arrays, on the CPU."""

    def __init__(self, networks: Networks) -> None:
        self._networks = networks
        self._quick = None if networks.net.recurrent else QuickNet(networks.net, networks.dtype, value=True)

    def told(self, observation: NDArray[np.uint8], state: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits, not masked, and the value in the last column, ``(K, A + 1)``; ``state (K, recurrent)`` is written over."""
        if self._quick:
            return self._quick.logits(observation)
        with self._networks.autocast():
            logits, value = self._networks.net.evaluate(observation, state)
        return np.concatenate([logits, value[:, None]], axis=1)

    def judged(self, omniscient: NDArray[np.uint8]) -> NDArray[np.float32] | None:
        """Values ``(K,)`` of the critic that sees all hands; None where there is none."""
        networks = self._networks
        return networks.judged(torch.from_numpy(omniscient)).numpy() if networks.critic else None
