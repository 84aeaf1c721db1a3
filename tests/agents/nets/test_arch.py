"""Architectures by name, and the protocol that each of them keeps."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.arch import DEFAULT_ARCH, arch_names, get_arch, make_net
from nainjaune_agents.nets.arch.mlp import MLP
from nainjaune_agents.nets.arch.residual import Residual
from nainjaune_agents.nets.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from nainjaune_agents.nets.common_layout import CommonView, common_layout, places
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.nets.policy_value import PolicyValueNet
from nainjaune_agents.nets.specialised import specialised
from nainjaune_agents.search.rollouts import ByLogits, seat_policy
from nainjaune_agents.zoo import player_registry
from nainjaune_env.core.errors import CheckpointError, ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.history import layout_with_history
from nainjaune_env.registry import make_setup
from tests.agents.nets.test_checkpoint import make
from tests.support.positions import small, stirred

each = pytest.mark.parametrize("arch", arch_names())


def net_of(arch: str, setup: Setup, seed: int = 3) -> PolicyValueNet:
    generator = torch.Generator().manual_seed(seed)
    return make_net(arch, setup.layout, len(setup.game.actions), [16, 16], generator)


def test_names() -> None:
    assert {"mlp", "residual"} <= set(arch_names())
    assert (get_arch("mlp"), get_arch("residual")) == (MLP, Residual)
    assert all(get_arch(name).arch == name for name in arch_names())
    with pytest.raises(ConfigError, match=r"Unknown arch 'residul'\. Did you mean 'residual'\?"):
        get_arch("residul")


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


@each
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_search_plays_out_rounds_by_it(arch: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its scorer gives the logits of the network, and stays as the network was."""
    for module in ("net_agent", "fused_mlp"):
        monkeypatch.setattr(f"nainjaune_agents.nets.{module}.fast_dtype", lambda: dtype)
    setup = small()
    net, observation = stirred(net_of(arch, setup)), Batch(setup, 200).observation
    assert isinstance(seat_policy(NetAgent("net", net), setup), ByLogits)
    expected, scorer = net.evaluate(observation)[0], NetAgent("net", net).scorer()
    stirred(net, seed=9)
    assert np.abs(scorer.logits(observation) - expected).max() < (1e-4 if dtype is torch.float32 else 0.05) * expected.std()


@each
def test_at_one_table_a_network_for_all_is_the_same(arch: str) -> None:
    setup = make_setup("nain_jaune", "skip", 5)
    whole = make_net(arch, common_layout(setup.game), len(setup.game.actions), [16, 16], torch.Generator().manual_seed(1))
    own, observation = specialised(stirred(whole), setup), Batch(setup, 50).observation
    assert (own.arch, own.zero.shape) == (arch, (setup.layout.size,))
    for one, two in zip(whole.evaluate(CommonView(setup)(observation)), own.evaluate(observation), strict=True):
        assert two == pytest.approx(one, rel=1e-3, abs=1e-3)
    again = make_net(arch, setup.layout, len(setup.game.actions), [16, 16], torch.Generator())
    again.load_state_dict(own.state_dict())


EXTENDED = [
    ("mlp", 0, "mlp", 5), ("mlp", 3, "mlp", 5), ("residual", 0, "residual", 5), ("residual", 2, "residual", 3),
    ("mlp", 0, "history_gru", 5), ("history_gru", 0, "history_gru", 5),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "fewer", "larger", "more"), EXTENDED)
