"""What every NumPy network begins with: checked weights, and the folding of what is constant at a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup

from ....base.settings import Settings
from ..common_layout import CommonView, random_payoff_scale
from .chain import Layer

MAX_UNITS = 1 << 14
"""Bound of a layer's width: the weights between two such layers are a gigabyte."""
Units = Annotated[int, Meta(ge=1, le=MAX_UNITS)]
MAX_WEIGHTS = 1 << 28
"""Bound of the weights between the hidden layers of a network: a gigabyte, and four with gradients and Adam's state."""

Weights = Mapping[str, NDArray[Any]]
"""Weights by their names in a checkpoint, without ``model.``."""


class NetArguments(Settings, frozen=True, tag_field="name"):
    """Base of the arguments of a network; the ``tag`` is its name, that of its module."""

    @property
    def name(self) -> str:
        """The name of the network."""
        return str(self.__struct_config__.tag)


class TableInputs(NamedTuple):
    """How the observations of a setup stand in the common layout of its game."""

    whole: Layout
    """The common layout."""
    own: Layout
    """That of the setup."""
    columns: NDArray[np.int64]
    """The byte of ``whole`` for each byte of ``own``, ``(C,)``."""
    constant: NDArray[np.float64]
    """The other inputs of a network, scaled, ``(N,)``; 0 in ``columns``."""


class Graph(Protocol):
    """What a network is written down in for another program to compute, operation by operation; arrays are known by names."""

    def apply(self, operation: str, *inputs: str | NDArray[Any], **attributes: Any) -> str:
        """Adds an operation of ONNX, such as ``"Tanh"``; returns the name of what it computes."""
        ...

    def split(self, x: str, parts: Sequence[int]) -> list[str]:
        """Returns the names of consecutive ``parts``, numbers of columns, of ``x (K, sum of parts)``."""
        ...

    def chain(self, x: str, layers: Sequence[Layer], *, relu: bool = False) -> str:
        """Returns the name of what ``chain.Chain`` computes from ``x``."""
        ...


