"""The example of PPO with teachers: where they teach, what they pull towards, and that a resumed run is the same run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from examples import ppo_teachers as example
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.players.networks.common_layout import CommonView
from nainjaune_agents.train.config import build
from nainjaune_agents.train.ppo import Config, Trainer
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.training import same

TINY = {
    "mixture": [{"preset": "djeco", "players": [3, 4]}, {"preset": "djeco", "players": 4, "rules": {"stake": 2}}],
    "objective": "own",
    "tables": 48,
    "arch": {"hidden": [8]},
    "minibatch": 128,
    "eval_every": 0,
}
DJECO = make_setup("nain_jaune", "djeco", 4)


def config_of(**values: object) -> example.Config:
    return build(example.Config, {**TINY, "teachers": [{"agent": "zoo:strong", "preset": "djeco", "players": 4}], **values})


def observed(setup: Setup) -> torch.Tensor:
    """Returns the first observations of eight rounds, in the common layout."""
    return torch.from_numpy(CommonView(setup)(Batch(setup, 8, seed=1, autoreset=False).observation))


def test_a_teacher_knows_its_own_table_and_plays_as_the_agent_does() -> None:
    teacher = example.Teacher("zoo:strong", DJECO, torch.float32)
    others = [make_setup("nain_jaune", "djeco", 3), make_setup("nain_jaune", "djeco", 4, stake=2)]
    seen = torch.cat([observed(setup) for setup in (others[0], DJECO, others[1])])
    assert teacher.rows(seen).tolist() == [*range(8, 16)]
    batch, agent = Batch(DJECO, 8, seed=1, autoreset=False), load_agent("zoo:strong", DJECO)
    logits = teacher.logits(observed(DJECO)).numpy()
    likeliest = np.where(batch.legal[:, None] >> np.arange(logits.shape[1]) & 1, logits, -np.inf).argmax(1)
    assert likeliest.tolist() == agent.act(DecisionBatch(batch, np.arange(8)), np.random.default_rng(0)).tolist()


def test_the_term_pulls_towards_the_teacher() -> None:
    moved = {}
    for weight in (0.0, 100.0):
        steps = {"optimizer": {"learning_rate": 0.01}, "iterations": 8}
        config = config_of(teacher_weight=weight, last_teacher_weight=weight, **steps)
        trainer = example.Trainer(config, config.setup())
        first = trainer.iterate()["update/teacher_kl"]
        for _ in range(5):
            moved[weight] = trainer.iterate()["update/teacher_kl"]
        assert min(first, moved[weight]) > 0
    assert moved[100.0] < moved[0.0] / 2


def test_with_a_weight_of_0_it_is_ppo() -> None:
    config = config_of(teacher_weight=0.0)
    trainer, plain = example.Trainer(config, config.setup()), Trainer(build(Config, TINY), config.setup())
    for _ in range(2):
        trainer.iterate()
        plain.iterate()
    for name, tensor in plain.net.state_dict().items():
        assert torch.allclose(tensor, trainer.net.state_dict()[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"mixture": []}, "Expected a 'mixture'"),
        ({"teachers": [{"agent": "closer", "players": 4}]}, "should be a plain network without memory"),
        ({"teachers": [{"players": 4}]}, "Expected an 'agent'"),
    ],
)
def test_what_cannot_teach_is_refused(values: dict[str, object], sentence: str) -> None:
    config = config_of(**values)
    with pytest.raises(ConfigError, match=sentence):
        example.Trainer(config, config.setup())


def test_a_resumed_run_is_the_same_run_and_an_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = [f"--set={key}={str(value).replace(' ', '')}" for key, value in TINY.items() if key != "mixture"]
    file = tmp_path / "teachers.yaml"
    file.write_text("algorithm: ppo_teachers\nmixture: [{preset: djeco, players: 4}]\n", encoding="utf-8")
    assert example.main([str(file), "--out", str(tmp_path / "whole"), *settings, "--set=iterations=4"]) == 0
    assert "Trained: " in capsys.readouterr().out
    whole = load_checkpoint(tmp_path / "whole")
    config = build(example.Config, whole.config)
    resumed, straight = (example.Trainer(config, config.setup()) for _ in range(2))
    for trainer in (resumed, straight):
        trainer.restore(load_checkpoint(tmp_path / "whole"))
        trainer.iterate()
    assert same(resumed.checkpoint(), straight.checkpoint())
    load_agent(str(tmp_path / "whole"), DJECO)
