"""``mlp`` without torch: see ``arch.mlp`` for the network."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, field
from numpy.typing import NDArray

from nainjaune_env.core.layout import Layout

from .base import (
    MAX_UNITS,
    Graph,
    InferenceNet,
    NetArguments,
    TableInputs,
    Units,
    Weights,
    check_weights,
    constant_in_bias,
    fold_layer,
)
from .chain import Chain, Layer


class MLPInference(InferenceNet):
    """Linear layers and ReLUs, and a GRU where ``recurrent`` is not 0."""

    class Arguments(NetArguments, frozen=True, tag="mlp"):
        """The arguments of the network."""

        hidden: Annotated[list[Units], "widths of the hidden layers"] = field(default_factory=lambda: [256, 256])
        recurrent: Annotated[
            int,
            Meta(ge=0, le=MAX_UNITS),
            "units of a GRU along the decisions of a seat in a round; 0 = no memory",
        ] = 0

        def __post_init__(self) -> None:
            super().__post_init__()
            hidden, memory = self.hidden, self.recurrent
            first = hidden[0] if hidden else 0
            check_weights(3 * memory * (memory + first) + memory * first + sum(a * b for a, b in pairwise(hidden)))

    arguments: Arguments

    @classmethod
    def shapes(cls, arguments: Arguments, layout: Layout) -> tuple[dict[str, tuple[int, ...]], int]:
        """See :meth:`InferenceNet.shapes`."""
        hidden, units, size = arguments.hidden, arguments.recurrent, layout.size
        shapes: dict[str, tuple[int, ...]] = {}
        inputs = size
        if units:
            private = len(layout.private)
            looked = hidden[0] if hidden else size
            if hidden:
                shapes |= {"look.0.weight": (looked, size), "look.0.bias": (looked,)}
            shapes |= {"gru.weight_ih_l0": (3 * units, looked), "gru.weight_hh_l0": (3 * units, units)}
            shapes |= {"gru.bias_ih_l0": (3 * units,), "gru.bias_hh_l0": (3 * units,)}
            shapes |= {"recall.weight": (private, units), "recall.bias": (private,)}
            inputs += private + units
        for number, (before, width) in enumerate(pairwise([inputs, *hidden])):
            shapes |= {f"body.{2 * number}.weight": (width, before), f"body.{2 * number}.bias": (width,)}
        return shapes, hidden[-1] if hidden else inputs

    def build(self) -> None:
        """See :meth:`InferenceNet.build`."""
        first, *others = [*(self.layer(f"body.{2 * number}") for number in range(len(self.arguments.hidden))), self.heads()]
        self.layers: list[Layer] = [self.on_bytes(first), *others]
        """Those after the GRU, or all, over the bytes of an observation as they are; the last gives logits and value."""
        self._chain = Chain(self.layers)
        if self.recurrent:
            inputs = self.weights["gru.weight_ih_l0"], self.weights["gru.bias_ih_l0"]
            self._look = [self.on_bytes(self.layer("look.0")), inputs] if self.arguments.hidden else [self.on_bytes(inputs)]
            self._gates = self.weights["gru.weight_hh_l0"], self.weights["gru.bias_hh_l0"]
            self._from_observation = Chain(self._look)
            self._from_state = Chain([self._gates])
            self._recall = Chain([self.layer("recall")])

    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See :meth:`InferenceNet.evaluate`."""
        inputs: NDArray[Any] = observation
        if self.recurrent:
            assert state is not None
            state[...] = self._next_state(observation, state)
            recalled = sigmoid(self._recall(state, self.threads))
            inputs = np.concatenate([observation, recalled, state], axis=1, dtype=np.float32)
        outputs = self._chain(inputs, self.threads)
        return outputs[:, : self.actions], outputs[:, self.actions]

    def _next_state(self, observation: NDArray[np.uint8], state: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the state after each decision, by the gates of ``torch.nn.GRU``: reset, update, new."""
        seen = np.split(self._from_observation(observation, self.threads), 3, axis=1)
        kept = np.split(self._from_state(state, self.threads), 3, axis=1)
        reset, update = sigmoid(seen[0] + kept[0]), sigmoid(seen[1] + kept[1])
        new = np.tanh(seen[2] + reset * kept[2])
        after: NDArray[np.float32] = new + update * (state - new)
        return after

    def trace(self, graph: Graph, observation: str, state: str) -> tuple[str, str]:
        """See :meth:`InferenceNet.trace`."""
        after, inputs = state, observation
        if self.recurrent:
            gates = [self.recurrent] * 3
            seen = graph.split(graph.chain(observation, self._look), gates)
            kept = graph.split(graph.chain(state, [self._gates]), gates)
            reset, update = (graph.apply("Sigmoid", graph.apply("Add", seen[k], kept[k])) for k in (0, 1))
            new = graph.apply("Tanh", graph.apply("Add", seen[2], graph.apply("Mul", reset, kept[2])))
            after = graph.apply("Add", new, graph.apply("Mul", update, graph.apply("Sub", state, new)))
            recalled = graph.apply("Sigmoid", graph.chain(after, [self.layer("recall")]))
            inputs = graph.apply("Concat", observation, recalled, after, axis=1)
        return graph.chain(inputs, self.layers), after

    @classmethod
    def fold(cls, arguments: Arguments, weights: Weights, table: TableInputs) -> dict[str, NDArray[Any]]:
        """See :meth:`InferenceNet.fold`."""
        folded, columns = dict(weights), table.columns
        if arguments.recurrent:
            whole = table.whole.private
            kept = np.flatnonzero(np.isin(whole, columns[table.own.private]))  # of what is recalled
            folded |= {f"recall.{part}": weights[f"recall.{part}"][kept] for part in ("weight", "bias")}
            state = len(table.constant) + len(whole) + np.arange(arguments.recurrent)
            columns = np.concatenate([columns, len(table.constant) + kept, state])
            if arguments.hidden:
                folded |= fold_layer(weights, "look.0", table)
            else:
                gates, bias = weights["gru.weight_ih_l0"], weights["gru.bias_ih_l0"]
                folded["gru.weight_ih_l0"] = gates[:, table.columns]
                folded["gru.bias_ih_l0"] = constant_in_bias(gates, bias, table.constant)
        for name in ("body.0",) if arguments.hidden else ("policy", "value"):
            folded |= fold_layer(weights, name, table, columns)
        return folded


def sigmoid(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the logistic function of ``x``; the hyperbolic tangent does not overflow where an exponential would."""
    half = np.float32(0.5)
    result: NDArray[np.float32] = half + half * np.tanh(half * x)
    return result
