"""The compiled loss of PPO against torch's operations and their gradient, and against numbers worked out by hand."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.train import ppo
from nainjaune_agents.train.gpu_rollout import unpacked
from nainjaune_agents.train.ppo import Minibatch, Trainer, ppo_loss
from nainjaune_agents.train.ppo_compiled import compiled_loss, compiled_twin
from tests.agents.train.test_ppo import tiny

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


EDITS = {
    "no clipping": ("ratio.clamp(1 - clip, 1 + clip)", "ratio"),
    "clipped above alone": ("ratio.clamp(1 - clip, 1 + clip)", "ratio.clamp(max=1 + clip)"),
    "the larger of both": ("torch.min(ratio", "torch.max(ratio"),
    "losses clipped at large ratios": (
        "-torch.min(ratio * advantage, clipped * advantage)",
        "-torch.max(torch.min(ratio * advantage, clipped * advantage), 50 * advantage.clamp(max=0))",
    ),
    "ratios bounded far away": ("log_ratio.exp()", "log_ratio.clamp(-8, 8).exp()"),
    "advantages as they are": ("advantage / (batch.advantage.std(correction=0) + 1e-8)", "advantage"),
    "another deviation": ("std(correction=0)", "std()"),
    "advantages bounded": ("+ 1e-8)", "+ 1e-8).clamp(-4, 4)"),
    "the absolute error": ("- batch.target).square()", "- batch.target).abs()"),
    "errors bounded": ("(value - batch.target)", "(value - batch.target).clamp(-20, 20)"),
    "errors of equal weight": ("batch.value_weight * ", ""),
    "half the error": ("value_weight * value_loss", "0.5 * value_weight * value_loss"),
    "entropy paid for": ("- entropy_weight", "+ entropy_weight"),
    "a penalty": ("- entropy_weight * entropy", "- entropy_weight * entropy + 0.01 * (ratio - 1 - log_ratio).mean()"),
    "another statistic": ('"kl": (ratio', '"kl": 2 * (ratio'),
    "one more statistic": ('"entropy": entropy}', '"entropy": entropy, "ratio": ratio.mean()}'),
    "what is observed": ("(value - batch.target)", "(value - batch.target - batch.observation[:, 5] / 1e3)"),
    "more of an observation than there is": ("(value - batch.target)", "(value - batch.target - batch.observation[:, 90])"),
    "for networks with memory": (
        "value_weight * value_loss",
        "value_weight * value_loss * (1 if batch.batch_sizes is None else 2)",
    ),
    "without a critic": ("value_weight * value_loss", "value_weight * value_loss * (1 if batch.omniscient.shape[1] else 2)"),
    "a thousandth": ("- entropy_weight", "- 1.001 * entropy_weight"),
    "a new column": ("batch.value_weight *", "batch.age *"),
    "a global that may change": ("value_weight * value_loss", "value_weight * value_loss + PENALTY * value.mean()"),
    "a global in a function within": (
        "value_weight * value_loss",
        "value_weight * value_loss + (lambda: PENALTY * value.mean())()",
    ),
}
"""Changes of the source of ``ppo_loss``, by what they are: before and after."""


def edited(before: str, after: str) -> Any:
    """Returns ``ppo_loss`` as it is once its source has been edited in place."""
    source = inspect.getsource(ppo_loss)
    assert source.count(before) == 1
    namespace = {**vars(ppo), "PENALTY": 0.0}
    exec("from __future__ import annotations\n" + source.replace(before, after), namespace)
    return namespace["ppo_loss"]


@pytest.fixture(scope="module")
def config() -> ppo.Config:
    return tiny(max_grad_norm=1e9, epochs=1, minibatch=10**6)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_in_place_is_not_trained_by_the_twin(
    edit: tuple[str, str], config: ppo.Config, caplog: pytest.LogCaptureFixture
) -> None:
    assert compiled_twin(edited(*edit), Minibatch, config) is None
    assert [record.getMessage() for record in caplog.records] == [
        "PPO's loss is not the one that its compiled twin computes: it is trained by autograd, which takes longer."
    ]


@pytest.mark.parametrize("weights", [{}, {"clip": 0.0}, {"entropy": 0.0, "last_entropy": 1e-6}, {"value_weight": 0.0}], ids=str)
def test_the_twin_is_used_where_it_computes_the_loss(weights: dict[str, float], caplog: pytest.LogCaptureFixture) -> None:
    config = tiny(**weights)
    assert compiled_twin(ppo_loss, Minibatch, config) is compiled_loss
    same = (
        "advantage = batch.advantage - batch.advantage.mean()",
        "advantage = -(batch.advantage.mean() - batch.advantage)  # edited",
    )
    assert compiled_twin(edited(*same), Minibatch, config) is compiled_loss
    assert Trainer(config, config.setup()).twin is compiled_loss
    assert not caplog.records


def test_what_the_loss_calls_counts_too(config: ppo.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ppo, "masked_log_softmax", lambda logits, mask: masked_log_softmax(logits / 2, mask))
    assert compiled_twin(ppo_loss, Minibatch, config) is None


def test_comparing_draws_from_no_other_generator(config: ppo.Config) -> None:
    before = torch.get_rng_state()
    compiled_twin(ppo_loss, Minibatch, config)
    assert torch.equal(before, torch.get_rng_state())


def test_a_loss_edited_in_place_is_trained_at_once(config: ppo.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Trainer(config, config.setup()).iterate()
    twice = edited("return loss,", "return 2 * loss,")
    monkeypatch.setattr(ppo, "ppo_loss", twice)
    monkeypatch.setattr(Trainer, "loss_function", staticmethod(twice))
    trained = Trainer(config, config.setup()).iterate()
    assert trained["update/grad_norm"] == pytest.approx(2 * expected["update/grad_norm"], rel=1e-3)


def test_another_loss_takes_the_place_of_the_twin(config: ppo.Config) -> None:
    """It is not compared: what it computes may change during the run."""

    class Changed(Trainer):
        weight = 1.0

        def loss_function(self, *given: Any) -> Any:  # type: ignore[override]
            loss, stats = ppo_loss(*given)
            return self.weight * loss, stats

    trainers = Trainer(config, config.setup()), Changed(config, config.setup())
    Changed.weight = 2.0
    first, second = (trainer.iterate() for trainer in trainers)
    assert second["update/grad_norm"] == pytest.approx(2 * first["update/grad_norm"], rel=1e-3)


@some
@given(
    st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 30), st.sampled_from([0.0, 0.1, 1.0]), st.sampled_from([0.0, 0.2])
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
