"""The tensors of a checkpoint come back as they were, and only into the run that they are of."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from nainjaune_agents.nets.arch.mlp import MLP
from nainjaune_agents.nets.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nainjaune_agents.nets.torch_nets import tensors_of
from nainjaune_agents.options import option
from nainjaune_agents.trainers.checkpointing import (
    load_optimizer,
    optimizer_tensors,
    restoring,
    with_prefix,
    without_prefix,
)
from nainjaune_env.core.errors import CheckpointError
from tests.agents.nets.test_checkpoint import make
from tests.support.networks import mlp
from tests.support.positions import small


@dataclass(frozen=True)
class Toy:
    algorithm: str = option("toy", "the trainer")
    rate: float = option(0.1, "a number")


def net_and_optimizer(seed: int) -> tuple[MLP, torch.optim.Optimizer]:
    setup = small()
    net = mlp(setup, seed=seed)
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
    tensors = with_prefix("model.", net.state_dict()) | optimizer_tensors("optimizer.", optimizer)
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    checkpoint = dataclasses.replace(make(small()), config=dataclasses.asdict(Toy()), tensors=arrays)
    return checkpoint, net, optimizer


def test_a_network_and_its_optimizer_continue_from_a_checkpoint(tmp_path: Path) -> None:
    """Through a file: the next step is the same to the last bit, as it would not be with a new optimizer."""
    checkpoint, net, optimizer = kept()
    save_checkpoint(tmp_path / "a.safetensors", checkpoint)
    read = load_checkpoint(tmp_path / "a.safetensors")
    other, fresh = net_and_optimizer(2)
    tensors = tensors_of(read.tensors)
    with restoring(read, Toy(), small()):
        other.load_state_dict(without_prefix("model.", tensors))
        load_optimizer("optimizer.", fresh, tensors)
    forgetful, anew = net_and_optimizer(2)
    forgetful.load_state_dict(without_prefix("model.", tensors))
    for each in ((net, optimizer), (other, fresh), (forgetful, anew)):
        stepped(*each)
    assert all(torch.equal(one, two) for one, two in zip(net.parameters(), other.parameters(), strict=True))
    assert not all(torch.equal(one, two) for one, two in zip(net.parameters(), forgetful.parameters(), strict=True))


def test_a_checkpoint_is_restored_in_its_own_run_only() -> None:
    checkpoint, net, _ = kept()
    setup, own = small(), Toy()
    faster = Toy(rate=0.2)
    with pytest.raises(CheckpointError, match=r"another configuration: rate differ\."), restoring(checkpoint, faster, setup):
        raise AssertionError
    with pytest.raises(CheckpointError, match="trained with 3 players"), restoring(checkpoint, own, small(4)):
        raise AssertionError
    without = {name: tensor for name, tensor in checkpoint.tensors.items() if name != "model.value.bias"}
    torn = dataclasses.replace(checkpoint, tensors=without)
    with pytest.raises(CheckpointError, match=r"(?s)does not fit its configuration: .*value\.bias"), restoring(torn, own, setup):
        net.load_state_dict(without_prefix("model.", tensors_of(torn.tensors)))
    with pytest.raises(CheckpointError, match="does not fit its configuration: 'seconds'"), restoring(checkpoint, own, setup):
        dict[str, float]()["seconds"]
