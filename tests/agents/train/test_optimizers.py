"""The optimizers: torch's own steps, each on its own parameters, at learning rates in proportion."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from nainjaune_agents.base.settings import choose
from nainjaune_agents.train.optimizers import GroupedOptimizer, Muon, Optimizer
from nainjaune_env.core.errors import ConfigError


def net(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))


def grouped(net: nn.Module, optimizer: dict[str, Any], hidden_layers: nn.Module) -> GroupedOptimizer:
    chosen = choose(Optimizer, optimizer, "test", key="optimizer")
    return GroupedOptimizer(chosen, [{"params": [*net.parameters()]}], [hidden_layers], eps=1e-5, fused=True)


def with_gradients(parameters: list[nn.Parameter], number: int) -> None:
    generator = torch.Generator().manual_seed(number)
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=generator)


def test_muon_steps_the_hidden_layers_matrices_and_adam_all_else() -> None:
    one, two = net(1), net(1)
    mixed = grouped(one, {"name": "muon", "matrix_ratio": 3.0}, one[:4])
    matrices = [two[0].weight, two[2].weight]
    others = [parameter for parameter in two.parameters() if parameter.ndim == 1 or parameter is two[4].weight]
    muon = torch.optim.Muon(matrices, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    adam = torch.optim.Adam(others, eps=1e-5, fused=True)
    for number in range(3):
        rate = 0.01 / (1 + number)
        mixed.set_learning_rate(rate)
        for optimizer, own in ((muon, 3 * rate), (adam, rate)):
            optimizer.param_groups[0]["lr"] = own
        with_gradients([*one.parameters()], number)
        with_gradients([*two.parameters()], number)
        mixed.step()
        muon.step()  # type: ignore[no-untyped-call]
        adam.step()
    assert all(torch.equal(*pair) for pair in zip(one.parameters(), two.parameters(), strict=True))
    assert {*mixed.by_prefix} == {"optimizer.", "muon."}


def test_groups_step_in_proportion_to_their_scales() -> None:
    """As deep Monte Carlo has two; Muon takes the matrices of hidden layers out of both."""
    one, two = net(1), net(1)
    groups = [{"params": [*one[:2].parameters()]}, {"params": [*one[2:].parameters()], "scale": 5.0}]
    mixed = GroupedOptimizer(Muon(matrix_ratio=2.0), groups, [one[:4]])
    assert [len(group["params"]) for group in mixed.by_prefix["optimizer."].param_groups] == [1, 3]
    assert [id(p) for p in mixed.by_prefix["muon."].param_groups[0]["params"]] == [id(one[0].weight), id(one[2].weight)]
    others = [{"params": [two[0].bias], "lr": 0.1}, {"params": [two[2].bias, *two[4].parameters()], "lr": 0.5}]
    adam = torch.optim.Adam(others)
    mixed.set_learning_rate(0.1)
    for each in (one, two):
        with_gradients([*each.parameters()], 1)
    for _ in range(2):
        mixed.step()
        adam.step()
    for name in ("0.bias", "2.bias", "4.weight", "4.bias"):
        assert torch.equal(one.get_parameter(name), two.get_parameter(name))


@pytest.mark.parametrize(
    ("optimizer", "says"),
    [
        ({"name": "adamw"}, "Unknown optimizer 'adamw'. Did you mean 'adam'"),
        ({"name": "adam", "matrix_ratio": 6}, "Unknown key 'optimizer.matrix_ratio'"),
        ({"name": "muon", "matrix_ratio": -1}, "'optimizer.matrix_ratio' to be a finite number, at least 0, not -1"),
        ({"name": "muon", "learning_rate": "x"}, "'optimizer.learning_rate' to be a finite number from 0 to 1, not 'x'"),
        ("muon", "'optimizer' to be {name: …, arguments}, not 'muon'"),
    ],
)
def test_what_is_no_optimizer(optimizer: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        grouped(net(1), optimizer, net(1))
