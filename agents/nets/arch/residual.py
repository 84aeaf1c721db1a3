"""``residual``: an MLP of residual blocks with layer normalisation before each, as many blocks as ``hidden`` has widths.

A linear layer takes the observation to the width; each block adds ``linear(relu(linear(norm(x))))`` to x; a last normalisation
comes before the heads. All widths are equal. The second layer of each block starts small, so that at first the blocks change
little and depth costs no stability.

Sources: He et al., "Identity mappings in deep residual networks", 2016; Xiong et al., "On layer normalization in the transformer
architecture", 2020 (normalisation before the block); Zhang et al., "Fixup initialization", 2019 (small last layers).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from nainjaune_env.core.errors import ConfigError, quoted
from nainjaune_env.core.layout import Layout

from ..modules import fold_inputs, linear
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

    arch = "residual"
    body: nn.Sequential

    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """See :meth:`PolicyValueNet.build`."""
        width, gain = self.hidden[0], 0.1 / len(self.hidden) ** 0.5
        blocks = [Block(width, gain, generator) for _ in self.hidden]
        self.body = nn.Sequential(linear(layout.size, width, 2**0.5, generator), *blocks, nn.LayerNorm(width))
        return width

    @classmethod
    def check_arguments(cls, hidden: Sequence[int], recurrent: int) -> None:
        """See :meth:`PolicyValueNet.check_arguments`."""
        super().check_arguments(hidden, recurrent)
        if not hidden or len(set(hidden)) > 1:
            raise ConfigError(
                f"With arch 'residual', 'hidden' is one width a block, all of them equal, not {quoted(list(hidden))}."
            )
        if recurrent:
            raise ConfigError(f"A network of arch 'residual' has no memory: 'recurrent' is 0 for it, not {recurrent!r}.")

    @classmethod
    def weights_between(cls, hidden: Sequence[int], recurrent: int) -> int:
        """See :meth:`PolicyValueNet.weights_between`."""
        return sum(2 * width**2 for width in hidden)

    def trunk(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """See :meth:`PolicyValueNet.trunk`."""
        return self.body(self.scaled(observation)), None

    def fold(self, layout: Layout, columns: Tensor, constant: Tensor) -> Self:
        """See :meth:`PolicyValueNet.fold`: constants go into the biases of the first layer."""
        net = copy.deepcopy(self)
        net.set_layout(layout)
        fold_inputs(net.body[0], constant, columns)
        return net
