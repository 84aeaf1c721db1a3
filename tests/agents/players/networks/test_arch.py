"""Architectures by name, and the protocol that each of them keeps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.cli.main import main
from nainjaune_agents.measure.arena.play import play_out
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks import arch as arch_package
from nainjaune_agents.players.networks.arch import arch_names, get_arch, make_net, read_arch
from nainjaune_agents.players.networks.arch.mlp import MLP
from nainjaune_agents.players.networks.arch.residual import Residual
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from nainjaune_agents.players.networks.inference import NAMES
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.policy_value import PolicyValueNet
from nainjaune_env.core.errors import CheckpointError, ConfigError
from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.agents.players.networks.test_checkpoint import make
from tests.support.positions import small, stirred

SMALL: dict[str, dict[str, Any]] = {
    "mlp": {"name": "mlp", "hidden": [16, 16], "recurrent": 0},
    "residual": {"name": "residual", "width": 16, "blocks": 2},
}
each = pytest.mark.parametrize("arch", arch_names())


def net_of(arch: str, setup: Setup, seed: int = 3, layout: Layout | None = None) -> PolicyValueNet:
    generator = torch.Generator().manual_seed(seed)
    return make_net(SMALL[arch], layout or setup.layout, len(setup.game.actions), generator)


def test_names() -> None:
    assert set(arch_names()) == set(SMALL) == set(NAMES)
    assert (get_arch("mlp"), get_arch("residual")) == (MLP, Residual)
    with pytest.raises(ConfigError, match=r"Unknown arch 'residul'\. Did you mean 'residual'\?"):
        get_arch("residul")


@pytest.mark.parametrize(
    ("arch", "says"),
    [
        ("mlp", r"expected 'arch' to be \{name: …, arguments\}, not 'mlp'\."),
        ({"name": "mpl"}, "Unknown arch 'mpl'. Did you mean 'mlp'?"),
        ({"hidden": [8]}, "Unknown arch None"),
        ({"name": ["mlp"]}, "Unknown arch .'mlp'."),
        ({"name": "mlp", "width": 8}, "Unknown key 'arch.width'. .*Valid: arch.hidden, arch.recurrent"),
        ({"name": "mlp", "hidden": [8, 0]}, r"expected 'arch.hidden\[1\]' to be a whole number from 1 to 16384, not 0"),
        ({"name": "mlp", "recurrent": -1}, "expected 'arch.recurrent' to be a whole number from 0 to 16384, not -1"),
        ({"name": "residual", "recurrent": 4}, "Unknown key 'arch.recurrent'"),
        ({"name": "residual", "width": 2.5}, "expected 'arch.width' to be a whole number from 1 to 16384, not 2.5"),
    ],
)
def test_what_no_network_is_made_of(arch: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_net(arch, small().layout, 5, torch.Generator())


GATED = '''
"""``gated``: one layer of units, each times a gate, and a state of its own where ``depth`` says so."""

from typing import Annotated

import torch
from msgspec import Meta
from torch import Tensor, nn

from nainjaune_agents.base.settings import NonNegativeFloat
from nainjaune_agents.players.networks.inference.base import NetArguments
from nainjaune_agents.players.networks.modules import linear
from nainjaune_agents.players.networks.policy_value import PolicyValueNet


class Gated(PolicyValueNet):
    class Arguments(NetArguments, tag="gated"):
        units: Annotated[int, Meta(ge=1, le=64), "units of the layer"] = 8
        sharpness: Annotated[NonNegativeFloat, "factor in the gates"] = 1.0

    arguments: Arguments

    def build(self, layout, generator):
        self.body = linear(layout.size, 2 * self.arguments.units, 1.0, generator)
        return self.arguments.units

    def trunk(self, observation, state=None, sequences=None):
        value, gate = self.body(self.scaled(observation)).chunk(2, dim=1)
        return value * torch.sigmoid(self.arguments.sharpness * gate), None
'''


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The network ``gated``, in a file outside of the package."""
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "gated.py").write_text(GATED, encoding="utf-8")
    monkeypatch.setattr(arch_package, "__path__", [*arch_package.__path__, str(tmp_path / "nets")])
    yield
    del sys.modules[f"{arch_package.__name__}.gated"]


