"""``residual``: an MLP of residual blocks with layer normalisation before each.

A linear layer takes the observation to the width; each block adds ``linear(relu(linear(norm(x))))`` to x; a last normalisation
comes before the heads. The second layer of each block starts small, so that at first the blocks change little and depth costs no
stability.

Sources: He et al., "Identity mappings in deep residual networks", 2016; Xiong et al., "On layer normalization in the transformer
architecture", 2020 (normalisation before the block); Zhang et al., "Fixup initialization", 2019 (small last layers).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nainjaune_env.core.layout import Layout

from ..inference.residual import ResidualInference
from ..modules import linear
from ..policy_value import PolicyValueNet


class Block(nn.Module):
    """Normalisation, two linear layers with a ReLU between them, and the input added."""

    def __init__(self, width: int, gain: float, generator: torch.Generator) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = linear(width, width, 2**0.5, generator)
        self.second = linear(width, width, gain, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Returns ``x (K, width)`` and the block's change to it."""
        change: Tensor = self.second(torch.relu(self.first(self.norm(x))))
        return x + change


class Residual(PolicyValueNet):
    """A residual MLP; it has no memory."""

    Arguments = ResidualInference.Arguments
    arguments: ResidualInference.Arguments
    body: nn.Sequential

    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """See :meth:`PolicyValueNet.build`."""
        width, count = self.arguments.width, self.arguments.blocks
        blocks = [Block(width, 0.1 / count**0.5, generator) for _ in range(count)]
        self.body = nn.Sequential(linear(layout.size, width, 2**0.5, generator), *blocks, nn.LayerNorm(width))
        return width

    def trunk(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """See :meth:`PolicyValueNet.trunk`."""
        return self.body(self.scaled(observation)), None
