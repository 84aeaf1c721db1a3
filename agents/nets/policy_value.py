"""The protocol of networks that play: an observation in, action logits and a value out, with or without memory.

Each architecture is a subclass in a file of its own in :mod:`nainjaune_agents.nets.arch`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nainjaune_env.core.errors import ConfigError, quoted
from nainjaune_env.core.layout import Layout

from .fused_mlp import LinearChain
from .modules import check_weights, linear
from .observation_net import ObservationNet
from .threads import agent_threads


class PolicyValueNet(ObservationNet):
    """Action logits and a value from shared features.

    The value is in units of ``payoff_scale`` (chips, cards), a buffer that the trainer sets, since payoffs differ much by rules.
    With ``recurrent`` units the network has a state for each seat, 0 at the start of a round.
    """

    arch: ClassVar[str]
    """The name of the architecture in configurations and checkpoints: that of its module."""
    body: nn.Module
    """The layers before the heads."""
    payoff_scale: Tensor
    policy: nn.Linear
    value: nn.Linear

    def __init__(
        self, layout: Layout, actions: int, hidden: Sequence[int], generator: torch.Generator, *, recurrent: int = 0
    ) -> None:
        """``hidden`` and ``recurrent`` are the arguments of the architecture; all weights come from ``generator``."""
        super().__init__(layout)
        self.register_buffer("payoff_scale", torch.ones(()))
        self.hidden = tuple(hidden)
        self.recurrent = recurrent
        self.width = self.build(layout, generator)
        # a nearly uniform policy and values near 0 at the start
        self.policy = linear(self.width, actions, 0.01, generator)
        self.value = linear(self.width, 1, 0.1, generator)

    @classmethod
    def check_arguments(cls, hidden: Sequence[int], recurrent: int) -> None:
        """Raises :class:`ConfigError` where there is no network of this architecture with these arguments."""
        if min(hidden, default=1) < 1:
            raise ConfigError(f"Layers have a width of at least 1, not {quoted(list(hidden))}.")
        check_weights(cls.weights_between(hidden, recurrent))

    @classmethod
    def weights_between(cls, hidden: Sequence[int], recurrent: int) -> int:
        """Returns the number of weights between hidden layers."""
        memory = 3 * recurrent * (recurrent + hidden[0]) + recurrent * hidden[0] if recurrent and hidden else 3 * recurrent**2
        return memory + sum(a * b for a, b in pairwise(hidden))

    @abstractmethod
    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """Adds the layers before the heads and returns the number of their features."""

    @abstractmethod
    def trunk(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the features ``(K, width)`` and the state ``(K, recurrent)`` after each decision, None without memory.

        ``observation (K, size) uint8``. A recurrent network takes either the ``state (K, recurrent)`` before each decision, or
        whole sequences of decisions: then the rows are those of a ``torch.nn.utils.rnn.PackedSequence`` (all first decisions,
        all second ones …, the longest sequences first), and ``sequences (L,) int64`` are its batch sizes.
        """

    def heads(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits ``(K, A) float32`` and values ``(K,) float32`` of ``features (K, width)``."""
        return self.policy(features).float(), self.value(features).squeeze(-1).float()

    def forward(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns logits ``(K, A) float32``, not masked, values ``(K,) float32``, and the state.

        Arguments as of :meth:`trunk`.
        """
        features, state = self.trunk(observation, state, sequences)
        return *self.heads(features), state

    def recall_loss(self, observation: Tensor, state: Tensor, sequences: Tensor) -> Tensor:
        """Returns the cross-entropy of the first observations of sequences as recalled from the ``state`` at each decision.

        Arguments as of :meth:`trunk`. Raises ValueError where the architecture recalls nothing.
        """
        raise ValueError(f"a network of arch {self.arch!r} recalls nothing")

    def initial_state(self, count: int) -> Tensor:
        """Returns the states before the first decisions of ``count`` seats, ``(count, recurrent) float32``: zeros."""
        return torch.zeros((count, self.recurrent), device=self.device)

    def fused(self) -> LinearChain | None:
        """Returns the network as a chain of linear layers and ReLUs with the heads policy and value; None where it is none."""
        return None

    def fold(self, layout: Layout, columns: Tensor, constant: Tensor) -> Self:
        """Returns this network for observations of ``layout``, which are the bytes ``columns (C,) int64`` of its own.

        Its other inputs are ``constant (size,) float64``, scaled, with 0 in ``columns``. The result shares no memory. Raises
        ValueError where the architecture cannot do that.
        """
        raise ValueError(f"a network of arch {self.arch!r} cannot be restricted to the observations of one setup")

    @agent_threads()
    @torch.inference_mode()
    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns the logits and values of :meth:`forward` as NumPy arrays, without gradients and with the threads of agents.

        A recurrent network takes the ``state (K, recurrent) float32`` before each decision and overwrites it with the one after.
        """
        seen = torch.from_numpy(observation).to(self.device)
        if not self.recurrent:
            logits, values, _ = self(seen)
            return logits.cpu().numpy(), values.cpu().numpy()
        assert state is not None
        logits, values, after = self(seen, torch.from_numpy(state).to(self.device))
        state[...] = after.float().cpu().numpy()
        return logits.cpu().numpy(), values.cpu().numpy()
