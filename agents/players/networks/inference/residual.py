"""``residual`` without torch: see ``arch.residual`` for the network."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from nainjaune_env.core.layout import Layout

from .base import Graph, InferenceNet, NetArguments, TableInputs, Units, Weights, check_weights, fold_layer
from .chain import Chain, Layer

EPSILON = np.array(1e-5, np.float32)
"""What ``torch.nn.LayerNorm`` adds to the variance."""


class ResidualInference(InferenceNet):
    """A residual MLP; scale and shift of each normalisation are part of the linear layer after it."""

    class Arguments(NetArguments, frozen=True, tag="residual"):
        """The arguments of the network."""

        width: Annotated[Units, "width of all layers"] = 256
        blocks: Annotated[int, Meta(ge=1, le=1024), "residual blocks, of two layers each"] = 2

        def __post_init__(self) -> None:
            super().__post_init__()
            check_weights(2 * self.blocks * self.width**2)

    arguments: Arguments

    @classmethod
    def shapes(cls, arguments: Arguments, layout: Layout) -> tuple[dict[str, tuple[int, ...]], int]:
        """See :meth:`InferenceNet.shapes`."""
        width, blocks = arguments.width, arguments.blocks
        shapes: dict[str, tuple[int, ...]] = {"body.0.weight": (width, layout.size), "body.0.bias": (width,)}
        norms = [*(f"body.{number}.norm" for number in range(1, blocks + 1)), f"body.{blocks + 1}"]
        shapes |= {f"{norm}.{part}": (width,) for norm in norms for part in ("weight", "bias")}
        for number in range(1, blocks + 1):
            for layer in ("first", "second"):
                shapes |= {f"body.{number}.{layer}.weight": (width, width), f"body.{number}.{layer}.bias": (width,)}
        return shapes, width

    def build(self) -> None:
        """See :meth:`InferenceNet.build`."""
        blocks = range(1, self.arguments.blocks + 1)
        self._layers = [
            [self.on_bytes(self.layer("body.0"))],
            *(
                [self._after(f"body.{number}.norm", self.layer(f"body.{number}.first")), self.layer(f"body.{number}.second")]
                for number in blocks
            ),
            [self._after(f"body.{len(blocks) + 1}", self.heads())],
        ]
        self._first, *self._blocks, self._heads = map(Chain, self._layers)

    def _after(self, norm: str, layer: Layer) -> Layer:
        """Returns ``layer`` with the scale and the shift of the normalisation ``norm`` before it."""
        (scale, shift), (weight, bias) = self.layer(norm), layer
        wide = weight.astype(np.float64)
        return (wide * scale).astype(np.float32), (bias + wide @ shift).astype(np.float32)

    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See :meth:`InferenceNet.evaluate`; the network has no memory."""
        x = self._first(observation, self.threads)
        for block in self._blocks:
            x += block(normalised(x), self.threads)
        outputs = self._heads(normalised(x), self.threads)
        return outputs[:, : self.actions], outputs[:, self.actions]

    def trace(self, graph: Graph, observation: str, state: str) -> tuple[str, str]:
        """See :meth:`InferenceNet.trace`."""

        def normalised(x: str) -> str:
            centred = graph.apply("Sub", x, graph.apply("ReduceMean", x, axes=[1]))
            variance = graph.apply("ReduceMean", graph.apply("Mul", centred, centred), axes=[1])
            return graph.apply("Div", centred, graph.apply("Sqrt", graph.apply("Add", variance, EPSILON)))

        first, *blocks, heads = self._layers
        x = graph.chain(observation, first)
        for block in blocks:
            x = graph.apply("Add", x, graph.chain(normalised(x), block))
        return graph.chain(normalised(x), heads), state

    @classmethod
    def fold(cls, arguments: Arguments, weights: Weights, table: TableInputs) -> dict[str, NDArray[Any]]:
        """See :meth:`InferenceNet.fold`."""
        return {**weights, **fold_layer(weights, "body.0", table)}


def normalised(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns each row of ``x (K, width)`` less its mean, over its standard deviation."""
    centred = x - x.mean(axis=1, keepdims=True)
    result: NDArray[np.float32] = centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + EPSILON)
    return result
