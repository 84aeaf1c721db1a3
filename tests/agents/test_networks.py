"""The network: what it makes of bytes, and that its start depends on its generator alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nainjaune_agents.networks import PolicyValueNet, masked_log_softmax
from nainjaune_env.batch import Batch
from nainjaune_env.layout import Layout, Slot
from tests.agents.positions import small


def net(seed: int = 0, hidden: tuple[int, ...] = (16, 8)) -> PolicyValueNet:
    setup = small()
    return PolicyValueNet(setup.layout, len(setup.game.actions), hidden, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("hidden", [(), (5,), (16, 8, 4)])
def test_shapes(hidden: tuple[int, ...]) -> None:
    batch = Batch(small(), 7)
    logits, value = net(hidden=hidden).evaluate(batch.observation)
    assert (logits.shape, logits.dtype) == ((7, batch.num_actions), np.float32)
    assert (value.shape, value.dtype) == ((7,), np.float32)
    assert np.isfinite(logits).all()


def test_bytes_are_scaled_slot_by_slot() -> None:
    """A single layer of ones and zeros shows what goes in: (byte - zero) / scale."""
    layout = Layout((Slot("a", (2,), "", high=255, scale=4.0, zero=128), Slot("b", (1,), "", high=9, scale=0.5)))
    one = PolicyValueNet(layout, 3, [], torch.Generator().manual_seed(0))
    with torch.no_grad():
        one.policy.weight.copy_(torch.eye(3))
    logits, _ = one.evaluate(np.array([[128, 255, 7], [0, 130, 0]], np.uint8))
    assert logits.tolist() == [[0.0, 31.75, 14.0], [-32.0, 0.5, 0.0]]


def test_evaluate_is_forward_without_gradients() -> None:
    a = net()
    observation = Batch(small(), 4).observation
    logits, value, state = a(torch.from_numpy(observation))
    assert logits.requires_grad
    assert state is None
    assert np.array_equal(logits.detach().numpy(), a.evaluate(observation)[0])
    assert np.array_equal(value.detach().numpy(), a.evaluate(observation)[1])


def test_the_start_comes_from_the_generator_alone() -> None:
    torch.manual_seed(1)
    one = net(5)
    torch.manual_seed(2)
    two = net(5)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True))
    assert not torch.equal(one.policy.weight, net(6).policy.weight)


def test_it_starts_with_an_almost_uniform_policy_and_values_near_0() -> None:
    batch = Batch(small(), 64)
    logits, value = net(hidden=(64, 64)).evaluate(batch.observation)
    assert np.ptp(logits, axis=1).max() < 0.3
    assert np.abs(value).max() < 1.5


def test_the_layouts_numbers_are_no_weights() -> None:
    """They follow from the layout, whose fingerprint is in the checkpoint."""
    names = set(net().state_dict())
    assert "payoff_scale" in names
    assert not {"zero", "factor"} & names


def test_masked_log_softmax() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0, 1e4]])
    mask = torch.tensor([[True, False, True, False]])
    found = masked_log_softmax(logits, mask)
    assert found[0, 0].item() == pytest.approx(1.0 - np.log(np.exp(1.0) + np.exp(3.0)), abs=1e-6)
    assert found.exp()[0].tolist() == pytest.approx([0.119203, 0.0, 0.880797, 0.0], abs=1e-5)
    assert torch.isfinite(found * found.exp()).all()  # the entropy's sum
