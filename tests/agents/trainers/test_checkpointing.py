"""What trainers keep in a checkpoint comes out of it again, and only into the run that it is of."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from nainjaune_agents.nets.arch.mlp import MLP
from nainjaune_agents.nets.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nainjaune_agents.nets.common_layout import common_layout
from nainjaune_agents.trainers.checkpointing import checkpoint_of, load_optimizer, named, optimizer_tensors, taking_up, under
from nainjaune_env.core.errors import CheckpointError
from tests.support.positions import small


@dataclass(frozen=True)
class Toy:
    algorithm: str = "toy"
    arch: str = "mlp"
    hidden: list[int] = field(default_factory=lambda: [8])
    rate: float = 0.1


def net_and_optimizer(seed: int) -> tuple[MLP, torch.optim.Optimizer]:
    setup = small()
    net = MLP(setup.layout, len(setup.game.actions), [8], torch.Generator().manual_seed(seed))
    return net, torch.optim.Adam(net.parameters(), lr=0.1)


def stepped(net: MLP, optimizer: torch.optim.Optimizer) -> None:
    observation = torch.ones((3, len(net.zero)), dtype=torch.uint8)
    logits, value, _ = net(observation)
    optimizer.zero_grad()
    (logits.square().mean() + value.mean()).backward()
    optimizer.step()


def kept(seed: int = 1) -> tuple[Checkpoint, MLP, torch.optim.Optimizer]:
    net, optimizer = net_and_optimizer(seed)
    stepped(net, optimizer)
    tensors = named("model.", net) | optimizer_tensors(optimizer)
    return checkpoint_of(Toy(), small(), iteration=3, progress={"seconds": 1.5}, tensors=tensors), net, optimizer


def test_a_network_and_its_optimizer_go_on_where_they_were(tmp_path: Path) -> None:
    """Through a file: the next step is the same to the last bit, as it would not be with a new optimizer."""
    checkpoint, net, optimizer = kept()
    save_checkpoint(tmp_path / "a.safetensors", checkpoint)
    read = load_checkpoint(tmp_path / "a.safetensors")
    other, fresh = net_and_optimizer(2)
    with taking_up(read, Toy(), small()):
        other.load_state_dict(under("model.", read.tensors))
        load_optimizer(fresh, read.tensors)
    forgetful, anew = net_and_optimizer(2)
    forgetful.load_state_dict(under("model.", read.tensors))
    for each in ((net, optimizer), (other, fresh), (forgetful, anew)):
        stepped(*each)
    assert all(torch.equal(one, two) for one, two in zip(net.parameters(), other.parameters(), strict=True))
    assert not all(torch.equal(one, two) for one, two in zip(net.parameters(), forgetful.parameters(), strict=True))


def test_it_says_what_the_network_is_for() -> None:
    setup = small()
    checkpoint = kept()[0]
    assert (checkpoint.algorithm, checkpoint.hidden, checkpoint.iteration) == ("toy", [8], 3)
    assert (checkpoint.game, checkpoint.preset, checkpoint.players) == ("nain_jaune", "classic", 3)
    assert checkpoint.rules["max_rounds"] == 2
    assert checkpoint.config == {"algorithm": "toy", "arch": "mlp", "hidden": [8], "rate": 0.1}
    assert (checkpoint.layout, checkpoint.common) == (setup.layout.fingerprint, False)
    whole = common_layout(setup.game)
    anywhere = checkpoint_of(Toy(), setup, iteration=0, progress={}, tensors={}, common=whole)
    assert (anywhere.layout, anywhere.common) == (whole.fingerprint, True)


def test_only_its_own_run_takes_it_up() -> None:
    checkpoint, net, _ = kept()
    setup, own = small(), Toy()
    faster = Toy(rate=0.2)
    with pytest.raises(CheckpointError, match=r"another configuration: rate differ\."), taking_up(checkpoint, faster, setup):
        raise AssertionError
    with pytest.raises(CheckpointError, match="trained with 3 players"), taking_up(checkpoint, own, small(4)):
        raise AssertionError
    without = {name: tensor for name, tensor in checkpoint.tensors.items() if name != "model.value.bias"}
    torn = dataclasses.replace(checkpoint, tensors=without)
    with pytest.raises(CheckpointError, match=r"(?s)does not fit its configuration: .*value\.bias"), taking_up(torn, own, setup):
        net.load_state_dict(under("model.", torn.tensors))
    with pytest.raises(CheckpointError, match="does not fit its configuration: 'seconds'"), taking_up(checkpoint, own, setup):
        dict[str, float]()["seconds"]
