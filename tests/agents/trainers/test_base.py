"""The base of trainers: its keys are checked, its checkpoints describe the network, and runs of older versions resume."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.arch import ARCHS
from nainjaune_agents.nets.checkpoint import FILE_NAME, load_checkpoint, save_checkpoint
from nainjaune_agents.nets.common_layout import common_layout
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.options import option
from nainjaune_agents.trainers import get_trainer
from nainjaune_agents.trainers.base import BaseConfig, BaseTrainer, anneal, explained_variance
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.run import CONFIG_NAME, Run
from nainjaune_env.core.errors import ConfigError, DivergenceError, NainJauneError
from tests.agents.trainers.test_ppo import same
from tests.support.training import run_in


@dataclass(frozen=True)
class Config(BaseConfig):
    algorithm: str = option("toy", "the trainer")
    preset: str | None = option("djeco", "the rule sheet")
    players: int | None = option(3, "seats")
    arch: dict[str, Any] = option({"name": "mlp", "hidden": [8]}, "the network", choice=ARCHS)
    iterations: int = option(4, "updates", low=1)


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
        ({"seed": -1}, "'seed' is at least 0"), ({"seed": 2**63}, "'seed' is at most"),
        ({"arch": {"hidden": [8, 0]}}, "'arch.hidden' is at least 1"),
        ({"threads": 0}, "'threads' is at least 1"), ({"threads": 99_999_999_999}, "'threads' is at most 1024"),
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


def test_a_checkpoint_says_what_the_network_is_for() -> None:
    trainer = Trainer(Config())
    trainer.iterate()
    checkpoint, setup = trainer.checkpoint(), trainer.setup
    assert (checkpoint.algorithm, checkpoint.arch, checkpoint.iteration) == (
        "toy",
        {"name": "mlp", "hidden": [8], "recurrent": 0},
        1,
    )
    assert (checkpoint.game, checkpoint.preset, checkpoint.players) == ("nain_jaune", "djeco", 3)
    assert checkpoint.rules == setup.rules.to_dict()
    assert checkpoint.config == dataclasses.asdict(Config())
    assert (checkpoint.layout, checkpoint.common) == (setup.layout.fingerprint, False)
    assert checkpoint.actions == len(setup.game.actions)
    trainer.layout, trainer.common = common_layout(setup.game), True
    everywhere = trainer.checkpoint()
    assert (everywhere.layout, everywhere.common) == (common_layout(setup.game).fingerprint, True)


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
        assert float(agent.net.policy.bias[0].detach()) == seen[-1]
    resumed = Moving(Config())
    resumed.average_weights("model.", 0.75)
    resumed.restore(checkpoint)
    for continued in (trainer, resumed):
        continued.iterate()
    assert same(trainer.checkpoint(), dataclasses.replace(resumed.checkpoint(), progress=trainer.checkpoint().progress))


@pytest.mark.parametrize("algorithm", ["ppo", "deep_monte_carlo"])
def test_a_run_with_averaged_weights_resumes_bit_for_bit(tmp_path: Path, algorithm: str) -> None:
    config = dataclasses.replace(tiny(algorithm), ema=0.9)  # type: ignore[call-arg]
    whole = run_in(tmp_path / "whole", config)
    run_in(tmp_path / "parts", config, stop_at=2)
    assert same(run_in(tmp_path / "parts", config, resume=True), whole)
    plain = run_in(tmp_path / "plain", tiny(algorithm))
    for name, tensor in whole.tensors.items():  # averaging does not change what is learned
        if name.startswith("learner."):
            assert torch.equal(tensor, plain.tensors[name.replace("learner.", "model.")])
    assert not torch.equal(whole.tensors["model.policy.weight"], whole.tensors["learner.policy.weight"])
    again = run_in(tmp_path / "init", dataclasses.replace(tiny("ppo"), init=str(tmp_path / "whole"), ema=0.5), stop_at=0)  # type: ignore[call-arg]
    for prefix in ("model.", "learner."):
        assert torch.equal(again.tensors[prefix + "policy.weight"], whole.tensors["model.policy.weight"])


def test_schedules_and_the_warm_up() -> None:
    trainer = Trainer(Config(optimizer={"learning_rate": 1.0, "last_learning_rate": 0.0, "warmup": 2}, schedule="cosine"))
    rates = []
    for _ in range(5):
        rates.append(trainer.learning_rate)
        trainer.iterate()
    share = [(1 + math.cos(math.pi * k / 4)) / 2 for k in range(5)]
    assert rates == pytest.approx([share[0] / 3, share[1] * 2 / 3, share[2], share[3], 0.0], abs=1e-12)
    assert Trainer(Config(optimizer={"learning_rate": 1.0})).learning_rate == 1.0
    assert anneal(4, 2, 0.25) == 3.5
    with pytest.raises(ConfigError, match=r"Unknown schedule 'cosinus'\. Did you mean 'cosine'\? Valid: linear, cosine"):
        build(Config, {"schedule": "cosinus"})


def test_explained_variance() -> None:
    target = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    assert explained_variance(target, target) == 1
    assert explained_variance(target, np.full(4, 7, np.float32)) == 0
    assert explained_variance(target, 2 * target) == 0
    assert explained_variance(target, -target) == -3


# ---------------------------------------------------------------- runs of older versions

TINY: dict[str, dict[str, Any]] = {
    "ppo": {"tables": 16, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "iterations": 4},
    "deep_monte_carlo": {"tables": 16, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "iterations": 4},
    "maskable_ppo": {
        "tables": 16, "steps": 16, "arch": {"hidden": [8]}, "eval_every": 0, "minibatch": 64, "epochs": 1, "iterations": 3,
        "snapshots": 1,
    },
    "expert": {
        "rule": "lowest", "shards": 2, "shard": 20, "rounds": 8, "deals": 2, "arch": {"hidden": [8]}, "epochs": 1,
        "generations": 3,
        "eval_deals": 0, "rollouts": "rule", "prior": 0.0,
    },
}  # fmt: skip
NEWER = {"expert": ("checkpoint_minutes", "eval_every")}
"""Keys that the first version did not have; their defaults are what it did."""


def tiny(algorithm: str) -> BaseConfig:
    config: BaseConfig = build(get_trainer(algorithm).Config, {"preset": "djeco", "players": 3, **TINY[algorithm]})
    return config


def as_first_version(algorithm: str, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration as the first version kept it: without the newer keys, and in another order."""
    return {key: config[key] for key in reversed(config) if key not in NEWER.get(algorithm, ())}


