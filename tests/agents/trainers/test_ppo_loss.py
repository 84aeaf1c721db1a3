"""The compiled loss of PPO against torch's own operations and their gradient, and against numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nainjaune_agents.trainers.ppo_loss import SUMS, Decisions, Weights, surrogate, surrogate_by_torch, unpacked

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def batch(seed: int, rows: int, actions: int, far: float) -> tuple[Tensor, ...]:
    """Decisions as an update meets them, at a policy that has moved by about ``far`` since they were made."""
    chance = torch.Generator().manual_seed(seed)
    told = 3 * torch.randn(rows, actions + 1, generator=chance)
    legal = torch.randint(1, 2**actions, (rows,), generator=chance) & torch.randint(1, 2**actions, (rows,), generator=chance)
    legal[legal == 0] = 1
    mask = unpacked(legal, actions)
    action = torch.multinomial(mask.float(), 1, generator=chance).squeeze(1)
    log_prob = torch.log_softmax(told[:, :-1].masked_fill(~mask, -torch.inf), 1).gather(1, action[:, None]).squeeze(1)
    old = log_prob + far * torch.randn(rows, generator=chance)
    advantage, goal = torch.randn(2, rows, generator=chance)
    return told, legal, action, old, advantage, goal


def by_torch(told: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """The gradient by ``told`` as torch takes it, and the sums."""
    told = told.clone().requires_grad_()
    *columns, weights = rest
    loss, sums = surrogate_by_torch(told, Decisions(*columns), weights)
    return torch.autograd.grad(loss, told)[0], sums


def compiled(told: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """The same compiled, of rows that were among others and in another order."""
    *columns, weights = rest
    rows = torch.randperm(3 * len(told), generator=torch.Generator().manual_seed(1))[: len(told)]
    scattered = [torch.full((3 * len(told),), 1 << 20, dtype=column.dtype) for column in columns]
    for whole, column in zip(scattered, columns, strict=True):
        whole[rows] = column
    return surrogate(told, Decisions(*scattered).at(rows), weights)


@some
@given(
    st.integers(0, 2**32),
    st.integers(1, 40),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0.0, 0.2]),
)
def test_it_is_what_torch_makes_of_the_formula(seed: int, rows: int, actions: int, far: float, clip: float) -> None:
    weights, given_rows = Weights(clip, value=0.7, entropy=0.3), batch(seed, rows, actions, far)
    gradient, sums = compiled(*given_rows, weights)
    expected = by_torch(*given_rows, weights)
    if far or clip:  # with neither every ratio is on its bound, or next to it as rounding goes
        assert torch.allclose(gradient, expected[0], rtol=1e-3, atol=1e-5)
        assert sums.tolist() == pytest.approx(expected[1].tolist(), rel=1e-3, abs=1e-5)


def test_by_hand() -> None:
    """What was done is twice as likely now, where two of three actions are legal: that is cut off where it paid, else not."""
    told = torch.tensor([[0.0, 9.0, math.log(3), 2.0], [0.0, 9.0, math.log(3), 2.0]])
    legal, action = torch.tensor([0b101, 0b101]), torch.tensor([2, 2])
    old, goal = torch.full((2,), math.log(0.375)), torch.tensor([1.0, 2.0])
    advantage, weights = torch.tensor([1.0, -1.0]), Weights(0.2, 0.5, 0.0)
    gradient, sums = compiled(told, legal, action, old, advantage, goal, weights)
    named = dict(zip(SUMS, sums.tolist(), strict=True))
    assert named["policy_loss"] == pytest.approx(-(1.2 - 2) / 2)
    assert named["value_loss"] == pytest.approx(0.5)
    assert named["kl"] == pytest.approx(1 - math.log(2))
    assert named["clip_fraction"] == 1
    assert named["entropy"] == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert gradient[0].tolist() == pytest.approx([0, 0, 0, 0.5])
    assert gradient[1].tolist() == pytest.approx([-0.25, 0, 0.25, 0])


def test_logits_far_apart_are_no_trouble() -> None:
    told = torch.tensor([[-1e4, 1e4, 0.0], [1e38, -1e38, 0.0]])
    legal, action, nothing = torch.tensor([0b11, 0b11]), torch.tensor([1, 0]), torch.zeros(2)
    advantage, weights = torch.tensor([3.0, 1.0]), Weights(0.2, 0.5, 0.1)
    gradient, sums = compiled(told, legal, action, nothing, advantage, nothing, weights)
    assert torch.isfinite(gradient).all()
    assert sums.tolist() == pytest.approx([0, 0, 0, 0, 0], abs=1e-6)


def test_what_an_advantage_is_worth_is_how_far_it_is_from_those_beside_it() -> None:
    told, legal, action, old, advantage, goal = batch(3, 50, 9, 0.2)
    weights = Weights(0.2, 0.5, 0.1)
    one = compiled(told, legal, action, old, advantage, goal, weights)
    other = compiled(told, legal, action, old, 7 * advantage + 100, goal, weights)
    assert torch.allclose(one[0], other[0], rtol=1e-3, atol=1e-6)
    assert torch.allclose(one[1], other[1], rtol=1e-3, atol=1e-5)


@pytest.mark.gpu
def test_on_a_gpu_it_is_the_same() -> None:
    if not torch.cuda.is_available():
        pytest.skip("torch finds no NVIDIA GPU")
    rows, weights = batch(1, 500, 24, 0.3), Weights(0.2, 0.5, 0.1)
    here, there = (by_torch(*(t.to(device) for t in rows), weights) for device in ("cpu", "cuda"))
    also = surrogate(rows[0].cuda(), Decisions(*(t.cuda() for t in rows[1:])), weights)
    for gradient, sums in (there, also):
        assert torch.allclose(here[0], gradient.cpu(), rtol=1e-3, atol=1e-6)
        assert here[1].tolist() == pytest.approx(sums.tolist(), rel=1e-4, abs=1e-6)
