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
from nainjaune_agents.trainers.ppo import Minibatch, Trainer, ppo_loss
from nainjaune_agents.trainers.ppo_compiled import LOSS_SOURCE, compiled_loss, compiled_twin, source_digest
from tests.agents.trainers.test_ppo import tiny

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


def result(loss_function: Any, outputs: Tensor, *rest: Any) -> Result:
    *columns, weights = rest
    outputs = outputs.detach().clone().requires_grad_()
    none = torch.zeros(len(outputs), 0, dtype=torch.uint8)
    loss, stats = loss_function(outputs[:, :-1], outputs[:, -1], Minibatch(none, none, *columns, None), *weights)
    assert not any(stat.requires_grad for stat in stats.values())
    (2 * loss).backward()
    assert outputs.grad is not None
    return outputs.grad / 2, {"loss": float(loss.detach()), **{name: float(stat) for name, stat in stats.items()}}


def by_torch(*given_rows: Any) -> Result:
    return result(ppo_loss, *given_rows)


def compiled(*given_rows: Any) -> Result:
    return result(compiled_loss, *given_rows)


def test_a_changed_loss_takes_the_place_of_the_twin_at_once() -> None:
    """Its source is compared, so that the twin is used for the loss that it was derived from only."""
    assert source_digest(ppo_loss) == LOSS_SOURCE, (
        f"ppo_loss has changed: change the twin too, then LOSS_SOURCE to {source_digest(ppo_loss)}"
    )

    def ppo_loss_times_two(*given: Any) -> Any:
        loss, stats = ppo_loss(*given)
        return 2 * loss, stats

    class Changed(Trainer):
        loss_function = staticmethod(ppo_loss_times_two)

    assert compiled_twin(ppo_loss) is compiled_loss
    assert compiled_twin(ppo_loss_times_two) is compiled_twin(eval("lambda *given: None")) is None
    config = tiny(max_grad_norm=1e9, epochs=1, minibatch=10**6)
    metrics = [trainer(config, config.setup()).iterate() for trainer in (Trainer, Changed)]
    assert metrics[1]["update/grad_norm"] == pytest.approx(2 * metrics[0]["update/grad_norm"], rel=1e-3)


@some
@given(
    st.integers(0, 2**32),
    st.integers(1, 40),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([0.0, 0.2]),
)
def test_it_is_what_torch_makes_of_the_formula(seed: int, rows: int, actions: int, far: float, clip: float) -> None:
    weights, given_rows = (clip, 0.7, 0.3), batch(seed, rows, actions, far)
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
    advantage, weights = torch.tensor([1.0, -1.0]), (0.2, 0.5, 0.0)
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
    advantage, weights = torch.tensor([3.0, 1.0]), (0.2, 0.5, 0.1)
    gradient, stats = compiled(outputs, legal, action, nothing, advantage, nothing, nothing + 1, weights)
    assert torch.isfinite(gradient).all()
    assert list(stats.values()) == pytest.approx([0] * 6, abs=1e-6)


def test_what_an_advantage_is_worth_is_how_far_it_is_from_those_beside_it() -> None:
    outputs, legal, action, old, advantage, *rest = batch(3, 50, 9, 0.2)
    weights = (0.2, 0.5, 0.1)
    one = compiled(outputs, legal, action, old, advantage, *rest, weights)
    other = compiled(outputs, legal, action, old, 7 * advantage + 100, *rest, weights)
    assert torch.allclose(one[0], other[0], rtol=1e-3, atol=1e-6)
    assert one[1] == pytest.approx(other[1], rel=1e-3, abs=1e-5)
