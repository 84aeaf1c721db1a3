"""Networks as ONNX files, which other programs and languages compute without this package: the C library, a browser, C#.

``onnx_format`` says what inputs and outputs there are. The illegal actions have the logit :data:`ILLEGAL`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import write_bytes
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.extras import DISTRIBUTION
from nainjaune_env.core.spec import Setup

from .inference import NAMES
from .inference.base import InferenceNet
from .inference.chain import Layer
from .net_agent import NetAgent
from .onnx_format import KEY

VERSION = 1
"""Of the JSON object in the metadata."""
OPSET, IR_VERSION = 13, 7
"""Of 2020, so that old runtimes load the files too."""
ILLEGAL = np.array(np.finfo(np.float32).min)
"""The logit of an illegal action, −3.4e38: finite, as not every program computes with infinity, and nothing in a softmax."""


class OnnxGraph:
    """The operations of a network, see ``inference.base.Graph``."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def _name(self, given: str | NDArray[Any]) -> str:
        if isinstance(given, str):
            return given
        self.weights.append(numpy_helper.from_array(given, f"w{len(self.weights)}"))
        return f"w{len(self.weights) - 1}"

    def apply(self, operation: str, *inputs: str | NDArray[Any], output: str | None = None, **attributes: Any) -> str:
        """Adds an operation; returns the name of what it computes, which is ``output`` if that is given."""
        name = output or f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, [self._name(given) for given in inputs], [name], **attributes))
        return name

    def split(self, x: str, parts: Sequence[int]) -> list[str]:
        """Returns the names of consecutive ``parts``, numbers of columns, of ``x``."""
        names = [f"x{len(self.nodes)}_{part}" for part in range(len(parts))]
        self.nodes.append(helper.make_node("Split", [x, self._name(np.array(parts, np.int64))], names, axis=1))
        return names

    def chain(self, x: str, layers: Sequence[Layer], *, relu: bool = False) -> str:
        """Returns the name of what linear layers make of ``x``: a ReLU follows each but the last; with ``relu`` that too."""
        for number, (weight, bias) in enumerate(layers):
            x = self.apply("Gemm", x, np.ascontiguousarray(weight.T), bias)
            if relu or number < len(layers) - 1:
                x = self.apply("Relu", x)
        return x


def onnx_model(agent: Agent, setup: Setup) -> onnx.ModelProto:
    """Returns the network of ``agent``, loaded for tables with ``setup``, as an ONNX model.

    Raises :class:`AgentError` where the agent is no network, or one that only torch computes.
    """
    net = agent.net if isinstance(agent, NetAgent) else None
    if not isinstance(net, InferenceNet):
        raise AgentError(
            f"Expected a trained player, whose network is of the arch {' or '.join(NAMES)}, alone and without a search, "
            f"not {agent.name!r}."
        )
    graph = OnnxGraph()
    outputs, after = net.trace(graph, graph.apply("Cast", "observation", to=TensorProto.FLOAT), "state")
    logits, value = graph.split(outputs, [net.actions, 1])
    graph.apply("Where", "mask", logits, ILLEGAL, output="logits")
    graph.apply("Mul", graph.apply("Squeeze", value, np.array([1])), np.array(net.payoff_scale, np.float32), output="value")
    inputs = {"observation": (TensorProto.UINT8, net.layout.size), "mask": (TensorProto.BOOL, net.actions)}
    results: dict[str, tuple[int, ...]] = {"logits": (net.actions,), "value": ()}
    if net.recurrent:
        graph.apply("Identity", after, output="next_state")
        inputs["state"], results["next_state"] = (TensorProto.FLOAT, net.recurrent), (net.recurrent,)
    written = helper.make_graph(
        graph.nodes,
        setup.game.name,
        [helper.make_tensor_value_info(name, dtype, ["K", size]) for name, (dtype, size) in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["K", *shape]) for name, shape in results.items()],
        graph.weights,
    )
    model = helper.make_model(
        written,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name=DISTRIBUTION,
        producer_version=version(DISTRIBUTION),
    )
    helper.set_model_props(model, {KEY: json.dumps(about(agent.name, net, setup))})
    onnx.checker.check_model(model, full_check=True)
    return model


def about(name: str, net: InferenceNet, setup: Setup) -> dict[str, Any]:
    """Returns what the metadata of a file says about its network, called ``name``."""
    features = [
        {"name": f.name, "shape": f.shape, "high": f.high, "scale": f.scale, "zero": f.zero, "meaning": f.meaning}
        for f in net.layout
    ]
    return {
        "version": VERSION,
        "name": name,
        **setup.to_dict(),
        "unit": setup.game.unit,
        "actions": [*setup.game.actions],
        "layout": {"fingerprint": net.layout.fingerprint, "features": features},
        "arch": net.arch,
        "package": f"{DISTRIBUTION} {version(DISTRIBUTION)}",
    }


def write_onnx(path: Path, agent: Agent, setup: Setup) -> int:
    """Writes :func:`onnx_model` to ``path``; returns the number of bytes."""
    data = onnx_model(agent, setup).SerializeToString(deterministic=True)
    write_bytes(path, data)
    return len(data)
