"""Networks of earlier versions of a layout play on as if what was added since were 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.arch import make_net
from nainjaune_agents.nets.checkpoint import save_checkpoint
from nainjaune_agents.nets.common_layout import CommonView, common_layout, places
from nainjaune_agents.nets.earlier_layout import with_later_features
from nainjaune_agents.nets.net_agent import playing_net
from nainjaune_agents.nets.torch_nets import build_net
from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.agents.nets.inference.test_inference import ARCHS, by_torch, weights_of
from tests.agents.nets.test_checkpoint import make

SETUP = make_setup("nain_jaune", "djeco", 3)


def earlier_of(layout: Layout) -> Layout:
    (earlier,) = layout.earlier.values()
    return earlier


def positions(setup: Setup) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Observations in the middle of rounds, where seats have passed ranks."""
    batch, draws = Batch(setup, 60, seed=5), streams(5, 60, stream=1)
    for _ in range(12):
        batch.step(batch.sample(draws))
    observation = batch.observation
    assert setup.layout.view(observation, "passed").any()
    return observation


@pytest.mark.parametrize("arch", ARCHS, ids=str)
@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("load", [playing_net, build_net])
def test_it_computes_what_it_computed_on_its_own_layout(arch: dict[str, Any], common: bool, load: Any) -> None:
    view = CommonView(SETUP)
    layout = common_layout(SETUP.game) if common else SETUP.layout
    earlier = earlier_of(layout)
    old = by_torch(arch, SETUP, earlier)
    tensors = {f"model.{name}": array for name, array in weights_of(old).items()}
    checkpoint = make(SETUP, arch=old.arch, layout=earlier.fingerprint, common=common, tensors=tensors)
    observation = positions(SETUP)
    whole = view(observation) if common else observation
    states = [np.zeros((60, old.recurrent), np.float32) for _ in range(2)]
    expected = old.evaluate(np.ascontiguousarray(whole[:, places(earlier, layout)]), states[0])
    got = load(checkpoint, SETUP, "it").evaluate(observation, states[1])
    for output, wanted in zip((*got, states[1]), (*expected, states[0]), strict=True):
        assert output == pytest.approx(wanted, rel=1e-4, abs=2e-4)


def test_other_weights_stay_the_same_arrays() -> None:
    layout = SETUP.layout

    def shapes(layout: Layout) -> dict[str, tuple[int, ...]]:
        return {name: array.shape for name, array in weights_of(make_net(ARCHS[0], layout, 24, torch.Generator())).items()}

    weights = weights_of(make_net(ARCHS[0], earlier_of(layout), 24, torch.Generator()))
    today = with_later_features(weights, shapes, earlier_of(layout), layout)
    assert {name for name in today if today[name] is not weights[name]} == {"body.0.weight"}
    assert {name: array.shape for name, array in today.items()} == shapes(layout)
    assert not layout.view(today["body.0.weight"], "passed").any()


@pytest.mark.parametrize("name", ["body.0.weight", "body.2.weight", "policy.weight"])
@pytest.mark.parametrize("fewer", [1, 26])
def test_a_network_with_other_columns_than_it_says_is_refused(name: str, fewer: int, tmp_path: Path) -> None:
    """26 is what the layouts differ by: only the first matrix may have as many columns fewer than today's."""
    earlier = earlier_of(SETUP.layout)
    assert SETUP.layout.size - earlier.size == 26
    old = by_torch({"name": "mlp", "hidden": [40, 40]}, SETUP, earlier)
    tensors = {f"model.{key}": array for key, array in weights_of(old).items()}
    tensors[f"model.{name}"] = np.ascontiguousarray(tensors[f"model.{name}"][:, fewer:])
    save_checkpoint(tmp_path / "lies.safetensors", make(SETUP, arch=old.arch, layout=earlier.fingerprint, tensors=tensors))
    with pytest.raises(CheckpointError, match=r"The tensors of .* are not those of its network"):
        load_agent(str(tmp_path / "lies.safetensors"), SETUP)
