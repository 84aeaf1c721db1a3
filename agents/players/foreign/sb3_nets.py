"""The networks of Stable-Baselines3's policies for vectors and discrete actions, with NumPy and compiled code alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count, pairwise, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..networks.inference.chain import Chain, Layer
from ..networks.inference.mlp import sigmoid

Floats = NDArray[np.float32]
Weights = Mapping[str, Floats]

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "ReLU": lambda x: np.maximum(x, np.float32(0)),
    "Tanh": np.tanh,
    "ELU": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, np.float32(0)))),
    "LeakyReLU": lambda x: np.where(x > 0, x, x * np.float32(0.01)),
}
"""By their names in torch; with torch's own arguments, as nobody can give others by a class."""


class LSTM:
    """The layers of ``torch.nn.LSTM``, one decision at a time."""

    def __init__(self, layers: Sequence[Sequence[Layer]]) -> None:
        """``layers``: what each makes of its inputs and of its state. Raises ValueError where they do not follow each other."""
        self.units = layers[0][1][0].shape[1]
        for number, ((seen, _), (kept, _)) in enumerate(layers):
            width = self.units if number else seen.shape[1]
            if seen.shape != (4 * self.units, width) or kept.shape != (4 * self.units, self.units):
                raise ValueError(f"layer {number} of the LSTM has weights of the shapes {seen.shape} and {kept.shape}")
        self.inputs = layers[0][0][0].shape[1]
        self._layers = [(Chain([seen]), Chain([kept])) for seen, kept in layers]
        self.state_units = 2 * self.units * len(layers)

    def __call__(self, x: Floats | NDArray[np.uint8], state: Floats) -> Floats:
        """Returns the outputs ``(K, units)``; overwrites ``state (K, state_units)``, of each layer the outputs and the cells."""
        result: Floats | NDArray[np.uint8] = x
        for number, (seen, kept) in enumerate(self._layers):
            at = 2 * self.units * number
            output, cells = state[:, at : at + self.units], state[:, at + self.units : at + 2 * self.units]
            take, forget, new, give = np.split(seen(result) + kept(output), 4, axis=1)
            cells[...] = sigmoid(forget) * cells + sigmoid(take) * np.tanh(new)
            output[...] = sigmoid(give) * np.tanh(cells)
            result = output
        return np.ascontiguousarray(result, np.float32)


class SB3Net:
    """Logits, or action values, from the bytes of observations as they are: Stable-Baselines3 scales no vectors."""

    def __init__(self, layers: Sequence[Layer], activation: str, lstm: LSTM | None = None) -> None:
        """``layers``: with an activation function between them. Raises ValueError where they do not follow each other."""
        if not layers:
            raise ValueError("there is no layer")
        widths = [(lstm.units, lstm.units)] if lstm else []
        widths += [(weight.shape[1], len(weight)) for weight, _ in layers]
        for (_, before), (after, _) in pairwise(widths):
            if before != after:
                raise ValueError(f"a layer of {before} outputs is followed by one of {after} inputs")
        self.inputs, self.outputs = lstm.inputs if lstm else widths[0][0], widths[-1][1]
        self.state_units = lstm.state_units if lstm else 0
        """Units of a seat's state; 0 = no memory."""
        self._lstm, self._between = lstm, ACTIVATIONS[activation]
        # a chain has ReLUs of its own
        self._chains = [Chain(layers)] if activation == "ReLU" else [Chain([layer]) for layer in layers]

    def __call__(self, observation: NDArray[np.uint8], state: Floats | None) -> Floats:
        """Returns logits ``(K, A)``; overwrites ``state (K, state_units)``, which is None without memory."""
        seen = observation if self._lstm is None or state is None else self._lstm(observation, state)
        result = self._chains[0](seen)
        for chain in self._chains[1:]:
            result = chain(self._between(result))
        return result


class Policy(NamedTuple):
    """How the weights of a class of policies are called."""

    body: str
    """What the hidden layers' names begin with, every other number of a sequence from 0 on."""
    heads: tuple[str, ...]
    """The layers after these."""
    others: tuple[str, ...]
    """What the names of weights begin with that do not choose actions."""
    activation: str
    """That of the class, where its arguments name none."""


ACTOR = Policy(
    "mlp_extractor.policy_net.", ("action_net",), ("mlp_extractor.value_net.", "value_net.", "lstm_critic.", "critic."), "Tanh"
)
POLICIES = {
    "stable_baselines3.common.policies.ActorCriticPolicy": ACTOR,
    "sb3_contrib.common.maskable.policies.MaskableActorCriticPolicy": ACTOR,
    "sb3_contrib.common.recurrent.policies.RecurrentActorCriticPolicy": ACTOR,
    "stable_baselines3.dqn.policies.DQNPolicy": Policy("q_net.q_net.", (), ("q_net_target.",), "ReLU"),
}
"""By their classes; ``MlpPolicy`` and ``MlpLstmPolicy`` are names of them."""


def build_net(weights: Weights, policy: Policy, activation: str) -> SB3Net:
    """Returns the network of ``policy`` with these ``weights``; raises ValueError where they are not those of such a network."""
    left = {name: weight for name, weight in weights.items() if not name.startswith(policy.others)}

    def layer(weight_name: str, bias_name: str) -> Layer:
        weight, bias = left.pop(weight_name), left.pop(bias_name, None)
        if bias is None or weight.ndim != 2 or bias.shape != weight.shape[:1]:
            raise ValueError(f"{weight_name} of the shape {weight.shape} has no bias that fits it")
        return weight, bias

    numbered = (f"{policy.body}{number}" for number in count(0, 2))
    names = [*takewhile(lambda name: f"{name}.weight" in left, numbered), *policy.heads]
    lstm = [
        tuple(layer(f"lstm_actor.weight_{part}_l{k}", f"lstm_actor.bias_{part}_l{k}") for part in ("ih", "hh"))
        for k in takewhile(lambda k: f"lstm_actor.weight_ih_l{k}" in left, count())
    ]
    layers = [layer(f"{name}.weight", f"{name}.bias") for name in names]
    if left:
        raise ValueError(f"there is {sorted(left)[0]}")
    return SB3Net(layers, activation, LSTM(lstm) if lstm else None)
