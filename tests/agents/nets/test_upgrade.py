"""Runs and checkpoints that earlier versions wrote."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file

from nainjaune_agents.cli.main import main
from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets import checkpoint as checkpoint_files
from nainjaune_agents.nets.arch import make_net
from nainjaune_agents.nets.checkpoint import load_checkpoint
from nainjaune_agents.nets.common_layout import places
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.nets.torch_nets import as_torch
from nainjaune_agents.nets.upgrade import upgraded_config, upgraded_header, version_1_keys
from nainjaune_agents.trainers.checkpointing import load_initial_weights
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.expert import Config
from nainjaune_agents.trainers.labelling import labels_run
from nainjaune_env.core.errors import CheckpointError
from nainjaune_env.engine.batch import Batch
from tests.support.source import ROOT

OLD = ROOT / "tests" / "golden" / "run_of_version_1"
"""A run of PPO with Muon, two iterations long, as the version before networks and optimizers were data left it."""


HEADER = {
    "algorithm": "ppo", "game": "nain_jaune", "preset": "djeco", "rules": {}, "players": 2, "layout": "x", "actions": 24,
    "iteration": 1,
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    shutil.copytree(OLD, tmp_path / "run")
    return tmp_path / "run"


def test_a_checkpoint_of_version_1_plays_by_its_weights(run: Path) -> None:
    checkpoint = load_checkpoint(run)
    assert checkpoint.arch == {"name": "mlp", "hidden": [4, 4], "recurrent": 0}
    assert checkpoint.config["optimizer"]["matrix_ratio"] == 3.0
    agent = load_agent(str(run), checkpoint.setup)
    assert isinstance(agent, NetAgent)
    observation = Batch(checkpoint.setup, 5, seed=1).observation
    today = checkpoint.setup.layout
    earlier = today.earlier[checkpoint.layout]
    x = as_torch(agent.net).scaled(torch.from_numpy(observation)).numpy()[:, places(earlier, today)]
    weights = {name.removeprefix("model."): tensor for name, tensor in checkpoint.tensors.items()}
    for layer in ("body.0", "body.2"):
        x = np.maximum(x @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
    expected = x @ weights["policy.weight"].T + weights["policy.bias"]
    assert agent.net.evaluate(observation)[0] == pytest.approx(expected, abs=1e-5)


def test_a_run_of_version_1_is_resumed(run: Path) -> None:
    """The file is on an earlier layout: here its matrices over the bytes of an observation get the columns of today's."""
    path, before = run / "checkpoint.safetensors", load_checkpoint(run)
    layout = before.setup.layout
    earlier = layout.earlier[before.layout]
    with safe_open(path, framework="np") as opened:
        head = opened.metadata()
    tensors = {}
    for name, tensor in before.tensors.items():
        if tensor.shape[1:] == (earlier.size,):
            tensors[name] = np.zeros((len(tensor), layout.size), tensor.dtype)
            tensors[name][:, places(earlier, layout)] = tensor
    tensors = {**before.tensors, **tensors}
    about = json.dumps({**json.loads(head["about"]), "layout": layout.fingerprint})
    save_file(tensors, path, metadata={**head, "about": about, "sha256": checkpoint_files._digest(about, tensors)})
    assert main(["train", "--resume", "--out", str(run), "--set", "iterations=3"]) == 0
    after = load_checkpoint(run)
    assert (before.iteration, after.iteration, after.arch) == (2, 3, before.arch)
    assert after.tensors.keys() == before.tensors.keys()
    assert {name.split(".")[0] for name in after.tensors} == {"model", "optimizer", "muon"}


def test_a_run_on_an_earlier_layout_is_not_resumed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    assert main(["train", "--resume", "--out", str(run), "--set", "iterations=3"]) == 2
    said = capsys.readouterr().err
    assert "earlier version of the observation layout, which lacks features of today's, so it is not resumed" in said
    assert "can begin from it, by 'init'." in said
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_run_begins_from_a_network_on_an_earlier_layout(run: Path) -> None:
    checkpoint = load_checkpoint(run)
    setup = checkpoint.setup
    net = make_net(checkpoint.arch, setup.layout, checkpoint.actions, torch.Generator())
    load_initial_weights(net, str(run), setup)
    observation, agent = Batch(setup, 50, seed=1).observation, load_agent(str(run), setup)
    assert isinstance(agent, NetAgent)
    assert net.evaluate(observation)[0] == pytest.approx(agent.net.evaluate(observation)[0], abs=1e-5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"hidden": [8, 8], "learning_rate": 0.1, "seed": 3},
            {"arch": {"name": "mlp", "hidden": [8, 8], "recurrent": 0}, "optimizer": {"name": "adam", "learning_rate": 0.1}},
        ),
        (
            {"arch": "residual", "hidden": [8, 8, 8], "recurrent": 0, "muon": 0.0, "warmup": 4, "seed": 3},
            {"arch": {"name": "residual", "width": 8, "blocks": 3}, "optimizer": {"name": "adam", "warmup": 4}},
        ),
        (
            {"arch": "mlp", "hidden": [], "recurrent": 5, "muon": 6.0, "last_learning_rate": 0.2, "seed": 3},
            {
                "arch": {"name": "mlp", "hidden": [], "recurrent": 5},
                "optimizer": {"name": "muon", "last_learning_rate": 0.2, "matrix_ratio": 6.0},
            },
        ),
    ],
)
def test_old_keys_become_a_network_and_an_optimizer(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert upgraded_config(old) == {**new, "seed": 3}
    assert upgraded_config(upgraded_config(old)) == upgraded_config(old)
    about = {key: value for key, value in old.items() if key in ("arch", "hidden", "recurrent")}
    assert upgraded_header({**about, "game": "x", "config": old}, 1) == {
        "game": "x",
        "arch": new["arch"],
        "config": {**new, "seed": 3},
    }
    assert upgraded_header({"arch": new["arch"]}, 2) == {"arch": new["arch"]}


@pytest.mark.parametrize(
    ("values", "digest"),
    [
        ({}, "235d53e0f573091b35003d6f81097cb5ea16118c66f992392146ad1c1b5965af"),
        (
            {"arch": {"name": "residual", "width": 64, "blocks": 3}, "optimizer": {"learning_rate": 5e-4, "warmup": 3}},
            "ee4823bc4f6308fbe06cb9ef3384e53edc5821b50bba79178fde8fc22ffce5f4",
        ),
    ],
)
def test_labels_that_version_1_made_are_those_of_the_same_run(values: dict[str, Any], digest: str) -> None:
    """The digests are as it computed them: a run that is resumed keeps its labels."""
    assert labels_run(dataclasses.asdict(build(Config, values))) == digest


def test_what_version_1_could_not_say_stays_as_it_is() -> None:
    config = {"arch": {"name": "mlp", "hidden": [8], "recurrent": 3}, "optimizer": {"name": "muon", "warmup": 2}, "seed": 1}
    assert version_1_keys(config) == config


def test_a_network_that_observed_plies_names_what_was_removed(tmp_path: Path) -> None:
    """Its header says ``history``; others say 0 or nothing."""
    about = json.dumps({"hidden": [4, 4], "history": 6, "config": {}, **HEADER})
    tensors = {"a": np.zeros(2, np.float32)}
    head = {"format": "nainjaune-checkpoint", "version": "1", "about": about, "sha256": checkpoint_files._digest(about, tensors)}
    save_file(tensors, tmp_path / "old", metadata=head)
    with pytest.raises(CheckpointError, match=r"observes 6 plies of the round \('history'\), which was removed on 2026-11-25"):
        load_checkpoint(tmp_path / "old")
