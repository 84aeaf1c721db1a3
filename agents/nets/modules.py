"""The networks: what plays, one body shared by all seats, and what judges in training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nainjaune_env.core.layout import Layout

Layers = list[tuple[Tensor, Tensor]]
"""Weight ``(out, in)`` and bias ``(out,)`` of linear layers, one after the other."""


class ObservationNet(nn.Module):
    """The part that networks share: the bytes of an observation, as small floats, through an MLP.

    Bytes become floats by the zero and scale of each slot.
    """

    zero: Tensor
    factor: Tensor

    def __init__(self, layout: Layout, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__()
        self.register_buffer("zero", torch.from_numpy(layout.zero), persistent=False)
        self.register_buffer("factor", torch.from_numpy(1 / layout.scale), persistent=False)
        self.body = _mlp(layout.size, hidden, generator)
        self.hidden = tuple(hidden)
        self.width = hidden[-1] if hidden else layout.size

    def scaled(self, observation: Tensor) -> Tensor:
        """``observation (K, size) uint8`` as small floats."""
        return (observation.float() - self.zero) * self.factor

    def features(self, observation: Tensor) -> Tensor:
        """``(K, width)`` from ``observation (K, size) uint8``."""
        features: Tensor = self.body(self.scaled(observation))
        return features


class ValueNet(ObservationNet):
    """A critic: the value of an observation, in units of the policy's ``payoff_scale``."""

    def __init__(self, layout: Layout, hidden: Sequence[int], generator: torch.Generator) -> None:
        super().__init__(layout, hidden, generator)
        self.value = _linear(self.width, 1, 0.1, generator)

    def forward(self, observation: Tensor) -> Tensor:
        """Values ``(K,) float32`` of ``observation (K, size) uint8``."""
        value: Tensor = self.value(self.features(observation))
        return value.squeeze(-1).float()

    def layers(self, dtype: torch.dtype) -> Layers:
        """As :meth:`PolicyValueNet.layers`: the value is all there is."""
        return _layers(self, [self.value], dtype)


