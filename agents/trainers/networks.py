"""The networks as an iteration uses them: to play rounds, and to learn. Plain MLPs are fused, all others go through torch."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from ..nets.fused_mlp import FusedInference, FusedTraining, RunPair
from ..nets.modules import ValueNet
from ..nets.policy_value import PolicyValueNet

CRITIC_ROWS = 2048
"""Most observations that go through the critic at once."""


class RolloutPolicy:
    """The networks as rollouts use them: fused where they are plain MLPs, through torch otherwise."""

    def __init__(self, net: PolicyValueNet, critic: ValueNet | None, dtype: torch.dtype) -> None:
        """``dtype`` of the products. The networks stay on their device."""
        self.net = net
        chain = net.fused()
        self._fused = FusedInference(chain, dtype) if chain else None
        self._critic = FusedInference(critic.fused(), dtype) if critic else None
        self._bf16 = dtype is torch.bfloat16
        self._states = net.initial_state(0)

    @property
    def has_critic(self) -> bool:
        """Whether a critic of its own judges in place of the network's value head."""
        return self._critic is not None

    def begin(self, trajectories: int) -> None:
        """Begins rounds: forgets all states, and keeps one for each of ``trajectories`` numbers of a (table, seat)."""
        if self.net.recurrent:
            self._states = self.net.initial_state(trajectories)

    def refresh(self) -> None:
        """Plays from here on by the parameters as they are now."""
        for fused in (self._fused, self._critic):
            if fused:
                fused.refresh()

    def __call__(self, observation: Tensor, trajectory_id: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits ``(K, A)``, not masked, and values ``(K,)``, float32.

        ``observation (K, size) uint8``; ``trajectory_id (K,) int64``, none twice: of whom, for networks with memory.
        """
        if self._fused:
            logits, value = self._fused(observation)
            return logits, value.squeeze(1)
        with torch.inference_mode(), torch.autocast(observation.device.type, torch.bfloat16, enabled=self._bf16):
            state = self._states[trajectory_id] if self.net.recurrent else None
            logits, value, after = self.net(observation, state)
            if after is not None:
                self._states[trajectory_id] = after.float()
        return logits, value

    def critic_value(self, critic_obs: Tensor) -> Tensor:
        """Returns the critic's values ``(K,)`` of ``critic_obs (K, critic_obs_size) uint8``."""
        assert self._critic is not None
        return torch.cat([self._critic(part)[0] for part in torch.split(critic_obs, CRITIC_ROWS)]).squeeze(1)


class NetOutput(NamedTuple):
    """The outputs of the networks for K decisions."""

    logits: Tensor  # (K, A) float32, not masked
    value: Tensor  # (K,) float32
    critic_value: Tensor | None  # (K,) float32, None without a critic
    state: Tensor | None  # (K, recurrent) after each decision, None without memory


class LearningNets:
    """The networks with gradients."""

    def __init__(self, net: PolicyValueNet, critic: ValueNet | None, dtype: torch.dtype, run_pair: RunPair | None = None) -> None:
        """``dtype`` of the products; ``run_pair`` runs two parts of a pass at the same time (None: in turn)."""
        self.net = net
        self._bf16 = dtype is torch.bfloat16
        chain = net.fused()
        self._fused = FusedTraining(chain, dtype, run_pair) if chain else None
        self._critic = FusedTraining(critic.fused(), dtype, run_pair) if critic else None

    def __call__(self, observation: Tensor, omniscient: Tensor, batch_sizes: Tensor | None) -> NetOutput:
        """Returns the outputs for ``observation (K, size) uint8``, and ``omniscient (K, critic_obs_size) uint8`` for the critic.

        ``batch_sizes`` of packed sequences for a network with memory, see ``PolicyValueNet.trunk``.
        """
        critic_value = self._critic(omniscient)[0].squeeze(1) if self._critic else None
        if self._fused:
            logits, value, _ = self._fused(observation)
            return NetOutput(logits, value.squeeze(1), critic_value, None)
        with self._autocast():
            features, state = self.net.trunk(observation, sequences=batch_sizes)
            logits, value = self.net.heads(features)
        return NetOutput(logits, value, critic_value, state)

    def clip(self, max_norm: float) -> Tensor:
        """Scales the gradient of each network down to ``max_norm``; returns the norm that the policy's had."""
        norm = self._fused.clip_grad_norm_(max_norm) if self._fused else clip_grad_norm_(self.net.parameters(), max_norm)
        if self._critic:
            self._critic.clip_grad_norm_(max_norm)
        return norm

    def recall_loss(self, observation: Tensor, state: Tensor | None, batch_sizes: Tensor | None) -> Tensor:
        """Returns that of ``PolicyValueNet.recall_loss``, for a network with memory."""
        assert state is not None
        assert batch_sizes is not None
        with self._autocast():
            return self.net.recall_loss(observation, state, batch_sizes)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.net.device.type, torch.bfloat16, enabled=self._bf16)