class InferenceNet(ABC):
    """Action logits and a value from observations, without gradients. A subclass computes one kind of network."""

    Arguments: ClassVar[type[NetArguments]]
    """The class of the network's arguments; ``PolicyValueNet`` of the same arch has the same."""
    threads = 1
    """Threads that compute a large batch."""

    def __init__(self, arguments: Any, weights: Weights, layout: Layout, actions: int) -> None:
        """``weights`` are for observations of ``layout``; raises ValueError where they are not those of such a network."""
        self.arguments = arguments
        self.layout = layout
        self.actions = actions
        self.check_fit(arguments, weights, layout, actions)
        self.weights = {name: weight.astype(np.float32) for name, weight in weights.items()}
        """As in a checkpoint: torch's network of this arch loads them."""
        self.recurrent: int = getattr(arguments, "recurrent", 0)
        self.payoff_scale = float(self.weights["payoff_scale"])
        self.build()

    @property
    def arch(self) -> dict[str, Any]:
        """The network as data, ``{name, **arguments}``."""
        values: dict[str, Any] = self.arguments.to_dict()
        return values

    @classmethod
    @abstractmethod
    def shapes(cls, arguments: Any, layout: Layout) -> tuple[dict[str, tuple[int, ...]], int]:
        """Returns the shapes of the weights before the heads by name, and the number of features that the heads take."""

    @abstractmethod
    def build(self) -> None:
        """Makes what :meth:`evaluate` computes with."""

    @abstractmethod
    def evaluate(
        self, observation: NDArray[np.uint8], state: NDArray[np.float32] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns logits ``(K, A)``, not masked, and values ``(K,)``, in units of ``payoff_scale``.

        A recurrent network takes the ``state (K, recurrent)`` before each decision and overwrites it with the one after.
        """

    @abstractmethod
    def trace(self, graph: Graph, observation: str, state: str) -> tuple[str, str]:
        """Writes down what :meth:`evaluate` computes.

        Returns the names of the logits with the value behind them, ``(K, A + 1)``, and of the state after each decision.
        ``observation (K, size)`` are the bytes as floats; the name of the ``state`` is empty for a network without memory.
        """

    @classmethod
    @abstractmethod
    def fold(cls, arguments: Any, weights: Weights, table: TableInputs) -> dict[str, NDArray[Any]]:
        """Returns the ``weights`` for the common layout as those for observations at a table: constant inputs become biases."""

    @classmethod
    def at_table(cls, arguments: Any, weights: Weights, setup: Setup, actions: int) -> Self:
        """Returns the network with ``weights`` for the common layout as one for the observations of ``setup`` alone.

        At one setup most of what the common layout adds is constant: seats, rules, and zeros where seats are missing. In the
        biases it costs nothing. Its values are in units of ``random_payoff_scale``. Raises ValueError as the class does.
        """
        view = CommonView(setup)
        layout = view.layout
        cls.check_fit(arguments, weights, layout, actions)
        constant = ((view.rest - layout.zero) * (1 / layout.scale)).astype(np.float64)
        constant[view.places] = 0.0
        folded = cls.fold(arguments, weights, TableInputs(layout, setup.layout, view.places, constant))
        folded["payoff_scale"] = np.array(random_payoff_scale(setup), np.float32)
        return cls(arguments, folded, setup.layout, actions)

    @classmethod
    def all_shapes(cls, arguments: Any, layout: Layout, actions: int) -> dict[str, tuple[int, ...]]:
        """Returns the shapes of all weights by name."""
        shapes, width = cls.shapes(arguments, layout)
        heads = {"policy.weight": (actions, width), "policy.bias": (actions,), "value.weight": (1, width), "value.bias": (1,)}
        return {**shapes, **heads, "payoff_scale": ()}

    @classmethod
    def check_fit(cls, arguments: Any, weights: Weights, layout: Layout, actions: int) -> None:
        """Raises ValueError where ``weights`` are not those of such a network over observations of ``layout``."""
        shapes = cls.all_shapes(arguments, layout, actions)
        if missing := sorted(shapes.keys() - weights.keys()):
            raise ValueError(f"there is no {', '.join(missing)}")
        if unknown := sorted(weights.keys() - shapes.keys()):
            raise ValueError(f"such a network has no {', '.join(unknown)}")
        for name, shape in shapes.items():
            weight = weights[name]
            if weight.shape != shape or weight.dtype.kind != "f":
                raise ValueError(f"expected floats of the shape {shape} as {name}, not {weight.dtype} of {weight.shape}")

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns the logits of :meth:`evaluate`, for a network without memory."""
        return self.evaluate(observation)[0]

    def scorer(self) -> Self:
        """Returns what computes the logits in rollouts: the network itself, whose weights do not change."""
        return self

    def layer(self, name: str) -> Layer:
        """Returns the linear layer ``name``."""
        return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def heads(self) -> Layer:
        """Returns policy and value as one layer: the logits, then the value."""
        parts = self.layer("policy"), self.layer("value")
        return np.concatenate([weight for weight, _ in parts]), np.concatenate([bias for _, bias in parts])

    def on_bytes(self, layer: Layer) -> Layer:
        """Returns ``layer``, whose first inputs are scaled features, over the bytes of an observation."""
        weight, bias, size = layer[0].astype(np.float64), layer[1].astype(np.float64), self.layout.size
        weight[:, :size] *= 1 / self.layout.scale
        bias -= weight[:, :size] @ self.layout.zero.astype(np.float64)
        return weight.astype(np.float32), bias.astype(np.float32)


def fold_layer(
    weights: Weights, name: str, table: TableInputs, inputs: NDArray[np.int64] | None = None
) -> dict[str, NDArray[Any]]:
    """Returns weight and bias of the linear layer ``name`` for the ``inputs`` that are left (None: the table's bytes).

    The constant ones, among its first, move into its bias; others that ``inputs`` lacks are dropped.
    """
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return {
        f"{name}.weight": weight[:, table.columns if inputs is None else inputs],
        f"{name}.bias": constant_in_bias(weight, bias, table.constant),
    }


def constant_in_bias(weight: NDArray[Any], bias: NDArray[Any], constant: NDArray[np.float64]) -> NDArray[Any]:
    """Returns ``bias`` with what the first inputs of ``weight`` add, which are ``constant (N,)``."""
    folded: NDArray[Any] = (bias + weight[:, : len(constant)].astype(np.float64) @ constant).astype(bias.dtype)
    return folded


def check_weights(weights: int) -> None:
    """Raises :class:`ConfigError` for more than :data:`MAX_WEIGHTS` ``weights`` between hidden layers."""
    if weights > MAX_WEIGHTS:
        raise ConfigError(f"The hidden layers of a network have at most {MAX_WEIGHTS} weights between them, not {weights}.")
