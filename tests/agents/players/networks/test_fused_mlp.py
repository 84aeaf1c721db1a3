"""Plain MLPs fused: inference against the network, gradients against autograd, and no other network taken for one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from nainjaune_agents.players.networks.arch.mlp import MLP
from nainjaune_agents.players.networks.fused_mlp import (
    MAX_ROWS,
    FusedInference,
    FusedTraining,
    LinearChain,
    RunPair,
    fast_dtype,
    linear_chain,
    one_after_the_other,
)
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.policy_value import ValueNet
from nainjaune_agents.train.overlap import Prefetcher
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.networks import mlp
from tests.support.positions import small, stirred

SETUPS = [make_setup("nain_jaune", "djeco", 4), make_setup("batasaurus", None, 2)]
both = pytest.mark.parametrize("setup", SETUPS, ids=["djeco", "batasaurus"])


def net_for(setup: Setup, hidden: tuple[int, ...] = (64, 48)) -> MLP:
    return stirred(mlp(setup, hidden))


def seen(setup: Setup, rows: int, seed: int = 4) -> Tensor:
    batch, draws = Batch(setup, rows, seed=seed), streams(seed, rows)
    for _ in range(9):
        batch.step(batch.sample(draws))
    return torch.from_numpy(batch.observation)


def chain_of(net: MLP) -> LinearChain:
    chain = net.fused()
    assert chain is not None
    return chain


def inference(net: MLP, dtype: torch.dtype | None = None) -> FusedInference:
    return FusedInference(chain_of(net), dtype)


def training(net: MLP, dtype: torch.dtype) -> FusedTraining:
    return FusedTraining(chain_of(net), dtype)


# ---------------------------------------------------------------- what is a plain MLP


def bodies(inputs: int) -> dict[str, nn.Module]:
    """Bodies that are not linear layers with a ReLU after each, though they hold two such layers."""
    one, two = nn.Linear(inputs, 64), nn.Linear(64, 48)
    return {
        "GELU": nn.Sequential(one, nn.GELU(), two, nn.GELU()),
        "LayerNorm": nn.Sequential(one, nn.LayerNorm(64), nn.ReLU(), two, nn.ReLU()),
        "LayerNorm in place of ReLU": nn.Sequential(one, nn.LayerNorm(64), two, nn.ReLU()),
        "no ReLU at the end": nn.Sequential(one, nn.ReLU(), two),
        "two ReLUs first": nn.Sequential(nn.ReLU(), one, nn.ReLU(), two),
        "no bias": nn.Sequential(nn.Linear(inputs, 48, bias=False), nn.ReLU()),
        "nested": nn.Sequential(nn.Sequential(one, nn.ReLU()), two),
        "no Sequential": nn.Linear(inputs, 48),
    }


@pytest.mark.parametrize("name", bodies(1))
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_any_other_body_is_computed_as_it_is(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as if it were linear layers and ReLUs, in which case logits would be off by 0.5 and more."""
    monkeypatch.setattr("nainjaune_agents.players.networks.policy_value.fast_dtype", lambda: dtype)
    torch.manual_seed(1)
    setup = SETUPS[0]
    net = net_for(setup)
    net.body = bodies(setup.layout.size)[name]  # type: ignore[assignment]
    stirred(net)
    assert net.fused() is None
    assert linear_chain(net, net.body, [net.policy]) is None
    observation = seen(setup, 300).numpy()
    expected = net.evaluate(observation)[0]
    logits = NetAgent("net", net).scorer().logits(observation)
    assert np.abs(logits - expected).max() <= (1e-6 if dtype is torch.float32 else 0.05) * expected.std()


def test_a_hook_on_a_layer_is_not_passed_over() -> None:
    net = net_for(SETUPS[0])
    assert net.fused() is not None
    net.body[0].register_forward_hook(lambda module, inputs, output: output + 1)
    assert net.fused() is None


def test_a_network_with_memory_is_no_chain_and_has_no_scorer() -> None:
    setup = small()
    net = mlp(setup, recurrent=4)
    assert net.fused() is None
    with pytest.raises(ValueError, match=r"a network with memory \(4 units\) has no logits without its state"):
        NetAgent("net", net).scorer()


# ---------------------------------------------------------------- inference


@both
@pytest.mark.parametrize("hidden", [(64, 48), (32,), ()])
@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 0.03)])
def test_its_logits_are_the_network_s(setup: object, hidden: tuple[int, ...], dtype: torch.dtype, near: float) -> None:
    net, observation = net_for(setup, hidden), seen(setup, 300).numpy()
    expected = net.evaluate(observation)[0]
    logits = inference(net, dtype).logits(observation)
    assert (logits.shape, logits.dtype) == (expected.shape, np.float32)
    assert np.abs(logits - expected).max() < near * expected.std()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_any_number_of_rows_and_none_that_was_there_before(dtype: torch.dtype) -> None:
    setup = SETUPS[0]
    fast, observation = inference(net_for(setup), dtype), seen(setup, MAX_ROWS + 40).numpy()
    whole = fast.logits(observation)
    near = 0.02 * whole.std()
    for rows in (1, 16, 17, 300, MAX_ROWS):
        part = fast.logits(observation[:rows])
        assert np.abs(part - whole[:rows]).max() < near
        fast.logits(255 - observation)
        assert fast.logits(observation[:rows]).tobytes() == part.tobytes()


