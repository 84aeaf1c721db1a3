"""Building blocks of networks: initialised layers, and the critic that only training has."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nainjaune_env.core.layout import Layout

from .fused_mlp import LinearChain, linear_chain
from .observation_net import ObservationNet


class ValueNet(ObservationNet):
    """A critic: an MLP from an observation to its value, or that of each action, in units of the policy's ``payoff_scale``."""

    def __init__(self, layout: Layout, hidden: Sequence[int], generator: torch.Generator, outputs: int = 1) -> None:
        """``outputs``: 1 for the value, or the number of actions."""
        super().__init__(layout)
        self.body = mlp(layout.size, hidden, generator)
        self.value = linear(hidden[-1] if hidden else layout.size, outputs, 0.1, generator)

    def forward(self, observation: Tensor) -> Tensor:
        """Returns values ``(K,) float32``, or ``(K, outputs)`` for more than one, of ``observation (K, size) uint8``."""
        value: Tensor = self.value(self.body(self.scaled(observation)))
        return value.squeeze(-1).float()

    def fused(self) -> LinearChain:
        """Returns the layers for the fused computation; the only head is that of the values."""
        chain = linear_chain(self, self.body, [self.value])
        assert chain is not None
        return chain


def mlp(inputs: int, hidden: Sequence[int], generator: torch.Generator) -> nn.Sequential:
    """Returns linear layers of the widths ``hidden``, a ReLU after each; without any, the identity."""
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [linear(inputs, width, 2**0.5, generator), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers)


def linear(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> nn.Linear:
    """Returns a linear layer with orthogonal weights times ``gain`` and biases of 0."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def gru(inputs: int, units: int, generator: torch.Generator) -> nn.GRU:
    """Returns a GRU with orthogonal weights, gate by gate."""
    layer = nn.GRU(inputs, units)
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            gates = parameter.chunk(3)
            if name.startswith("weight"):
                for gate in gates:
                    nn.init.orthogonal_(gate, generator=generator)
            else:
                nn.init.zeros_(parameter)
                # the update gate, second of three: at first it mostly keeps what it has
                nn.init.constant_(gates[1], 0.5)
    return layer


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Returns log-probabilities over the legal actions, ``(K, A)``: very negative where ``mask (K, A) bool`` is False."""
    return torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=-1)