@pytest.mark.usefixtures("gated")
def test_one_new_file_is_a_new_network_whatever_its_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is configured in YAML and by --set, trained, saved, resumed, begun from, searched over and played."""
    config, out, setup = tmp_path / "gated.yaml", str(tmp_path / "run"), make_setup("nain_jaune", "djeco", 3)
    keys = "preset: djeco\nplayers: 3\ntables: 16\nminibatch: 64\niterations: 1\neval_every: 1\neval_deals: 4\n"
    config.write_text(f"{keys}arch: {{name: gated, units: 6}}\noptimizer: {{name: muon}}\n", encoding="utf-8")
    assert main(["train", str(config), "--out", out, "--set", "arch.sharpness=3"]) == 0
    assert load_checkpoint(Path(out)).arch == {"name": "gated", "units": 6, "sharpness": 3.0}
    assert main(["train", "--resume", "--out", out, "--set", "iterations=2"]) == 0
    assert main(["train", str(config), "--out", f"{out}-on", "--set", "arch.sharpness=3", "--set", f"init={out}"]) == 0
    agent = load_agent(out, setup)
    assert isinstance(agent, NetAgent)
    assert agent.net.arch == load_checkpoint(Path(out)).arch
    searching = load_agent(f"{out}@search=2", setup)
    batch = Batch(setup, 4, seed=1, autoreset=False)
    play_out(batch, [agent, searching], np.array([[0, 1, 0]] * 4), [np.random.default_rng(1)] * 2)
    assert batch.done.all()
    capsys.readouterr()
    assert main(["train", "--keys"]) == 0
    assert "  arch.sharpness       1.0            gated: factor in the gates" in capsys.readouterr().out
    for setting, says in (
        ("arch.units=65", "'arch.units' to be a whole number from 1 to 64"),
        ("arch.unit=8", "Did you mean 'arch.units'"),
    ):
        assert main(["train", str(config), "--out", f"{out}-c", "--set", setting]) == 2
        assert says in capsys.readouterr().err


@each
def test_the_protocol(arch: str) -> None:
    setup = small()
    net, observation = stirred(net_of(arch, setup)), torch.from_numpy(Batch(setup, 9).observation)
    logits, value, state = net(observation)
    features, _ = net.trunk(observation)
    assert (logits.shape, value.shape, features.shape) == ((9, len(setup.game.actions)), (9,), (9, net.width))
    assert (logits.dtype, value.dtype, state) == (torch.float32, torch.float32, None)
    for one, two in zip(net.heads(features), (logits, value), strict=True):
        assert torch.equal(one, two)
    assert net.initial_state(5).shape == (5, 0)
    with pytest.raises(ValueError, match="recalls nothing"):
        PolicyValueNet.recall_loss(net, observation, features, torch.tensor([9]))


@each
def test_the_start_comes_from_the_generator_alone(arch: str) -> None:
    torch.manual_seed(1)
    one = net_of(arch, small(), 5)
    torch.manual_seed(2)
    two = net_of(arch, small(), 5)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True))
    assert not torch.equal(one.policy.weight, net_of(arch, small(), 6).policy.weight)


@each
def test_it_starts_with_an_almost_uniform_policy_and_values_near_0(arch: str) -> None:
    logits, value = net_of(arch, small()).evaluate(Batch(small(), 64).observation)
    assert np.ptp(logits, axis=1).max() < 0.3
    assert np.abs(value).max() < 1.5


@pytest.mark.parametrize(
    "arch",
    [
        {"name": "mlp", "hidden": [1 << 14] * 3},
        {"name": "mlp", "hidden": [1 << 10], "recurrent": 1 << 14},
        {"name": "mlp", "hidden": [], "recurrent": 1 << 14},
        {"name": "residual", "width": 1 << 14, "blocks": 1},
    ],
    ids=str,
)
def test_a_network_that_would_fill_the_memory_is_refused(arch: dict[str, Any], tmp_path: Path) -> None:
    says = r"The hidden layers of a network have at most 268435456 weights between them, not \d+\.$"
    with pytest.raises(ConfigError, match=rf"^{says}"):
        make_net(arch, small().layout, 9, torch.Generator())
    save_checkpoint(tmp_path / FILE_NAME, make(small(), arch=arch))
    with pytest.raises(CheckpointError, match=says):
        load_agent(str(tmp_path), small())
    read_arch({"name": "mlp", "hidden": [1 << 14] * 2})