def test_a_network_that_takes_over_another_plays_as_that_one_at_first(arch: str, fewer: int, larger: str, more: int) -> None:
    setup, rng = small(), np.random.default_rng(1)
    layouts = [layout_with_history(setup, plies) for plies in (fewer, more)]
    chance = torch.Generator().manual_seed(1)
    one, two = (
        stirred(make_net(name, layout, len(setup.game.actions), [16, 16], chance))
        for name, layout in zip((arch, larger), layouts, strict=True)
    )
    columns = places(*layouts)
    two.extend(one, torch.from_numpy(columns))
    observation = rng.integers(0, layouts[1].high.astype(np.int64) + 1, (30, layouts[1].size)).astype(np.uint8)
    for found, expected in zip(two.evaluate(observation), one.evaluate(observation[:, columns]), strict=True):
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("arch", "recurrent", "fewer", "larger", "hidden", "says"),
    [
        ("mlp", 0, 0, "residual", [16, 16], "cannot take over one of arch 'mlp' with fewer inputs"),
        ("mlp", 4, 0, "mlp", [16, 16], "cannot take over one of arch 'mlp' with fewer inputs"),
        ("mlp", 0, 2, "history_gru", [16, 16], "takes over one of arch 'mlp' without history only"),
        ("mlp", 0, 0, "mlp", [16], "'body.2.weight' has the shape .16, 16., and cannot be extended"),
        ("mlp", 0, 0, "mlp", [8, 8], "'body.0.weight' has the shape"),
    ],
)
def test_a_network_takes_over_no_other(arch: str, recurrent: int, fewer: int, larger: str, hidden: list[int], says: str) -> None:
    setup = small()
    layouts = [layout_with_history(setup, plies) for plies in (fewer, 4)]
    number, chance = len(setup.game.actions), torch.Generator()
    one = make_net(arch, layouts[0], number, [16, 16], chance, recurrent=recurrent)
    with pytest.raises(ValueError, match=says):
        make_net(larger, layouts[1], number, hidden, chance).extend(one, torch.from_numpy(places(*layouts)))


def test_an_architecture_that_cannot_be_restricted_says_so() -> None:
    net = net_of("mlp", small())
    with pytest.raises(ValueError, match="'mlp' cannot be restricted to the observations of one setup"):
        PolicyValueNet.fold(net, small().layout, torch.arange(3), torch.zeros(3))


@each
def test_its_checkpoint_plays_as_it_does(arch: str, tmp_path: Path) -> None:
    setup = small()
    net = stirred(net_of(arch, setup))
    tensors = {f"model.{name}": tensor for name, tensor in net.state_dict().items()}
    save_checkpoint(tmp_path / FILE_NAME, make(setup, arch=arch, hidden=[16, 16], tensors=tensors))
    assert load_checkpoint(tmp_path).arch == arch
    agent = load_agent(str(tmp_path), setup)
    assert isinstance(agent, NetAgent)
    assert type(agent.net) is get_arch(arch)
    observation = Batch(setup, 20).observation
    assert np.array_equal(agent.net.evaluate(observation)[0], net.evaluate(observation)[0])


@pytest.mark.parametrize(("arch", "says"), [("residual", "those of its network"), ("transformer", "Unknown arch")])
def test_a_head_that_names_another_arch_is_refused(arch: str, says: str, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / FILE_NAME, dataclasses.replace(make(small()), arch=arch))
    with pytest.raises(CheckpointError, match=says):
        load_agent(str(tmp_path), small())


def test_checkpoints_from_before_there_were_architectures_are_mlps() -> None:
    """Such are the files of ``zoo:strong-1``; their heads name none."""
    paths = [player.path for player in player_registry().players("strong-1")]
    assert paths
    for path in paths:
        assert b'\\"arch\\"' not in path.read_bytes()[:20_000]
        kept = load_checkpoint(path)
        assert kept.arch == DEFAULT_ARCH == "mlp"
        assert kept.history == 0  # nor was there a history


def test_a_head_whose_tensors_do_not_fit_is_refused_in_one_sentence(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / FILE_NAME, dataclasses.replace(make(small()), hidden=[7]))
    with pytest.raises(CheckpointError, match=r"those of its network: (.|\n)*size mismatch(.|\n)*[^.]\.$"):
        load_agent(str(tmp_path), small())


@pytest.mark.parametrize(
    ("arch", "hidden", "recurrent"),
    [("mlp", [1 << 14] * 3, 0), ("mlp", [1 << 10], 1 << 14), ("mlp", [], 1 << 14), ("residual", [1 << 14], 0)],
)
def test_a_network_that_would_fill_the_memory_is_refused(arch: str, hidden: list[int], recurrent: int, tmp_path: Path) -> None:
    says = r"The hidden layers of a network have at most 268435456 weights between them, not \d+\.$"
    with pytest.raises(ConfigError, match=rf"^{says}"):
        make_net(arch, small().layout, 9, hidden, torch.Generator(), recurrent=recurrent)
    save_checkpoint(tmp_path / FILE_NAME, dataclasses.replace(make(small()), arch=arch, hidden=hidden, recurrent=recurrent))
    with pytest.raises(CheckpointError, match=says):
        load_agent(str(tmp_path), small())
    get_arch("mlp").check_arguments([1 << 14] * 2, 0)
