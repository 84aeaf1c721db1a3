"""Vines: advantages by their definition, what rounds pay, and a reference that the policy stays near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.arena.play import play_out
from nainjaune_agents.loading import load_agent
from nainjaune_agents.nets.modules import masked_log_softmax
from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.search.rollouts import rollouts_by
from nainjaune_agents.seeds import Stream, generator
from nainjaune_agents.trainers.config import build
from nainjaune_agents.trainers.gpu_rollout import unpacked
from nainjaune_agents.trainers.vine import Choices, Config, Tables, Trainer, advantages
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.engine.batch import Batch
from tests.support.training import run_in, same

TINY = {"players": 3, "tables": 40, "arch": {"hidden": [16]}, "eval_every": 0, "minibatch": 256, "iterations": 4}
MIXTURE = [{"preset": "djeco", "players": [2, 3]}, {"preset": "classic", "players": 4}]


def trainer_of(**other: Any) -> Trainer:
    config = build(Config, {**TINY, **other})
    return Trainer(config, config.setup())


def agent_of(trainer: Trainer) -> NetAgent:
    return NetAgent("net", trainer.net)


def choices_of(trainer: Trainer, iteration: int = 0) -> Choices:
    (tables,) = trainer.tables
    return tables.play(agent_of(trainer), iteration)


# ---------------------------------------------------------------- advantages


@pytest.mark.parametrize("objective", ["own", "centred"])
def test_an_advantage_is_what_the_action_pays_above_the_mean_at_the_same_cards(objective: str) -> None:
    trainer = trainer_of(objective=objective)
    setup, rng = trainer.setup, np.random.default_rng(0)
    agent = load_agent("closer", setup)  # a network's rounding may differ with the number of tables
    batch = Batch(setup, 30, seed=3, autoreset=False)
    for _ in range(3):
        batch.step(batch.sample(rng.integers(2**64, size=30, dtype=np.uint64)))
    here = np.flatnonzero(~batch.done)
    mask = DecisionBatch(batch, here).mask
    tried = mask & (rng.random(mask.shape) < 0.7)
    advantage = advantages(rollouts_by(agent, setup, objective), batch.tables[here], tried)
    several = 0
    for row, table in enumerate(here):
        paid = {}
        for action in np.flatnonzero(tried[row]):
            copied = Batch(setup, 1, autoreset=False)
            copied.set_tables(None, batch.tables[[table]])
            copied.step(np.array([action]))
            payoff = play_out(copied, [agent], np.zeros((1, 3), int), [rng])[0]
            paid[action] = payoff[batch.seat[table]] - (payoff.mean() if objective == "centred" else 0.0)
        expected = np.zeros(mask.shape[1])
        if len(paid) > 1:
            expected[[*paid]] = np.array([*paid.values()]) - np.mean([*paid.values()])
        assert advantage[row].tolist() == pytest.approx(expected.tolist(), abs=1e-4)
        several += len(paid) > 1
    assert several > 10
    assert np.abs(advantage).max() > 1


def test_actions_without_a_chance_are_not_tried() -> None:
    for least in (0.0, 0.5, 1.0):
        trainer = trainer_of(least=least)
        trainer.net.policy.weight.data.mul_(100)  # an untrained policy is nearly uniform
        choices = choices_of(trainer)
        legal = unpacked(torch.from_numpy(choices.legal), choices.advantage.shape[1]).numpy()
        assert (choices.tried <= legal.sum(axis=1)).all()
        assert not choices.advantage[~legal].any()
        assert np.abs(choices.advantage.sum(axis=1)).max() < 1e-3
        every = choices.tried == legal.sum(axis=1)
        assert every.all() if least == 0.0 else not every.all()
    assert not choices.tried.any()  # nothing is more likely than the likeliest
    assert not choices.advantage.any()


def test_the_policy_learns_which_of_two_actions_pays_more() -> None:
    trainer = trainer_of(reference_weight=0.0, value_weight=0.0, minibatch=10_000)
    choices = choices_of(trainer)

    def mean_advantage() -> float:
        logits = trainer.net(torch.from_numpy(choices.observation))[0]
        legal = unpacked(torch.from_numpy(choices.legal), logits.shape[1])
        policy = masked_log_softmax(logits, legal).exp()
        return float((policy * torch.from_numpy(choices.advantage)).sum(1).mean().detach())

    scale = np.full(len(choices.legal), trainer.tables[0].scale, np.float32)
    before = mean_advantage()
    metrics = trainer.update(choices, scale)
    assert metrics["update/policy_loss"] == pytest.approx(-before / trainer.tables[0].scale, abs=1e-4)
    for _ in range(20):
        trainer.update(choices, scale)
    assert mean_advantage() > before + 0.5


# ---------------------------------------------------------------- rounds


def test_the_seats_net_what_the_rest_of_the_round_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same deals, with the same actions."""
    trainer = trainer_of(objective="own", tables=60)
    taken: list[Any] = []
    step = Batch.step

    def noted(batch: Batch, actions: Any) -> None:
        taken.append(actions.copy())
        step(batch, actions)

    monkeypatch.setattr(Batch, "step", noted)
    choices = choices_of(trainer, 3)
    monkeypatch.undo()
    batch = Batch(trainer.setup, 60, autoreset=False)
    batch.reset(seeds=generator(trainer.config.seed, Stream.TRAINING, 3, 1).integers(0, 2**64, 60, np.uint64))
    payoff, rows = batch.reward.astype(np.int64), []
    for actions in taken:
        index = np.flatnonzero(~batch.done)
        for table in index[DecisionBatch(batch, index).mask.sum(axis=1) > 1]:
            seat = batch.seat[table]
            rows.append((batch.observation[table].copy(), table, seat, payoff[table, seat]))
        batch.step(actions)
        payoff += batch.reward
    assert batch.done.all()
    assert len(rows) == len(choices.legal) > 100
    assert np.array_equal(choices.observation, np.stack([row[0] for row in rows]))
    assert choices.netted.tolist() == [payoff[table, seat] - before for _, table, seat, before in rows]


