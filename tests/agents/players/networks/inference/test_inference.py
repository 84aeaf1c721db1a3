"""Networks without torch against the same networks by torch, at one table and for all tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.arch import make_net
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.networks.common_layout import CommonView, common_layout
from nainjaune_agents.players.networks.inference import get_inference
from nainjaune_agents.players.networks.net_agent import NetAgent, folded_layers
from nainjaune_agents.players.networks.policy_value import PolicyValueNet
from nainjaune_agents.players.networks.torch_nets import as_torch
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small, stirred

ARCHS: list[dict[str, Any]] = [
    {"name": "mlp", "hidden": [24, 16]},
    {"name": "mlp", "hidden": []},
    {"name": "mlp", "hidden": [24, 16], "recurrent": 5},
    {"name": "mlp", "hidden": [], "recurrent": 5},
    {"name": "residual", "width": 16, "blocks": 2},
]
SETUPS = [make_setup("nain_jaune", "skip", 5), make_setup("batasaurus", None, 2)]
each = pytest.mark.parametrize("arch", ARCHS, ids=str)
both = pytest.mark.parametrize("setup", SETUPS, ids=["skip", "batasaurus"])


def by_torch(arch: dict[str, Any], setup: Setup, layout: Layout) -> PolicyValueNet:
    """A network to which everything matters, with a unit of its own."""
    net = stirred(make_net(arch, layout, len(setup.game.actions), torch.Generator().manual_seed(2)))
    net.payoff_scale.fill_(7.0)
    return net


def weights_of(net: PolicyValueNet) -> dict[str, Any]:
    return {name: tensor.numpy() for name, tensor in net.state_dict().items()}


@each
@both
@pytest.mark.parametrize("common", [False, True])
def test_it_computes_what_torch_computes(arch: dict[str, Any], setup: Setup, common: bool) -> None:
    """Logits, values and states along some decisions; a network for all tables at one of them."""
    view = CommonView(setup)
    whole = by_torch(arch, setup, view.layout if common else setup.layout)
    cls, actions = get_inference(arch["name"]), len(setup.game.actions)
    if common:
        net = cls.at_table(whole.arguments, weights_of(whole), setup, actions)
    else:
        net = cls(whole.arguments, weights_of(whole), setup.layout, actions)
        assert net.payoff_scale == 7.0
    twin = as_torch(net)
    assert (net.arch, net.recurrent, twin.arch) == (whole.arch, whole.recurrent, whole.arch)
    batch, draws = Batch(setup, 30, seed=3), streams(3, 30, stream=1)
    states = [np.zeros((30, net.recurrent), np.float32) for _ in range(3)]
    for _ in range(4):
        observation = batch.observation
        expected = *whole.evaluate(view(observation) if common else observation, states[0]), states[0]
        for one, state in ((net, states[1]), (twin, states[2])):
            for output, wanted in zip((*one.evaluate(observation, state), state), expected, strict=True):
                assert output == pytest.approx(wanted, rel=1e-4, abs=2e-4)
        batch.step(batch.sample(draws))
    assert np.ptp(expected[0]) > 0.5
    if not net.recurrent:
        assert np.array_equal(net.scorer().logits(observation), net.evaluate(observation)[0])


@both
def test_the_layers_of_a_player_are_all_that_another_program_needs(setup: Setup, tmp_path: Path) -> None:
    whole = by_torch({"name": "mlp", "hidden": [24, 16]}, setup, common_layout(setup.game))
    tensors = {f"model.{name}": array for name, array in weights_of(whole).items()}
    checkpoint = make(setup, arch=whole.arch, layout=common_layout(setup.game).fingerprint, common=True, tensors=tensors)
    save_checkpoint(tmp_path / FILE_NAME, replace(checkpoint, actions=len(setup.game.actions)))
    layers = folded_layers(load_agent(str(tmp_path), setup))
    assert {(weight.dtype, bias.dtype) for weight, bias in layers} == {(np.dtype(np.float32),) * 2}
    observation = Batch(setup, 50, seed=4).observation
    x = observation.astype(np.float32)
    for weight, bias in layers[:-1]:
        x = np.maximum(x @ weight.T + bias, 0)
    outputs = x @ layers[-1][0].T + layers[-1][1]
    logits, values = whole.evaluate(CommonView(setup)(observation))
    assert outputs == pytest.approx(np.column_stack([logits, values]), rel=1e-4, abs=2e-4)


def test_layers_are_those_of_a_plain_mlp() -> None:
    setup = small()
    for agent in (load_agent("random", setup), NetAgent("mine", by_torch(ARCHS[0], setup, setup.layout))):
        with pytest.raises(AgentError, match=f"Expected a player that is a plain MLP without memory, not '{agent.name}'"):
            folded_layers(agent)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"policy.bias": None}, "there is no policy.bias"),
        ({"extra": np.zeros(1)}, "such a network has no extra"),
        ({"value.bias": np.zeros(2)}, r"expected floats of the shape \(1,\) as value\.bias, not float64 of \(2,\)"),
        ({"value.bias": np.zeros(1, int)}, r"expected floats of the shape \(1,\) as value\.bias, not int64 of \(1,\)"),
    ],
)
def test_other_weights_are_refused(change: dict[str, Any], says: str) -> None:
    net = by_torch(ARCHS[0], small(), small().layout)
    weights = {name: array for name, array in {**weights_of(net), **change}.items() if array is not None}
    with pytest.raises(ValueError, match=says):
        get_inference("mlp")(net.arguments, weights, small().layout, len(small().game.actions))
