"""``mlp``: linear layers of the widths ``hidden``, a ReLU after each; with ``recurrent`` units, a GRU beside them.

The GRU (Cho et al. 2014) runs along each seat's decisions of a round, on a first layer of what the seat observes. Its state also
predicts the private bytes of the seat's first observation, which training can reinforce (``recall``). The body takes the
observation, this prediction, and the state, whose weights start at 0: at first the network plays as one without memory.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nainjaune_env.core.layout import Layout

from ..fused_mlp import LinearChain, linear_chain
from ..inference.mlp import MLPInference
from ..modules import gru, linear, mlp
from ..policy_value import PolicyValueNet


class MLP(PolicyValueNet):
    """Linear layers and ReLUs, and a GRU where ``recurrent`` is not 0."""

    Arguments = MLPInference.Arguments
    arguments: MLPInference.Arguments
    body: nn.Sequential
    look: nn.Sequential
    gru: nn.GRU
    recall: nn.Linear
    private: Tensor
    private_high: Tensor

    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """See :meth:`PolicyValueNet.build`."""
        self.register_buffer("private", torch.from_numpy(layout.private), persistent=False)
        self.register_buffer("private_high", torch.from_numpy(layout.high[layout.private]).float(), persistent=False)
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
        return None if self.recurrent else linear_chain(self, self.body, [self.policy, self.value])
