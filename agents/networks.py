"""The networks: what plays, one body shared by all seats, and what judges in training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nainjaune_env.layout import Layout


class ObservationNet(nn.Module):
    """The part that networks share: the bytes of an observation, as small floats, through an MLP.

    Bytes become floats by the zero and scale of each slot.
    """

    zero: Tensor
    factor: Tensor

    def __init__(self, layout: Layout, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__()
        self.register_buffer("zero", torch.from_numpy(layout.zero), persistent=False)
        self.register_buffer("factor", torch.from_numpy(1 / layout.scale), persistent=False)
        body: list[nn.Module] = []
        width = layout.size
        for size in hidden:
            body += [_linear(width, size, 2**0.5, generator), nn.ReLU()]
            width = size
        self.body = nn.Sequential(*body)
        self.width = width

    def features(self, observation: Tensor) -> Tensor:
        """``(K, width)`` from ``observation (K, size) uint8``."""
        features: Tensor = self.body((observation.float() - self.zero) * self.factor)
        return features


class ValueNet(ObservationNet):
    """A critic: the value of an observation, in units of the policy's ``payoff_scale``."""

    def __init__(self, layout: Layout, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__(layout, hidden, generator)
        self.value = _linear(self.width, 1, 0.1, generator)

    def forward(self, observation: Tensor) -> Tensor:
        """Values ``(K,) float32`` of ``observation (K, size) uint8``."""
        value: Tensor = self.value(self.features(observation))
        return value.squeeze(-1).float()


class PolicyValueNet(ObservationNet):
    """What plays: action logits and a value from one body.

    The value is in units of ``payoff_scale`` chips, a buffer that the trainer sets: payoffs differ much by rule sheet.
    """

    payoff_scale: Tensor

    def __init__(self, layout: Layout, num_actions: int, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__(layout, hidden, generator)
        self.register_buffer("payoff_scale", torch.ones(()))
        # a nearly uniform policy and a value near 0 at the start
        self.policy = _linear(self.width, num_actions, 0.01, generator)
        self.value = _linear(self.width, 1, 0.1, generator)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Logits ``(K, A) float32``, not masked, and values ``(K,) float32``, from ``observation (K, size) uint8``."""
        x = self.features(observation)
        return self.policy(x).float(), self.value(x).squeeze(-1).float()

    @torch.inference_mode()
    def evaluate(self, observation: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """:meth:`forward` from and to NumPy, without gradients."""
        logits, values = self(torch.from_numpy(observation))
        return logits.numpy(), values.numpy()


def _linear(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities over the legal actions, ``(K, A)``; a large negative number where ``mask (K, A) bool`` is False."""
    return torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=-1)