def test_threads_play_the_same_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of the tables are played by any thread, and their choices are joined in order."""
    learned: list[Choices] = []

    def noted(_: Trainer, choices: Choices, scale: Any) -> dict[str, float]:
        learned.append(choices)
        return {}

    monkeypatch.setattr(Trainer, "update", noted)
    for mixture in ([], MIXTURE):
        learned.clear()
        one, two = (trainer_of(tables=1100, threads=threads, mixture=mixture, arch={"hidden": [8]}) for threads in (1, 2))
        assert len(one.tables) > 1
        for trainer in (one, two):
            trainer.iterate()
        assert all(np.array_equal(a, b) for a, b in zip(*learned, strict=True))


def test_a_mixture_has_as_many_rounds_of_each_setup_in_its_own_unit() -> None:
    trainer = trainer_of(mixture=MIXTURE, tables=1700)
    counts = [0, 0, 0]
    for tables in trainer.tables:
        counts[tables.setup_index] += len(tables)
    assert counts == [567, 567, 567]
    assert len({tables.scale for tables in trainer.tables}) == 3


# ---------------------------------------------------------------- the reference


def test_the_reference_is_the_network_that_training_began_from(tmp_path: Path) -> None:
    """With a large weight the policy stays there; a resumed run has the same reference."""
    begin = tmp_path / "begin"
    run_in(begin, build(Config, {**TINY, "iterations": 3, "reference_weight": 0.0}))
    moved = {}
    for weight in (0.0, 1000.0):
        config = build(Config, {**TINY, "init": str(begin), "reference_weight": weight, "iterations": 10})
        whole = run_in(tmp_path / f"whole{weight}", config)
        parts = tmp_path / f"parts{weight}"
        run_in(parts, config, stop_at=5)
        assert same(run_in(parts, config, resume=True), whole)
        trainer = Trainer(config, config.setup())
        trainer.restore(whole)
        assert trainer.reference is not None
        observation = torch.from_numpy(Batch(trainer.setup, 500, seed=1).observation)
        old, new = (net(observation)[0].log_softmax(1) for net in (trainer.reference, trainer.net))
        moved[weight] = float((old.exp() * (old - new)).sum(1).mean().detach())
    assert moved[1000.0] < 0.05 * moved[0.0]


def test_without_one_the_policy_is_pulled_towards_the_uniform_one() -> None:
    entropy = {}
    for weight in (0.0, 100.0):
        trainer = trainer_of(reference_weight=weight, iterations=30)
        assert "reference." not in trainer.modules
        for _ in range(30):
            metrics = trainer.iterate()
        entropy[weight] = metrics["rollout/entropy"]
    assert entropy[100.0] > entropy[0.0] + 0.1


def test_rounds_without_a_choice_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = trainer_of(tables=1)
    empty = Choices(*(column[:0] for column in choices_of(trainer)))
    monkeypatch.setattr(Tables, "play", lambda *_: empty)
    with pytest.raises(ConfigError, match="Not one round held a choice"):
        trainer.iterate()
