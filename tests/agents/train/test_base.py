"""The base of trainers: its keys are checked, and its checkpoints describe the network."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import torch

from nainjaune_agents.base.settings import PositiveInt
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.arch import Network
from nainjaune_agents.players.networks.checkpoint import FILE_NAME, save_checkpoint
from nainjaune_agents.players.networks.inference.mlp import MLPInference
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.networks.torch_nets import as_torch
from nainjaune_agents.train.base import BaseConfig, BaseTrainer, anneal, explained_variance
from nainjaune_agents.train.config import build
from nainjaune_agents.train.optimizers import Adam
from nainjaune_env.core.errors import ConfigError, NainJauneError
from tests.agents.train.test_contract import tiny
from tests.support.training import run_in, same


class Config(BaseConfig, frozen=True):
    algorithm: Annotated[str, "the trainer"] = "toy"
    preset: Annotated[str | None, "the rule sheet"] = "djeco"
    players: Annotated[int | None, "seats"] = 3
    arch: Annotated[Network, "the network"] = MLPInference.Arguments(hidden=[8])
    iterations: Annotated[PositiveInt, "updates"] = 4


class Trainer(BaseTrainer[Config]):
    """Plays nothing."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, config.setup())
        self.net = self.new_net(torch.Generator().manual_seed(config.seed))
        self.modules = {"model.": self.net}

    def iterate(self) -> dict[str, float]:
        return self.finish_iteration({"a": 1.0}, decisions=30, wall=2.0)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"seed": -1}, "'seed' to be a whole number from 0 to 9223372036854775807, not -1"), ({"seed": 2**63}, "'seed' to be"),
        ({"threads": 0}, "'threads' to be a whole number from 1 to 1024, not 0"),
        ({"eval_deals": 1}, "takes at least 2 deals, and 'eval_deals' is 1"),
        ({"eval_against": "lowset"}, "Did you mean 'lowest'"), ({"players": 9}, "players"), ({"rules": {"stak": 2}}, "stake"),
    ],
)  # fmt: skip
def test_mistakes_are_errors_before_anything_runs(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(NainJauneError, match=why):
        build(Config, wrong)


def test_without_evaluations_there_is_nobody_to_evaluate_against() -> None:
    for none in ({"eval_every": 0}, {"eval_deals": 0}):
        assert not build(Config, {"eval_against": "lowset", **none}).evaluates
    assert Config().evaluates


def test_iterations_decisions_and_seconds_are_counted_over_a_resumption() -> None:
    first = Trainer(Config())
    assert first.iterate() == {"a": 1.0, "run/seconds": 2.0, "rollout/decisions": 30.0, "speed/decisions_per_second": 15.0}
    second = Trainer(Config(seed=0))
    second.restore(first.checkpoint())
    metrics = second.iterate()
    assert (second.iteration, second.completed, second.annealed(8.0, 4.0)) == (2, 2, 6.0)
    assert (metrics["rollout/decisions"], metrics["run/seconds"]) == (60.0, 4.0)


def test_the_average_of_the_weights_plays_and_is_the_agent(tmp_path: Path) -> None:
    class Moving(Trainer):
        def iterate(self) -> dict[str, float]:
            with torch.no_grad():
                self.net.policy.bias.fill_(float(2**self.iteration))
            return super().iterate()

    trainer, seen = Moving(Config()), []
    trainer.average_weights("model.", 0.75)
    for _ in range(3):
        trainer.iterate()
        seen.append(float(trainer.player_net.policy.bias[0].detach()))
    assert seen == [1.0, 0.75 * 1 + 0.25 * 2, 0.75 * 1.25 + 0.25 * 4]
    checkpoint = trainer.checkpoint()
    assert float(checkpoint.tensors["model.policy.bias"][0]) == seen[-1]
    assert float(checkpoint.tensors["learner.policy.bias"][0]) == 4.0
    save_checkpoint(tmp_path / FILE_NAME, checkpoint)
    for agent in (trainer.agent(), load_agent(str(tmp_path), trainer.setup)):
        assert isinstance(agent, NetAgent)
        assert float(as_torch(agent.net).policy.bias[0].detach()) == seen[-1]
    resumed = Moving(Config())
    resumed.average_weights("model.", 0.75)
    resumed.restore(checkpoint)
    for continued in (trainer, resumed):
        continued.iterate()
    assert same(trainer.checkpoint(), dataclasses.replace(resumed.checkpoint(), progress=trainer.checkpoint().progress))


def test_each_training_seed_is_evaluated_on_deals_of_its_own() -> None:
    """Or an interval over training seeds would leave out the luck of the deals, which they would share."""
    trainers = [Trainer(build(Config, {"seed": seed, "eval_deals": 40, "eval_against": "lowest"})) for seed in (0, 1)]
    trainers[1].net.load_state_dict(trainers[0].net.state_dict())
    edges = [trainer.evaluate()["eval/edge"] for trainer in trainers]
    assert edges[0] != edges[1]
    assert trainers[0].evaluate()["eval/edge"] == edges[0]


@pytest.mark.parametrize("algorithm", ["ppo", "deep_monte_carlo"])
def test_averaging_does_not_change_what_is_learned(tmp_path: Path, algorithm: str) -> None:
    whole = run_in(tmp_path / "whole", tiny(algorithm, ema=0.9))
    plain = run_in(tmp_path / "plain", tiny(algorithm))
    for name, tensor in whole.tensors.items():
        if name.startswith("learner."):
            assert np.array_equal(tensor, plain.tensors[name.replace("learner.", "model.")])
    assert not np.array_equal(whole.tensors["model.policy.weight"], whole.tensors["learner.policy.weight"])
    again = run_in(tmp_path / "init", tiny("ppo", init=str(tmp_path / "whole"), ema=0.5), stop_at=0)
    for prefix in ("model.", "learner."):
        assert np.array_equal(again.tensors[prefix + "policy.weight"], whole.tensors["model.policy.weight"])


def test_schedules_and_the_warm_up() -> None:
    trainer = Trainer(Config(optimizer=Adam(learning_rate=1.0, last_learning_rate=0.0, warmup=2), schedule="cosine"))
    rates = []
    for _ in range(5):
        rates.append(trainer.learning_rate)
        trainer.iterate()
    share = [(1 + math.cos(math.pi * k / 4)) / 2 for k in range(5)]
    assert rates == pytest.approx([share[0] / 3, share[1] * 2 / 3, share[2], share[3], 0.0], abs=1e-12)
    assert [Trainer(Config(optimizer=Adam(learning_rate=1.0, last_learning_rate=0.0))).learning_rate, anneal(4, 2, 0.25)] == [
        1.0,
        3.5,
    ]
    with pytest.raises(ConfigError, match=r"Unknown schedule 'cosinus'\. Did you mean 'cosine'\? Valid: linear, cosine"):
        build(Config, {"schedule": "cosinus"})


def test_explained_variance() -> None:
    target = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    assert explained_variance(target, target) == 1
    assert explained_variance(target, np.full(4, 7, np.float32)) == 0
    assert explained_variance(target, 2 * target) == 0
    assert explained_variance(target, -target) == -3
