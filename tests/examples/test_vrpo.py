"""The example of VRPO: advantages by their definition, what the critic learns, a policy without hidden cards, resumed runs."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from examples import vrpo
from examples.vrpo import METRICS, Config, Trainer, main
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.train import register
from nainjaune_agents.train.config import build, read_yaml
from nainjaune_agents.train.ppo import Minibatch, gae, lambda_errors
from nainjaune_agents.train.rollout import Rollout
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import ConfigError
from tests.support.source import ROOT
from tests.support.training import run_in, same

TINY = {"tables": 40, "arch": {"hidden": [16]}, "critic_hidden": [16], "eval_every": 0, "minibatch": 256, "iterations": 6}


def trainer_of(**other: Any) -> Trainer:
    config = build(Config, {**TINY, **other})
    return Trainer(config, config.setup())


# ---------------------------------------------------------------- targets


def slow_targets(sequence: Any, so_far: Any, q: Any, v: Any, final: Any, lam: float) -> list[float]:
    """G of each decision by its definition, from the last one of a seat to its first; ``q``: Q of the action taken."""
    out = [0.0] * len(sequence)
    for c in range(len(final)):
        steps = [t for t in range(len(sequence)) if sequence[t] == c]
        for at in reversed(range(len(steps))):
            t = steps[at]
            if at + 1 == len(steps):
                out[t] = float(final[c]) - float(so_far[t])
            else:
                later = steps[at + 1]
                reward = float(so_far[later]) - float(so_far[t])
                out[t] = reward + float(v[later]) + lam * (out[later] - float(q[later]))
    return out


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0])
def test_with_an_exact_q_later_draws_leave_no_variance(lam: float) -> None:
    """Three decisions of one seat with three actions each, a reward for every line of actions; all lines are played."""
    rng = np.random.default_rng(0)
    policies = [rng.dirichlet(np.ones(3), (3,) * depth) for depth in range(3)]  # (..., 3) after the actions before
    payoff = [np.zeros(())]  # so far, after the actions before; quarters, exact in float32
    for depth in range(3):
        payoff.append(payoff[-1][..., None] + rng.integers(-40, 41, (3,) * (depth + 1)) / 4)
    q: list[np.ndarray] = [np.empty(0)] * 3
    v: list[np.ndarray] = [*q, np.zeros((3, 3, 3))]
    for depth in (2, 1, 0):
        q[depth] = payoff[depth + 1] - payoff[depth][..., None] + v[depth + 1]
        v[depth] = (policies[depth] * q[depth]).sum(-1)
    sampled = []
    for line in product(range(3), repeat=3):
        before = [line[:depth] for depth in range(3)]
        so_far = np.array([payoff[d][before[d]] for d in range(3)], np.float32)
        taken = np.array([q[d][line[: d + 1]] for d in range(3)], np.float32)
        expected = np.array([v[d][before[d]] for d in range(3)], np.float32)
        columns = np.zeros(3, np.int64), so_far
        final = np.array([payoff[3][line]], np.float32)
        assert lambda_errors(*columns, taken, expected, final, lam) == pytest.approx(np.zeros(3), abs=1e-3)  # A = Q - V
        sampled.append(gae(*columns, expected, final, 1.0)[0] - (taken - expected)[0])
    assert np.std(sampled) > 1e-2  # the advantages of PPO vary with the draws after the first


SETUPS = [
    {"preset": "djeco", "players": 4, "sarsa_lambda": 0.5},
    {"preset": "classic", "players": 3, "objective": "own"},
    {"game": "batasaurus", "preset": None, "players": 3, "sarsa_lambda": 0.0},
    {"preset": "djeco", "players": 3, "opponents": {"self": 0.5, "lowest": 0.5}, "sarsa_lambda": 1.0},
]


@pytest.fixture(scope="module", params=SETUPS, ids=str)
def played(request: pytest.FixtureRequest) -> tuple[Trainer, Rollout]:
    trainer = trainer_of(**request.param, seed=7)
    assert trainer.critic is not None
    with torch.no_grad():
        trainer.net.policy.weight *= 100  # a policy that is not uniform
        trainer.critic.value.weight *= 30
        trainer.net.payoff_scale.fill_(3.0)
    return trainer, trainer.collect(0, np.random.default_rng(1))


def test_estimates_are_those_of_the_networks_that_played(played: tuple[Trainer, Rollout]) -> None:
    trainer, rollout = played
    assert trainer.critic is not None
    with torch.no_grad():
        q = 3.0 * trainer.critic(torch.from_numpy(rollout.omniscient)).double().numpy()
        logits = trainer.net(torch.from_numpy(rollout.observation))[0].double().numpy()
    assert q.shape == logits.shape == (len(rollout.action), len(trainer.setup.game.actions))
    expected, likelihood = [], []
    for t in range(len(rollout.action)):
        legal = legal_actions(int(rollout.legal[t]))
        weights = {a: np.exp(logits[t, a] - logits[t, legal].max()) for a in legal}
        expected.append(sum(weights[a] * q[t, a] for a in legal) / sum(weights.values()))
        likelihood.append(np.log(weights[rollout.action[t]] / sum(weights.values())))
    assert rollout.log_prob == pytest.approx(likelihood, abs=1e-3)
    taken = q[np.arange(len(q)), rollout.action]
    columns = rollout.trajectory_id, rollout.return_so_far, taken, expected, rollout.final
    targets = np.array(slow_targets(*columns, trainer.config.sarsa_lambda))
    advantage, target, predicted = trainer.estimates(rollout)
    assert predicted == pytest.approx(taken, abs=2e-3)
    assert target == pytest.approx(targets, abs=5e-3)
    assert advantage == pytest.approx(targets - expected, abs=5e-3)
    assert np.std(np.array(expected) - taken) > 0.1


# ---------------------------------------------------------------- who learns from what


def minibatch(trainer: Trainer, rollout: Rollout) -> Minibatch:
    advantage, target, _ = trainer.estimates(rollout)
    columns = (rollout.observation, rollout.omniscient, rollout.legal, rollout.action, rollout.log_prob, advantage, target / 3)
    return Minibatch(*map(torch.from_numpy, columns), torch.ones(len(advantage)), None)


def gradients(trainer: Trainer, batch: Minibatch) -> dict[str, torch.Tensor]:
    """Returns the gradient of each parameter, by its prefix and name."""
    for parameter in trainer.parameters:
        parameter.grad = None
    loss, _ = trainer.loss(batch, trainer.networks(batch.observation, batch.omniscient, None), 0.1)
    loss.backward()
    nets = {"model.": trainer.net, "critic.": trainer.critic}
    named = {prefix + name: p.grad for prefix, net in nets.items() if net for name, p in net.named_parameters()}
    return {name: torch.zeros(()) if grad is None else grad.clone() for name, grad in named.items()}


def test_the_critic_learns_the_values_of_the_actions_taken(played: tuple[Trainer, Rollout]) -> None:
    """Each output from the error of its own decisions, as the mean squared error has it, and the others not at all."""
    trainer, rollout = played
    assert trainer.critic is not None
    batch = minibatch(trainer, rollout)
    gradient = gradients(trainer, batch)["critic.value.bias"]
    with torch.no_grad():
        q = trainer.critic(batch.omniscient).gather(1, batch.action[:, None])[:, 0]
    slope = 2 * trainer.config.value_weight * (q - batch.target) / len(q)
    expected = torch.zeros_like(gradient).index_add_(0, batch.action, slope)
    assert torch.allclose(gradient, expected, atol=1e-5)
    never = sorted(set(range(len(gradient))) - set(batch.action.tolist()))
    assert not gradient[never].any()


def test_policy_and_critic_learn_apart(played: tuple[Trainer, Rollout]) -> None:
    """The policy's gradient is a function of the advantages alone, the critic's of its targets alone."""
    trainer, rollout = played
    batch = minibatch(trainer, rollout)
    first = gradients(trainer, batch)
    other_cards = gradients(trainer, batch._replace(omniscient=batch.omniscient.flip(0)))
    other_gains = gradients(trainer, batch._replace(advantage=batch.advantage.flip(0)))
    for name, gradient in first.items():
        policy = not name.startswith(("critic.", "model.value."))
        assert torch.equal(gradient, other_cards[name]) == (not name.startswith("critic.")), name
        assert torch.equal(gradient, other_gains[name]) != policy, name
        assert gradient.any(), name


def test_hidden_cards_never_reach_the_policy(played: tuple[Trainer, Rollout]) -> None:
    """What it takes is the seat's own observation, with which the critic's begins; another critic changes no action."""
    trainer, rollout = played
    size = trainer.setup.layout.size
    assert rollout.observation.shape[1] == size < rollout.omniscient.shape[1]
    assert np.array_equal(rollout.omniscient[:, :size], rollout.observation)
    assert trainer.critic is not None
    columns = ("observation", "action", "log_prob", "final")
    before = [getattr(rollout, name).copy() for name in columns]
    weight = trainer.critic.value.weight.detach().clone()
    with torch.no_grad():
        trainer.critic.value.weight *= -5
    again = trainer.collect(0, np.random.default_rng(1))
    with torch.no_grad():
        trainer.critic.value.weight.copy_(weight)
    trainer.policy.refresh()
    assert all(np.array_equal(getattr(again, name), column) for name, column in zip(columns, before, strict=True))


# ---------------------------------------------------------------- as a program


def test_wrong_keys_are_refused() -> None:
    build(Config, read_yaml(ROOT / "examples" / "vrpo.yaml"))
    for key, value in (("gae_lambda", 0.9), ("overlap", True), ("device", "cuda"), ("mixture", [{}]), ("sarsa_lambda", 1.5)):
        with pytest.raises(ConfigError, match=f"'{key}'"):
            build(Config, {key: value})
    with pytest.raises(ConfigError, match="'vrpo' trains no network with memory"):
        build(Config, {"arch": {"recurrent": 8}})


def test_a_resumed_run_is_the_same_run_and_an_agent(tmp_path: Path) -> None:
    config = build(Config, {**TINY, "preset": "djeco", "players": 3, "bf16": True, "iterations": 4})
    register("vrpo", vrpo)
    whole, parts = run_in(tmp_path / "whole", config), tmp_path / "parts"
    run_in(parts, config, stop_at=2)
    assert main(["--out", str(parts), "--resume"]) == 0
    assert same(load_checkpoint(parts), whole)
    with (parts / "metrics.csv").open(encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    assert {name for name in row if "/" in name} == {name for name in METRICS if not name.startswith("eval/")}
    load_agent(f"vrpo:{parts}", config.setup())
