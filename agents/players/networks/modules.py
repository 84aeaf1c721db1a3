"""Building blocks of networks: scaled observations, and initialised layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nainjaune_env.core.layout import Layout


class ObservationNet(nn.Module):
    """What every network begins with: it scales the bytes of an observation by the zero and scale of each feature."""

    zero: Tensor
    factor: Tensor

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.register_buffer("zero", torch.from_numpy(layout.zero), persistent=False)
        self.register_buffer("factor", torch.from_numpy(1 / layout.scale), persistent=False)

    def scaled(self, observation: Tensor) -> Tensor:
        """Returns ``observation (K, size) uint8`` as floats, ``(byte - zero) / scale``."""
        return (observation.float() - self.zero) * self.factor

    @property
    def device(self) -> torch.device:
        """The device that the network computes on."""
        return self.zero.device


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
