"""The protocol of networks that play: an observation in, action logits and a value out, with or without memory.

Each network is a subclass in a file of its own in :mod:`nainjaune_agents.players.networks.arch`. It declares its arguments and
implements :meth:`PolicyValueNet.build` and :meth:`PolicyValueNet.trunk`; the rest makes it faster, or gives it memory.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.layout import Layout

from ...base.devices import torch_threads
from .common_layout import CommonView
from .fused_mlp import FusedInference, LinearChain, fast_dtype, linear_chain
from .inference.base import NetArguments
from .modules import ObservationNet, linear, mlp


class PolicyValueNet(ObservationNet):
    """Action logits and a value from shared features.

    The value is in units of ``payoff_scale`` (chips, cards), a buffer that the trainer sets, since payoffs differ much by rules.
    With ``recurrent`` units the network has a state for each seat, 0 at the start of a round.
    """

    Arguments: ClassVar[type[NetArguments]]
    """The class of the arguments. One that is called ``recurrent`` is the number of units of a seat's state."""
    arguments: Any
    """An instance of :attr:`Arguments`."""
    body: nn.Module
    """The layers before the heads."""
    payoff_scale: Tensor
    columns: Tensor
    rest: Tensor | None
    """The bytes of the common layout that observations lack, whose bytes are its ``columns``; None: there are none."""
    threads = 1
    """Of torch, in :meth:`evaluate`."""
    policy: nn.Linear
    value: nn.Linear

    def __init__(self, layout: Layout, actions: int, arguments: NetArguments, generator: torch.Generator) -> None:
        """All weights come from ``generator``. ``make_net`` takes the network as data instead."""
        super().__init__(layout)
        self.register_buffer("payoff_scale", torch.ones(()))
        self.register_buffer("rest", None, persistent=False)
        self.arguments = arguments
        self.recurrent: int = getattr(arguments, "recurrent", 0)
        self.width = self.build(layout, generator)
        if not isinstance(getattr(self, "body", None), nn.Module):
            name = type(self).__name__
            raise ConfigError(
                f"{name}.build sets self.body to the module that holds the layers before the heads, and there is none."
            )
        # a nearly uniform policy and values near 0 at the start
        self.policy = linear(self.width, actions, 0.01, generator)
        self.value = linear(self.width, 1, 0.1, generator)

    @property
    def arch(self) -> dict[str, Any]:
        """The network as data, ``{name, **arguments}``."""
        values: dict[str, Any] = self.arguments.to_dict()
        return values

    @abstractmethod
    def build(self, layout: Layout, generator: torch.Generator) -> int:
        """Adds the layers before the heads and returns the number of their features."""

    @abstractmethod
    def trunk(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the features ``(K, width)`` and the state ``(K, recurrent)`` after each decision, None without memory.

        ``observation (K, size) uint8``. A recurrent network takes either the ``state (K, recurrent)`` before each decision, or
        whole sequences of decisions: then rows are ordered as in a ``torch.nn.utils.rnn.PackedSequence`` (all first decisions,
        all second ones …, the longest sequences first), and ``sequences (L,) int64`` are its batch sizes.
        """

    def heads(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits ``(K, A) float32`` and values ``(K,) float32`` of ``features (K, width)``."""
        return self.policy(features).float(), self.value(features).squeeze(-1).float()

    def forward(
        self, observation: Tensor, state: Tensor | None = None, sequences: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns logits ``(K, A) float32``, not masked, values ``(K,) float32``, and the state.

        Arguments as in :meth:`trunk`.
        """
        features, state = self.trunk(observation, state, sequences)
        return *self.heads(features), state

    def recall_loss(self, observation: Tensor, state: Tensor, sequences: Tensor) -> Tensor:
        """Returns the cross-entropy of the first observations of sequences as recalled from the ``state`` at each decision.

        Arguments as in :meth:`trunk`. Raises ValueError where the architecture recalls nothing.
        """
        raise ValueError(f"a network of arch {self.arch['name']!r} recalls nothing")

    def initial_state(self, count: int) -> Tensor:
        """Returns the states before the first decisions of ``count`` seats, ``(count, recurrent) float32``: zeros."""
        return torch.zeros((count, self.recurrent), device=self.device)

    def fused(self) -> LinearChain | None:
        """Returns the network as a chain of linear layers and ReLUs, heads included; None if it is no such chain."""
        return None

    def take_table(self, view: CommonView) -> None:
        """Makes the network take observations of one setup, no longer of the common layout of its game."""
        self.register_buffer("columns", torch.from_numpy(view.places), persistent=False)
        self.register_buffer("rest", torch.from_numpy(view.rest), persistent=False)

    def scaled(self, observation: Tensor) -> Tensor:
        """Returns ``observation (K, size) uint8`` as the floats that the layers take, see :meth:`take_table`."""
        if self.rest is not None:
            observation = self.rest.repeat(len(observation), 1).index_copy_(1, self.columns, observation)
        return super().scaled(observation)

    def scorer(self) -> FusedInference | TorchScorer:
        """Returns a copy of the network for rollouts, fused where it is a plain MLP; its logits may differ by rounding."""
        chain = self.fused() if self.rest is None else None
        if chain is None:
            return TorchScorer(self)
        return FusedInference(replace(chain, heads=chain.heads[:1]), device="cpu", threads=self.threads)

    @torch.inference_mode()
    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns the logits and values of :meth:`forward` as NumPy arrays, without gradients and by :attr:`threads`.

        A recurrent network takes the ``state (K, recurrent) float32`` before each decision and overwrites it with the one after.
        """
        with torch_threads(self.threads):
            seen = torch.from_numpy(observation).to(self.device)
            if not self.recurrent:
                logits, values, _ = self(seen)
                return logits.cpu().numpy(), values.cpu().numpy()
            assert state is not None
            logits, values, after = self(seen, torch.from_numpy(state).to(self.device))
            state[...] = after.float().cpu().numpy()
            return logits.cpu().numpy(), values.cpu().numpy()


class TorchScorer:
    """The logits of a copy of any network without memory, through torch on the CPU."""

    def __init__(self, net: PolicyValueNet) -> None:
        self._net = copy.deepcopy(net).cpu().eval()
        self._autocast = fast_dtype() is torch.bfloat16

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns logits ``(K, A)``, not masked, of ``observation (K, size)``."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self._autocast):
            return self._net.evaluate(observation)[0]


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
