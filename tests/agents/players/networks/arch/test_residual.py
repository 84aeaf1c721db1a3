"""The residual network against its definition."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from nainjaune_agents.players.networks.arch import make_net
from nainjaune_agents.players.networks.arch.residual import Residual
from nainjaune_env.engine.batch import Batch
from tests.support.positions import small, stirred


def net(blocks: int = 3, width: int = 16) -> Residual:
    arch = {"name": "residual", "width": width, "blocks": blocks}
    net = make_net(arch, small().layout, 5, torch.Generator().manual_seed(1))
    assert isinstance(net, Residual)
    return net


def test_the_definition() -> None:
    one, observation = stirred(net()), torch.from_numpy(Batch(small(), 20).observation)
    weights = one.state_dict()

    def linear(name: str, x: Tensor) -> Tensor:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, x: Tensor) -> Tensor:
        return layer_norm(x, (16,), weights[f"{name}.weight"], weights[f"{name}.bias"])

    x = linear("body.0", one.scaled(observation))
    for block in ("body.1", "body.2", "body.3"):
        x = x + linear(f"{block}.second", linear(f"{block}.first", norm(f"{block}.norm", x)).clamp(min=0))
    x = norm("body.4", x)
    logits, value, _ = one(observation)
    assert torch.allclose(logits, linear("policy", x), rtol=1e-4, atol=1e-4)
    assert torch.allclose(value, linear("value", x)[:, 0], rtol=1e-4, atol=1e-4)


def test_at_first_its_blocks_change_little() -> None:
    """However many there are."""
    observation = torch.from_numpy(Batch(small(), 20).observation)
    for blocks in (1, 8):
        one = net(blocks, 64)
        with torch.no_grad():
            begun = one.body[0](one.scaled(observation))
            changed = one.body[:-1](one.scaled(observation))
        assert 0.01 < float((changed - begun).norm() / begun.norm()) < 0.3
