"""Networks as ONNX files, computed by onnxruntime alone, against the networks as agents play them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.networks.inference import get_inference
from nainjaune_agents.players.networks.inference.base import InferenceNet
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.onnx_export import ILLEGAL, onnx_model, write_onnx
from nainjaune_agents.players.networks.onnx_format import KEY
from nainjaune_agents.players.search import searching
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.agents.players.networks.inference.test_inference import both, by_torch, each, weights_of
from tests.support.networks import mlp
from tests.support.positions import small


def net_of(arch: dict[str, Any], setup: Setup) -> InferenceNet:
    whole = by_torch(arch, setup, setup.layout)
    return get_inference(arch["name"])(whole.arguments, weights_of(whole), setup.layout, len(setup.game.actions))


@each
@both
def test_onnxruntime_computes_what_numpy_computes(arch: dict[str, Any], setup: Setup, tmp_path: Path) -> None:
    """Logits, values and states along some decisions, from bytes and masks."""
    net, path = net_of(arch, setup), tmp_path / "net.onnx"
    assert write_onnx(path, NetAgent("net", net), setup) == path.stat().st_size
    session = onnxruntime.InferenceSession(path)
    batch, draws = Batch(setup, 30, seed=3), streams(3, 30, stream=1)
    state, own = (np.zeros((30, net.recurrent), np.float32) for _ in range(2))
    for _ in range(4):
        given = {"observation": batch.observation, "mask": batch.mask}
        logits, value, *after = session.run(None, given | ({"state": state} if net.recurrent else {}))
        expected, values = net.evaluate(batch.observation, own)
        assert logits[batch.mask] == pytest.approx(expected[batch.mask], rel=1e-5, abs=2e-5)
        assert (logits[~batch.mask] == ILLEGAL).all()
        assert value == pytest.approx(7.0 * values, rel=1e-5, abs=2e-4)
        for state in after:
            assert state == pytest.approx(own, rel=1e-5, abs=2e-5)
        batch.step(batch.sample(draws))
    assert np.ptp(expected) > 0.5
    assert len(after) == bool(net.recurrent)


def test_the_file_says_what_it_plays(tmp_path: Path) -> None:
    setup = small(payment="cards", stake=3)
    net = net_of({"name": "mlp", "hidden": [8], "recurrent": 3}, setup)
    for name in ("a.onnx", "b.onnx"):
        write_onnx(tmp_path / name, NetAgent("mine", net), setup)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    model = onnx.load(tmp_path / "a.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert ([opset.version for opset in model.opset_import], model.ir_version) == ([13], 7)
    (about,) = (json.loads(entry.value) for entry in model.metadata_props if entry.key == KEY)
    assert about["package"].startswith("nainjaune-env ")
    features = about["layout"].pop("features")
    assert [(f["name"], tuple(f["shape"]), f["scale"]) for f in features] == [(f.name, f.shape, f.scale) for f in setup.layout]
    assert {key: value for key, value in about.items() if key != "package"} == {
        "version": 1,
        "name": "mine",
        **setup.to_dict(),
        "unit": "chips",
        "actions": [*setup.game.actions],
        "layout": {"fingerprint": setup.layout.fingerprint},
        "arch": {"name": "mlp", "hidden": [8], "recurrent": 3},
    }


def test_only_networks_are_written() -> None:
    setup = small()
    net = net_of({"name": "mlp", "hidden": [8]}, setup)
    for agent in (
        heuristics("nain_jaune")["closer"],
        searching(NetAgent("net", net), 4, setup),
        NetAgent("by torch", mlp(setup)),
    ):
        with pytest.raises(AgentError, match=r"^Expected a trained player, .* arch mlp or residual, .*, not '"):
            onnx_model(agent, setup)