@pytest.mark.parametrize("algorithm", sorted(TINY))
def test_a_run_of_an_older_version_resumes_bit_for_bit(tmp_path: Path, algorithm: str) -> None:
    config = tiny(algorithm)
    whole = run_in(tmp_path / "whole", config)
    stopped = run_in(tmp_path / "old", config, stop_at=40 if algorithm == "expert" else 1)
    assert stopped.iteration == 1
    stopped.config = as_first_version(algorithm, stopped.config)
    Run(tmp_path / "old").save(stopped)
    kept = tmp_path / "old" / CONFIG_NAME
    old = as_first_version(algorithm, yaml.safe_load(kept.read_text(encoding="utf-8")))
    kept.write_text(yaml.safe_dump(old, sort_keys=False), encoding="utf-8")
    assert same(run_in(tmp_path / "old", config, resume=True), whole)


def test_a_newer_key_that_is_not_at_its_default_is_another_run(tmp_path: Path) -> None:
    config = get_trainer("expert").Config(eval_every=2)
    Run(tmp_path).create(config, resume=False)
    old = as_first_version("expert", dataclasses.asdict(config))
    (tmp_path / CONFIG_NAME).write_text(yaml.safe_dump(old), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"this differs \(eval_every: None then, 2 now\)"):
        Run(tmp_path).create(config, resume=True)


@pytest.mark.parametrize("algorithm", sorted(TINY))
def test_training_that_diverges_says_so_and_leaves_a_sound_checkpoint(
    tmp_path: Path, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"preset": "djeco", "players": 3, "checkpoint_minutes": 0.0, **TINY[algorithm]}
    config = build(get_trainer(algorithm).Config, values)
    config.optimizer.update(learning_rate=1e30, last_learning_rate=1e30)  # beyond their bounds, under which few runs diverge
    monkeypatch.setattr("nainjaune_agents.options.check_options", lambda *_: None)
    with pytest.raises(
        DivergenceError, match=r"^Training diverged in iteration \d: .* NaN or infinite\. The last checkpoint is kept"
    ):
        run_in(tmp_path, config)
    assert all(bool(tensor.isfinite().all()) for tensor in load_checkpoint(tmp_path).tensors.values())
