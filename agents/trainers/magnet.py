"""The magnet of PPO: an average of past policies that the policy is pulled towards, by their KL divergence.

Self-play by policy gradients moves around an equilibrium rather than to it. With a term ``weight * KL(policy || magnet)`` in the
loss it settles at the equilibrium of a regularised game; and where the magnet itself follows the policy slowly, the equilibria
approach one of the game as it is.

Sources: Sokota et al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player zero-sum
games", 2023 (magnetic mirror descent; its proximal term is what PPO clips for); Perolat et al., "From Poincaré recurrence to
convergence in imperfect information games", 2021 (a regularisation that follows the policy); Rudolph et al., "Reevaluating policy
gradient methods for imperfect-information games", 2025.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..nets.fused_mlp import FusedInference
from ..nets.modules import masked_log_softmax
from ..nets.policy_value import PolicyValueNet
from .gpu_rollout import unpacked


class Magnet:
    """The policy of a network that a trainer keeps as a moving average of the learner's."""

    def __init__(self, net: PolicyValueNet, dtype: torch.dtype) -> None:
        """``dtype`` of the products, where the network is a plain MLP. It is not copied, and stays on its device."""
        self._net = net
        chain = net.fused()
        self._fused = FusedInference(chain, dtype) if chain else None

    def refresh(self) -> None:
        """Computes from here on by the parameters as they are now."""
        if self._fused:
            self._fused.refresh()

    def kl(self, logits: Tensor, legal: Tensor, observation: Tensor, batch_sizes: Tensor | None) -> Tensor:
        """Returns the mean of KL(policy || magnet) over decisions, in nats, a scalar with gradients by ``logits`` alone.

        ``logits (K, A)``, not masked, and ``legal (K,) int64`` words are the policy's at ``observation (K, size) uint8``;
        ``batch_sizes`` of packed sequences for a network with memory.
        """
        mask = unpacked(legal, logits.shape[1])
        with torch.no_grad():
            goal = masked_log_softmax(self._logits(observation, batch_sizes), mask)
        log_policy = masked_log_softmax(logits, mask)
        return (log_policy.exp() * (log_policy - goal)).sum(dim=1).mean()

    def _logits(self, observation: Tensor, batch_sizes: Tensor | None) -> Tensor:
        if self._fused:
            return self._fused(observation)[0].clone()  # outside inference mode, so that autograd may keep it
        features, _ = self._net.trunk(observation, sequences=batch_sizes)
        return self._net.heads(features)[0]
