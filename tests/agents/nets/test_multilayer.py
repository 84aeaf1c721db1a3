"""Layers forward and back by hand, against torch's autograd through the network itself."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nainjaune_agents.nets.modules import PolicyValueNet, ValueNet
from nainjaune_agents.nets.multilayer import Multilayer
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.positions import stirred

SETUPS = [make_setup("nain_jaune", "djeco", 4), make_setup("batasaurus", None, 2)]
both = pytest.mark.parametrize("setup", SETUPS, ids=["djeco", "batasaurus"])


def net_for(setup: Setup, hidden: tuple[int, ...]) -> PolicyValueNet:
    return stirred(PolicyValueNet(setup.layout, len(setup.game.actions), hidden, torch.Generator().manual_seed(3)))


def by_hand(net: PolicyValueNet, dtype: torch.dtype) -> Multilayer:
    return Multilayer(net, [net.policy, net.value], dtype)


def seen(setup: Setup, rows: int, seed: int = 4) -> Tensor:
    batch, draws = Batch(setup, rows, seed=seed), streams(seed, rows)
    for _ in range(9):
        batch.step(batch.sample(draws))
    return torch.from_numpy(batch.observation)


def expected(net: PolicyValueNet, observation: Tensor, weights: Tensor, by_features: Tensor) -> tuple[Tensor, list[Tensor]]:
    """What the heads give, and by autograd the gradients of that times ``weights``, and of the features times ``by_features``."""
    features, _ = net.trunk(observation)
    logits, value = net.heads(features)
    outputs = torch.cat([logits, value[:, None]], dim=1)
    loss = (outputs * weights).sum() + (features * by_features).sum()
    return outputs.detach(), list(torch.autograd.grad(loss, list(net.parameters())))


@both
@pytest.mark.parametrize("hidden", [(64, 48), (32,), ()], ids=str)
@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-4), (torch.bfloat16, 0.1)], ids=str)
def test_gradients_are_those_of_autograd(setup: Setup, hidden: tuple[int, ...], dtype: torch.dtype, near: float) -> None:
    """Pass after pass, of any number of rows: nothing of an earlier one is left in what is used again.

    In bfloat16 a unit near 0 may be on the other side of it, so that gradients differ more than outputs.
    """
    net = net_for(setup, hidden)
    layers, chance = by_hand(net, dtype), torch.Generator().manual_seed(5)
    for number, rows in enumerate((300, 70, 1, 333)):
        observation = seen(setup, rows, seed=number)
        weights = torch.randn(rows, layers.forward(observation).shape[1], generator=chance)
        by_features = torch.randn(rows, net.width, generator=chance) * bool(hidden)
        outputs, gradients = expected(net, observation, weights, by_features)
        assert (layers.forward(observation) - outputs).abs().max() < near * outputs.std()
        layers.backward(weights, by_features.to(dtype))
        for (name, parameter), gradient in zip(net.named_parameters(), gradients, strict=True):
            assert parameter.grad is not None
            assert parameter.grad.dtype == torch.float32
            assert (parameter.grad - gradient).norm() <= near * gradient.norm(), name
        whole = torch.sqrt(sum((gradient.square().sum() for gradient in gradients), torch.zeros(())))
        assert float(layers.gradient.norm()) == pytest.approx(float(whole), rel=near)


def test_it_is_the_network_as_it_is_now() -> None:
    net, observation = net_for(SETUPS[0], (32,)), seen(SETUPS[0], 20)
    layers = by_hand(net, torch.float32)
    before = layers.forward(observation).clone()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    layers.backward(torch.ones_like(before))
    optimizer.step()
    assert layers.forward(observation).sum() < before.sum()
    stirred(net, seed=9)
    assert torch.allclose(layers.forward(observation)[:, -1], net(observation)[1].detach(), rtol=1e-4, atol=1e-5)


def test_a_critic_has_one_head() -> None:
    setup = SETUPS[0]
    critic, observation = ValueNet(setup.layout, [16], torch.Generator().manual_seed(1)), seen(setup, 30)
    layers = Multilayer(critic, [critic.value], torch.float32)
    value = critic(observation)
    assert torch.allclose(layers.forward(observation).squeeze(1), value, rtol=1e-4, atol=1e-6)
    gradients = torch.autograd.grad(value.sum(), list(critic.parameters()))
    layers.backward(torch.ones(30, 1))
    for parameter, gradient in zip(critic.parameters(), gradients, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, gradient, rtol=1e-3, atol=1e-4)


def test_a_step_makes_no_large_memory() -> None:
    """From the second pass on, what is made is smaller than a layer's features: all else is there already."""
    rows, net = 256, net_for(SETUPS[0], (64, 64))
    layers, observation = by_hand(net, torch.float32), seen(SETUPS[0], 256)
    ones = torch.ones_like(layers.forward(observation))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        layers.forward(observation)
        layers.backward(ones)
    assert max(event.cpu_memory_usage for event in profile.events()) < 4 * 64 * rows
