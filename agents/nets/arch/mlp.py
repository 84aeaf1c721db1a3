"""``mlp``: linear layers of the widths ``hidden``, a ReLU after each; with ``recurrent`` units, a GRU beside them.

The GRU (Cho et al. 2014) runs along each seat's decisions of a round, on a first layer of what the seat observes. Its state also
predicts the private bytes of the seat's first observation, which training can reinforce (``recall``). The body takes the
observation, this prediction, and the state, whose weights start at 0: at first the network plays as one without memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor, nn

from nainjaune_env.core.layout import Layout

from ... import options
from ...options import option
from ..fused_mlp import LinearChain, linear_chain
from ..modules import MAX_UNITS, check_weights, fold_inputs, gru, linear, mlp
from ..policy_value import PolicyValueNet


class MLP(PolicyValueNet):
    """Linear layers and ReLUs, and a GRU where ``recurrent`` is not 0."""

    @dataclass(frozen=True)
    class Arguments(options.Arguments):
        """The arguments of the network."""

        hidden: list[int] = option([256, 256], "widths of the hidden layers", low=1, high=MAX_UNITS)
        recurrent: int = option(
            0, "units of a GRU along the decisions of a seat in a round; 0 = no memory", low=0, high=MAX_UNITS
        )

        def check(self) -> None:
            """Raises :class:`ConfigError` for a network with too many weights."""
            hidden, memory = self.hidden, self.recurrent
            first = hidden[0] if hidden else 0
            check_weights(3 * memory * (memory + first) + memory * first + sum(a * b for a, b in pairwise(hidden)))

    arguments: Arguments
    body: nn.Sequential
    look: nn.Sequential
    gru: nn.GRU
    recall: nn.Linear
    private: Tensor
    private_high: Tensor

    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """See :meth:`PolicyValueNet.build`."""
        # drawn for recurrent networks too, which replace it: so a seed gives the weights that it always gave
        hidden, inputs = self.arguments.hidden, layout.size
        self.body = mlp(inputs, hidden, generator)
        if self.recurrent:
            inputs += len(self.private) + self.recurrent
            self.look = mlp(layout.size, hidden[:1], generator)
            self.gru = gru(hidden[0] if hidden else layout.size, self.recurrent, generator)
            self.recall = linear(self.recurrent, len(self.private), 1.0, generator)
            nn.init.constant_(self.recall.bias, -3.0)  # at first it recalls nothing
            self.body = mlp(inputs, hidden, generator)
            if hidden:
                first = self.body[0]
                assert isinstance(first, nn.Linear)
                with torch.no_grad():
                    first.weight[:, -self.recurrent :] = 0.0
        return hidden[-1] if hidden else inputs

    def set_layout(self, layout: Layout) -> None:
        """Sets the layout, the bytes of it that are private, and their highest values."""
        super().set_layout(layout)
        self.register_buffer("private", torch.from_numpy(layout.private), persistent=False)
        self.register_buffer("private_high", torch.from_numpy(layout.high[layout.private]).float(), persistent=False)

    def trunk(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """See :meth:`PolicyValueNet.trunk`."""
        seen = self.scaled(observation)
        if self.recurrent:
            looked = self.look(seen)
            if sequences is not None:
                state = self.gru(nn.utils.rnn.PackedSequence(looked, sequences))[0].data
            else:
                assert state is not None
                state = self.gru(looked[None], state[None].to(looked.dtype))[0][0]
            seen = torch.cat([seen, torch.sigmoid(self.recall(state)), state], dim=1)
        return self.body(seen), state

    def recall_loss(self, observation: Tensor, state: Tensor, sequences: Tensor) -> Tensor:
        """See :meth:`PolicyValueNet.recall_loss`; the targets are private bytes, as shares of their highest values."""
        first = observation[: sequences[0]][:, self.private].float() / self.private_high
        target = torch.cat([first[:number] for number in sequences.tolist()])
        return nn.functional.binary_cross_entropy_with_logits(self.recall(state).float(), target)

    def fused(self) -> LinearChain | None:
        """See :meth:`PolicyValueNet.fused`; a network with memory is no chain of layers."""
        return None if self.recurrent or self.constant is not None else linear_chain(self, self.body, [self.policy, self.value])

    def fold_layers(self, whole: Self, columns: Tensor, constant: Tensor) -> None:
        """See :meth:`PolicyValueNet.fold_layers`: constants go into the biases of the first layers, if there are any."""
        if not self.arguments.hidden:
            super().fold_layers(whole, columns, constant)
            return
        inputs = columns
        if self.recurrent:
            recall_rows = torch.isin(whole.private, columns[self.private]).nonzero().squeeze(1)
            size, recalled = len(constant), len(whole.private)
            inputs = torch.cat([columns, size + recall_rows, size + recalled + torch.arange(self.recurrent)])
            fold_inputs(self.look[0], constant, columns)
            self.recall.weight = nn.Parameter(whole.recall.weight.detach()[recall_rows])
            self.recall.bias = nn.Parameter(whole.recall.bias.detach()[recall_rows])
        fold_inputs(self.body[0], constant, inputs)
