"""The compiled loss of PPO against torch's operations and their gradient, and against numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nainjaune_agents.trainers.gpu_rollout import unpacked
from nainjaune_agents.trainers.ppo import ppo_loss
from nainjaune_agents.trainers.ppo_loss import Decisions, LossWeights, StepMoments

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def batch(seed: int, rows: int, actions: int, far: float) -> tuple[Tensor, ...]:
    """Decisions as an update meets them, at a policy that has moved by about ``far`` since they were made."""
    chance = torch.Generator().manual_seed(seed)
    outputs = 3 * torch.randn(rows, actions + 1, generator=chance)
    legal = torch.randint(1, 2**actions, (rows,), generator=chance) & torch.randint(1, 2**actions, (rows,), generator=chance)
    legal[legal == 0] = 1
    mask = unpacked(legal, actions)
    action = torch.multinomial(mask.float(), 1, generator=chance).squeeze(1)
    log_prob = torch.log_softmax(outputs[:, :-1].masked_fill(~mask, -torch.inf), 1).gather(1, action[:, None]).squeeze(1)
    old = log_prob + far * torch.randn(rows, generator=chance)
    advantage, target = torch.randn(2, rows, generator=chance)
    return outputs, legal, action, old, advantage, target, 2 * torch.rand(rows, generator=chance)


Result = tuple[Tensor, dict[str, float]]
"""The gradient by logits and value side by side, ``(K, A + 1)``, and the loss and its statistics."""


def result(outputs: Tensor, decisions: Decisions, weights: LossWeights, *, compiled: bool) -> Result:
    outputs = outputs.detach().clone().requires_grad_()
    loss, stats = ppo_loss(outputs[:, :-1], outputs[:, -1], decisions, weights, compiled=compiled)
    assert not any(stat.requires_grad for stat in stats.values())
    (2 * loss).backward()  # type: ignore[no-untyped-call]
    assert outputs.grad is not None
    return outputs.grad / 2, {"loss": float(loss.detach()), **{name: float(stat) for name, stat in stats.items()}}


def by_torch(outputs: Tensor, *rest: Any) -> Result:
    *columns, weights = rest
    return result(outputs, Decisions(*columns), weights, compiled=False)


def compiled(outputs: Tensor, *rest: Any) -> Result:
    """Compiled, of rows that were among others and in another order."""
    *columns, weights = rest
    rows = torch.randperm(3 * len(outputs), generator=torch.Generator().manual_seed(1))[: len(outputs)]
    scattered = [torch.full((3 * len(outputs),), 1 << 20, dtype=column.dtype) for column in columns]
    for whole, column in zip(scattered, columns, strict=True):
        whole[rows] = column
    return result(outputs, Decisions(*scattered).at(rows), weights, compiled=True)


@some
@given(
    st.integers(0, 2**32),
    st.integers(1, 40),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0.0, 0.2]),
)
def test_it_is_what_torch_makes_of_the_formula(seed: int, rows: int, actions: int, far: float, clip: float) -> None:
    weights, given_rows = LossWeights(clip, value=0.7, entropy=0.3), batch(seed, rows, actions, far)
    gradient, stats = compiled(*given_rows, weights)
    expected = by_torch(*given_rows, weights)
    if far or clip:  # with neither every ratio is on its bound, or next to it as rounding goes
        assert torch.allclose(gradient, expected[0], rtol=1e-3, atol=1e-5)
        assert stats == pytest.approx(expected[1], rel=1e-3, abs=1e-5)


def test_by_hand() -> None:
    """What was done is twice as likely now, where two of three actions are legal: that is cut off where it paid, else not."""
    outputs = torch.tensor([[0.0, 9.0, math.log(3), 2.0], [0.0, 9.0, math.log(3), 2.0]])
    legal, action = torch.tensor([0b101, 0b101]), torch.tensor([2, 2])
    old, target = torch.full((2,), math.log(0.375)), torch.tensor([1.0, 2.5])
    advantage, weights = torch.tensor([1.0, -1.0]), LossWeights(0.2, 0.5, 0.0)
    error_weight = torch.tensor([1.0, 4.0])
    gradient, stats = compiled(outputs, legal, action, old, advantage, target, error_weight, weights)
    assert stats["policy_loss"] == pytest.approx(-(1.2 - 2) / 2)
    assert stats["value_loss"] == pytest.approx((1 * 1 + 4 * 0.25) / 2)
    assert stats["kl"] == pytest.approx(1 - math.log(2))
    assert stats["clip_fraction"] == 1
    assert stats["loss"] == pytest.approx(0.4 + 0.5 * 1)
    assert stats["entropy"] == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert gradient[0].tolist() == pytest.approx([0, 0, 0, 0.5])
    assert gradient[1].tolist() == pytest.approx([-0.25, 0, 0.25, 0.5 * 0.5 * 2 * 4 * -0.5])


def test_logits_far_apart_are_no_trouble() -> None:
    outputs = torch.tensor([[-1e4, 1e4, 0.0], [1e38, -1e38, 0.0]])
    legal, action, nothing = torch.tensor([0b11, 0b11]), torch.tensor([1, 0]), torch.zeros(2)
    advantage, weights = torch.tensor([3.0, 1.0]), LossWeights(0.2, 0.5, 0.1)
    gradient, stats = compiled(outputs, legal, action, nothing, advantage, nothing, nothing + 1, weights)
    assert torch.isfinite(gradient).all()
    assert list(stats.values()) == pytest.approx([0] * 6, abs=1e-6)


def test_what_an_advantage_is_worth_is_how_far_it_is_from_those_beside_it() -> None:
    outputs, legal, action, old, advantage, *rest = batch(3, 50, 9, 0.2)
    weights = LossWeights(0.2, 0.5, 0.1)
    one = compiled(outputs, legal, action, old, advantage, *rest, weights)
    other = compiled(outputs, legal, action, old, 7 * advantage + 100, *rest, weights)
    assert torch.allclose(one[0], other[0], rtol=1e-3, atol=1e-6)
    assert one[1] == pytest.approx(other[1], rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("compiled", [True, False])
def test_parts_of_a_step_add_up_to_it(compiled: bool) -> None:
    outputs, *columns = batch(5, 60, 9, 0.3)
    weights, decisions = LossWeights(0.2, 0.5, 0.1), Decisions(*columns)
    gradient, stats = result(outputs, decisions, weights, compiled=compiled)
    advantage = decisions.advantage.double()
    step = StepMoments(60, float(advantage.mean()), float(advantage.std(correction=0)) + 1e-8)
    sums: dict[str, float] = dict.fromkeys(stats, 0.0)
    for rows in torch.arange(60).split([13, 27, 20]):
        own = outputs[rows].clone().requires_grad_()
        part = decisions.at(rows)
        loss, found = ppo_loss(own[:, :-1], own[:, -1], part, weights, step, compiled=compiled)
        loss.backward()  # type: ignore[no-untyped-call]
        assert own.grad is not None
        assert torch.allclose(own.grad, gradient[rows], rtol=1e-4, atol=1e-7)
        for name, value in {"loss": loss.detach(), **found}.items():
            sums[name] += float(value)
    assert sums == pytest.approx(stats, rel=1e-4, abs=1e-7)


@pytest.mark.gpu
def test_on_a_gpu_it_is_the_same() -> None:
    if not torch.cuda.is_available():
        pytest.skip("torch finds no NVIDIA GPU")
    rows, weights = batch(1, 500, 24, 0.3), LossWeights(0.2, 0.5, 0.1)
    here = by_torch(*rows, weights)
    gradient, stats = result(rows[0].cuda(), Decisions(*(t.cuda() for t in rows[1:])), weights, compiled=True)
    assert torch.allclose(here[0], gradient.cpu(), rtol=1e-3, atol=1e-6)
    assert here[1] == pytest.approx(stats, rel=1e-4, abs=1e-6)
