"""``history_gru``: an ``mlp`` whose body also takes the state of a GRU after the last plies of the round.

The GRU (Cho et al. 2014) reads the plies in the order of play, from the first one at each decision, so that the network has no
state to keep between decisions. Its weights into the body start at 0: at first the network plays as an ``mlp`` without history.
Without plies in the layout it is one.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.layout import Layout
from nainjaune_env.engine.history import ACTIONS, SEATS

from ..modules import fold_inputs, gru, mlp
from ..policy_value import PolicyValueNet

UNITS = 64
"""Units of the GRU."""


class HistoryGRU(PolicyValueNet):
    """Linear layers and ReLUs on the ordinary observation and the state of a GRU over the plies."""

    arch = "history_gru"
    reads_history = True
    extends = ("mlp", "history_gru")
    body: nn.Sequential
    gru: nn.GRU

    @classmethod
    def check_arguments(cls, hidden: Sequence[int], recurrent: int) -> None:
        """See :meth:`PolicyValueNet.check_arguments`."""
        super().check_arguments(hidden, recurrent)
        if not hidden:
            raise ConfigError("A network of arch 'history_gru' has at least one hidden layer, and 'hidden' is empty.")
        if recurrent:
            raise ConfigError(
                f"A network of arch 'history_gru' reads rounds from their first ply: 'recurrent' is 0 for it, not {recurrent!r}."
            )

    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """See :meth:`PolicyValueNet.build`."""
        self._features = [layout[name] for name in (SEATS, ACTIONS)] if self.history else []
        own = layout.size - sum(feature.size for feature in self._features)
        self.body = mlp(own + (UNITS if self.history else 0), self.hidden, generator)
        if self.history:
            self.gru = gru(sum(feature.shape[1] for feature in self._features), UNITS, generator)
            first = self.body[0]
            assert isinstance(first, nn.Linear)
            with torch.no_grad():
                first.weight[:, own:] = 0.0
        return self.hidden[-1]

    def extend(self, net: PolicyValueNet, columns: Tensor) -> None:
        """See :meth:`PolicyValueNet.extend`; a network that reads fewer plies then reads more of them by the same GRU."""
        if net.arch != self.arch and net.history:
            raise ValueError(f"a network of arch {self.arch!r} takes over one of arch {net.arch!r} without history only")
        super().extend(net, columns)

    def trunk(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """See :meth:`PolicyValueNet.trunk`."""
        seen = self.scaled(observation)
        if self.history:
            sizes = [feature.size for feature in self._features]
            seen, *parts = torch.split(seen, [seen.shape[1] - sum(sizes), *sizes], dim=1)
            shaped = (part.reshape(len(part), *feature.shape) for part, feature in zip(parts, self._features, strict=True))
            plies = torch.cat([*shaped], dim=2)
            after = self.gru(plies.flip(1).transpose(0, 1))[1][0]  # the latest ply comes first in an observation
            seen = torch.cat([seen, after], dim=1)
        return self.body(seen), None

    def fold(self, layout: Layout, columns: Tensor, constant: Tensor) -> Self:
        """See :meth:`PolicyValueNet.fold`: constants go into the biases of the first layer."""
        if self.history:
            return super().fold(layout, columns, constant)
        net = copy.deepcopy(self)
        net.set_layout(layout)
        fold_inputs(net.body[0], constant, columns)
        return net