def test_bfloat16_is_for_processors_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for able, expected in (({"amx_bf16": True}, torch.bfloat16), ({"avx512_f": True, "amx_bf16": False}, torch.float32)):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able, raising=False)
        assert fast_dtype() is expected
        assert inference(net_for(SETUPS[0])).dtype is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert fast_dtype() is torch.float32


# ---------------------------------------------------------------- training


def expected(net: MLP, observation: Tensor, weights: Tensor, by_features: Tensor) -> tuple[Tensor, list[Tensor]]:
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
    layers, chance = training(net, dtype), torch.Generator().manual_seed(5)
    for number, rows in enumerate((300, 70, 1, 333)):
        observation = seen(setup, rows, seed=number)
        *heads, features = layers(observation)
        joined = torch.cat(heads, dim=1)
        weights = torch.randn(joined.shape, generator=chance)
        by_features = torch.randn(rows, net.width, generator=chance) * bool(hidden)
        outputs, gradients = expected(net, observation, weights, by_features)
        assert (joined - outputs).abs().max() < near * outputs.std()
        net.zero_grad()
        ((joined * weights).sum() + (features * by_features.to(dtype)).sum()).backward()
        for (name, parameter), gradient in zip(net.named_parameters(), gradients, strict=True):
            assert parameter.grad is not None
            assert parameter.grad.dtype == torch.float32
            assert (parameter.grad - gradient).norm() <= near * gradient.norm(), name


def test_a_critic_has_one_head() -> None:
    setup = SETUPS[0]
    critic, observation = ValueNet(setup.layout, [16], torch.Generator().manual_seed(1)), seen(setup, 30)
    value, _ = FusedTraining(critic.fused(), torch.float32)(observation)
    assert torch.allclose(value.squeeze(1), critic(observation), rtol=1e-4, atol=1e-6)
    gradients = torch.autograd.grad(critic(observation).sum(), list(critic.parameters()))
    value.sum().backward()
    for parameter, gradient in zip(critic.parameters(), gradients, strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, gradient, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("passes", [1, 2], ids=["in one tensor", "sums of two passes"])
@pytest.mark.parametrize("share", [0.5, 2.0], ids=["larger", "smaller"])
def test_gradients_are_clipped_as_torch_clips_them(dtype: torch.dtype, passes: int, share: float) -> None:
    """``share``: the largest norm allowed, over the norm."""
    net = net_for(SETUPS[0], (32,))
    layers, parameters = training(net, dtype), list(net.parameters())
    for rows in (40, 25)[:passes]:
        layers(seen(SETUPS[0], rows))[1].square().sum().backward()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in parameters]
    norm = torch.linalg.vector_norm(torch.cat([gradient.flatten() for gradient in gradients]))
    assert torch.allclose(layers.clip_grad_norm_(share * float(norm)), norm, rtol=1e-5)
    for p, gradient in zip(parameters, gradients, strict=True):
        assert p.grad is not None
        assert torch.allclose(p.grad, min(share, 1.0) * gradient, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_parts_of_a_pass_give_the_same_bits_in_any_order(dtype: torch.dtype) -> None:
    """Also at the same time, and nearly those of a whole pass."""
    net = net_for(SETUPS[0])
    calls: list[int] = []
    orders: list[RunPair | None] = [
        None,
        one_after_the_other,
        lambda one, other: (calls.append(1), one_after_the_other(other, one))[1],
        Prefetcher(lambda iteration: iteration, 1).run_pair,
    ]
    weights = []
    for order in orders:
        chain = net.fused()
        assert chain is not None
        layers = FusedTraining(chain, dtype, order)
        bits = []
        for rows in (300, 1, 17):
            net.zero_grad()
            logits, value, features = layers(seen(SETUPS[0], rows, seed=rows))
            (logits.square().sum() + value.sum() + features.float().sum()).backward()
            gradients = [p.grad.clone() for p in net.parameters() if p.grad is not None]
            bits += [logits.detach().clone(), value.detach().clone(), *gradients]
        weights.append(bits)
    whole, *others = weights
    assert len(whole) == 3 * (2 + len([*net.parameters()]))
    assert len(calls) == 3 * (1 + 3)  # forward, and for each of three layers back
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(other, others[0], strict=True))
    for one, other in zip(whole, others[0], strict=True):
        assert (one - other).norm() <= (1e-5 if dtype is torch.float32 else 0.02) * one.norm()


def test_a_pass_whose_activations_are_overwritten_is_refused() -> None:
    net = net_for(SETUPS[0], (32,))
    layers = training(net, torch.float32)
    first = layers(seen(SETUPS[0], 20))[1].sum()
    layers(seen(SETUPS[0], 10))
    with pytest.raises(RuntimeError, match="the fused network has computed another batch since"):
        first.backward()