class PolicyValueNet(ObservationNet):
    """What plays: action logits and a value from one body.

    With ``recurrent`` units it remembers: a GRU (Cho et al. 2014) runs along each seat's decisions of a round, on a first
    layer of what it sees; its state is 0 when a round begins. The state also gives what it recalls: a guess at the private
    bytes that the seat saw at its first decision, which training can make it hold to. The body takes what is seen, what is
    recalled, and the state, whose weights start at 0: at first the net is one without memory.

    The value is in units of ``payoff_scale`` (chips, cards), a buffer that the trainer sets: payoffs differ much by rules.
    """

    payoff_scale: Tensor
    look: nn.Sequential
    gru: nn.GRU
    recall: nn.Linear

    def __init__(
        self, layout: Layout, num_actions: int, hidden: Sequence[int], generator: torch.Generator, *, recurrent: int = 0
    ) -> None:
        super().__init__(layout, hidden, generator)
        self.register_buffer("payoff_scale", torch.ones(()))
        self.recurrent = recurrent
        if recurrent:
            self._make_memory(layout, hidden, generator)
        # a nearly uniform policy and a value near 0 at the start
        self.policy = _linear(self.width, num_actions, 0.01, generator)
        self.value = _linear(self.width, 1, 0.1, generator)

    def _make_memory(self, layout: Layout, hidden: Sequence[int], generator: torch.Generator) -> None:
        private = len(layout.private)
        self.look = _mlp(layout.size, hidden[:1], generator)
        self.gru = _gru(hidden[0] if hidden else layout.size, self.recurrent, generator)
        self.recall = _linear(self.recurrent, private, 1.0, generator)
        nn.init.constant_(self.recall.bias, -3.0)  # at first it recalls nothing
        self.body = _mlp(layout.size + private + self.recurrent, hidden, generator)
        if hidden:
            first = self.body[0]
            assert isinstance(first, nn.Linear)
            with torch.no_grad():
                first.weight[:, -self.recurrent :] = 0.0
        else:
            self.width = layout.size + private + self.recurrent

    def forward(
        self, observation: Tensor, state: Tensor | None = None, batch_sizes: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits ``(K, A) float32``, not masked, values ``(K,) float32``, and the state ``(K, recurrent)`` after each decision.

        Takes what :meth:`trunk` takes.
        """
        features, state = self.trunk(observation, state, batch_sizes)
        return *self.heads(features), state

    def heads(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of ``features (K, width)``."""
        return self.policy(features).float(), self.value(features).squeeze(-1).float()

    def trunk(
        self, observation: Tensor, state: Tensor | None = None, batch_sizes: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """What the heads take, ``(K, width)``, and the state ``(K, recurrent)`` after each decision.

        ``observation (K, size) uint8``. A net that remembers takes either the ``state`` that each decision comes with, or whole
        rounds of decisions: then the rows are those of a packed sequence (all first decisions, all second ones …, the seats
        with most of them first), and ``batch_sizes (L,) int64`` says how many there are of each.
        """
        seen = self.scaled(observation)
        if self.recurrent:
            looked = self.look(seen)
            if batch_sizes is not None:
                state = self.gru(nn.utils.rnn.PackedSequence(looked, batch_sizes))[0].data
            else:
                assert state is not None
                state = self.gru(looked[None], state[None].to(looked.dtype))[0][0]
            seen = torch.cat([seen, torch.sigmoid(self.recall(state)), state], dim=1)
        return self.body(seen), state

    def layers(self, dtype: torch.dtype) -> Layers:
        """What a net that remembers nothing is, over the bytes as they are: the heads side by side, the value last.

        For :func:`through`. Gradients flow back to the parameters, which stay as they are; ``dtype`` is what is multiplied.
        """
        return _layers(self, [self.policy, self.value], dtype)

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.zero.device

    @torch.inference_mode()
    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """:meth:`forward` from and to NumPy, without gradients: logits and values; on whatever device it is.

        A net that remembers takes the ``state (K, recurrent) float32`` that each decision comes with, and writes it over with
        what it remembers from here on.
        """
        if not self.recurrent:
            logits, values, _ = self(torch.from_numpy(observation).to(self.device))
            return logits.cpu().numpy(), values.cpu().numpy()
        assert state is not None
        logits, values, after = self(torch.from_numpy(observation).to(self.device), torch.from_numpy(state).to(self.device))
        state[...] = after.float().cpu().numpy()
        return logits.cpu().numpy(), values.cpu().numpy()


class BeliefHead(nn.Module):
    """Only for training: a guess, from the features of a :class:`PolicyValueNet`, at what all other seats alone see.

    It plays no part in play. What helps to guess others' cards is thereby in the features, for the heads to use.
    """

    high: Tensor

    def __init__(self, width: int, seen: Layout, all_seen: Layout, generator: torch.Generator) -> None:
        """``width`` of the features; ``seen`` by the seat to act, and ``all_seen`` by a critic (``Layout.omniscient``)."""
        super().__init__()
        self.first = seen.size
        self.register_buffer("high", torch.from_numpy(all_seen.high[seen.size :]).float(), persistent=False)
        self.guess = _linear(width, all_seen.size - seen.size, 0.1, generator)

    def loss(self, features: Tensor, all_seen: Tensor) -> Tensor:
        """Mean cross-entropy of the guesses from ``features (K, width)`` at what others see in ``all_seen (K, size) uint8``.

        In nats a byte; a byte counts as the share that it is of its highest value.
        """
        goal = all_seen[:, self.first :].float() / self.high
        return nn.functional.binary_cross_entropy_with_logits(self.guess(features).float(), goal)


def through(layers: Layers, observation: Tensor) -> Tensor:
    """What the last of some ``layers`` gives of ``observation (K, size) uint8``."""
    return nn.functional.linear(before_last(layers, observation), *layers[-1])


def before_last(layers: Layers, observation: Tensor) -> Tensor:
    """What the last of some ``layers`` takes, a ReLU after each of the others; of just one the bytes as they are."""
    x = observation.to(layers[0][0].dtype)  # bytes are exact in bfloat16 too
    for weight, bias in layers[:-1]:
        x = nn.functional.linear(x, weight, bias).relu_()
    return x


def into(layers: Layers, rooms: Sequence[Tensor]) -> Tensor:
    """As :func:`through`, without gradients and with no memory made: what layer k gives is written to ``rooms[k + 1] (K, out)``.

    ``rooms[0] (K, in)`` holds what goes in, in the precision of the ``layers``.
    """
    for k, (weight, bias) in enumerate(layers):
        torch.addmm(bias, rooms[k], weight.t(), out=rooms[k + 1])
        if k + 1 < len(layers):
            signs(rooms[k + 1]).clamp_min_(0)
    return rooms[-1]


def signs(x: Tensor) -> Tensor:
    """The same memory as numbers of the same signs, which is all that a ReLU looks at.

    A bfloat16 has the sign that its bits have as an int16, of which torch on a CPU compares several times as many a second.
    """
    return x.view(torch.int16) if x.dtype is torch.bfloat16 else x


def _layers(net: ObservationNet, heads: Sequence[nn.Linear], dtype: torch.dtype) -> Layers:
    linear = [layer for layer in net.body if isinstance(layer, nn.Linear)]
    weights = [*(layer.weight for layer in linear), torch.cat([head.weight for head in heads])]
    biases = [*(layer.bias for layer in linear), torch.cat([head.bias for head in heads])]
    weights[0] = weights[0] * net.factor  # the first layer takes in how bytes are scaled
    biases[0] = torch.addmv(biases[0], weights[0], net.zero, alpha=-1)
    return [(weight.to(dtype), bias.to(dtype)) for weight, bias in zip(weights, biases, strict=True)]


def _mlp(inputs: int, hidden: Sequence[int], generator: torch.Generator) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [_linear(inputs, width, 2**0.5, generator), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers)


def _linear(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def _gru(inputs: int, units: int, generator: torch.Generator) -> nn.GRU:
    gru = nn.GRU(inputs, units)
    with torch.no_grad():
        for name, parameter in gru.named_parameters():
            gates = parameter.chunk(3)
            if name.startswith("weight"):
                for gate in gates:
                    nn.init.orthogonal_(gate, generator=generator)
            else:
                nn.init.zeros_(parameter)
                # the update gate, second of three: at first it mostly keeps what it has
                nn.init.constant_(gates[1], 0.5)
    return gru


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities over the legal actions, ``(K, A)``; a large negative number where ``mask (K, A) bool`` is False."""
    return torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=-1)
