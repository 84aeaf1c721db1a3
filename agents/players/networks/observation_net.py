"""What every network begins with."""

from __future__ import annotations

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
