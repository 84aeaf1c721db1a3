"""Expert iteration: labels are what a search finds, the network learns them, and a resumed run is the same run."""

from __future__ import annotations

import dataclasses
import math
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec import structs

from nainjaune_agents.base.seeds import Stream, generator
from nainjaune_agents.measure.edges import Edge
from nainjaune_agents.players.networks.checkpoint import load_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.search.values import ActionValues
from nainjaune_agents.train.config import build
from nainjaune_agents.train.expert import LABELS, Config, Trainer
from nainjaune_agents.train.labels import Labels
from nainjaune_agents.train.targets import entropy, pooled, targets
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.errors import CheckpointError, ConfigError
from nainjaune_env.engine.batch import Batch
from tests.support.contract import helper
from tests.support.positions import stirred
from tests.support.training import run_in

TINY = {
    "preset": "djeco", "players": 3, "rule": "lowest", "generations": 2, "shards": 2, "shard": 40, "rounds": 8, "deals": 4,
    "arch": {"hidden": [16]}, "minibatch": 32, "epochs": 2, "eval_deals": 0, "rollouts": "rule", "prior": 0.0,
}  # fmt: skip
OTHER = {"game": "batasaurus", "preset": None, "rule": "random"}
both_games = pytest.mark.parametrize("game", [{}, OTHER], ids=["nain_jaune", "batasaurus"])


def tiny(**other: Any) -> Config:
    return build(Config, {**TINY, **other})


def trainer_of(folder: Path, **other: Any) -> Trainer:
    return Trainer(tiny(**other), folder)


def some_labels(tmp_path: Path, **other: Any) -> tuple[Trainer, Labels]:
    trainer = trainer_of(tmp_path, **other)
    return trainer, trainer.label(0, trainer.experts())


# ---------------------------------------------------------------- labels


@both_games
def test_no_label_depends_on_hidden_cards(tmp_path: Path, game: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same decisions with all hidden cards redealt: the same labels to the last bit."""
    for rollouts in ("rule", "net"):
        trainer = trainer_of(tmp_path, **game, rollouts=rollouts, shard=10)
        trainer.iteration = 1
        tables, earned = trainer.play(trainer.new_batch(), trainer.player(), np.random.default_rng(1))
        tables, earned = tables[::4], earned[::4]
        mixer = random.Random(2)
        setup = trainer.setup
        mixed = np.array(
            [helper(setup).reshuffle(setup, row, int(row.seat), mixer) for row in np.rec.array(tables)], tables.dtype
        )
        assert mixed.tobytes() != tables.tobytes()
        made = []
        for rows in (tables, mixed):
            monkeypatch.setattr(trainer, "play", lambda batch, player, rng, shown=(rows, earned): shown)
            made.append(trainer.label(0, trainer.experts()))
        for f in dataclasses.fields(Labels):
            assert getattr(made[0], f.name).tobytes() == getattr(made[1], f.name).tobytes(), f.name


@both_games
def test_every_choice_of_the_rounds_can_be_labelled(tmp_path: Path, game: dict[str, Any]) -> None:
    """A random part of them is."""
    trainer = trainer_of(tmp_path, **game)
    rng = generator(trainer.config.seed, Stream.TRAINING, 0, 1)
    tables, earned = trainer.play(trainer.new_batch(), trainer.player(), rng)
    chosen = np.sort(rng.permutation(len(tables))[: trainer.config.shard])
    rest = Batch(trainer.setup, len(tables), autoreset=False)
    rest.set_tables(np.arange(len(tables)), tables)
    assert (rest.legal & (rest.legal - 1) != 0).all()
    assert rest.tables.tobytes() == tables.tobytes()
    labels = trainer.label(0, trainer.experts())
    assert len(labels) == trainer.config.shard
    assert np.array_equal(labels.earned, earned[chosen])
    assert np.array_equal(labels.legal, rest.legal[chosen])
    assert (np.unique(labels.seat) == np.arange(3)).all()
    assert (labels.mask.sum(axis=1) > 1).all()
    assert (labels.generation == 0).all()


@both_games
def test_return_so_far_plus_the_remaining_rewards_is_the_payoff(tmp_path: Path, game: dict[str, Any]) -> None:
    """A round played again, with the rewards counted from its end."""
    trainer = trainer_of(tmp_path, **game, explore=0.0, rounds=1)
    player = NetAgent("net", trainer.net)
    played = trainer.new_batch()
    tables, earned = trainer.play(played, player, np.random.default_rng(0))
    payoff = np.zeros(3, np.int32)
    trainer.setup.game.kernel.payoffs(played.tables.view(np.recarray)[0], trainer.setup.kernel_rules, payoff)
    again = Batch(trainer.setup, 1, autoreset=False)
    again.reset(seeds=np.random.default_rng(0).integers(0, 2**64, 1, np.uint64))
    rewards, choices, seats = [], [], []
    while not again.done[0]:
        if again.mask[0].sum() > 1:  # not all that is asked is a choice
            assert again.tables[0].tobytes() == tables[len(choices)].tobytes()
            choices.append(len(rewards))
            seats.append(int(again.seat[0]))
        again.step(player.act(DecisionBatch(again, np.arange(1)), np.random.default_rng(0)))
        rewards.append(again.reward[0].copy())
    to_come = np.cumsum(rewards[::-1], axis=0)[::-1]
    assert len(earned) == len(choices) > 10
    assert (earned + to_come[choices, seats]).tolist() == payoff[seats].tolist()


def test_too_few_choices_for_a_label_file_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"1 rounds held \d+ choices, and a label file takes 4000: let 'rounds' be larger"):
        some_labels(tmp_path, rounds=1, shard=4000)


def test_the_players_of_rounds_and_rollouts(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, rollouts="net")
    assert trainer.player().name == "lowest"
    by_rule = trainer.label(0, trainer.experts())
    trainer.iteration = 1
    assert isinstance(trainer.player(), NetAgent)
    made = [trainer.label(0, trainer.experts()).mean]
    trainer.config = tiny(rollouts="rule")
    made.append(trainer.label(0, trainer.experts()).mean)
    assert len({mean.tobytes() for mean in (*made, by_rule.mean)}) == 3


def test_init_loads_the_network_of_another_run(tmp_path: Path, trained: Path) -> None:
    """It plays the first generation, and the rollouts if the network is to play them; its payoff scale stays."""
    before = load_checkpoint(trained)
    config = tiny(init=str(trained), arch={"hidden": [8]}, rollouts="net", seed=9, generations=1)
    begun = run_in(tmp_path / "a", config, stop_at=0)
    assert begun.iteration == 0
    assert all(np.array_equal(tensor, before.tensors[name]) for name, tensor in begun.tensors.items())
    trainer = Trainer(config, tmp_path / "a" / LABELS)
    assert trainer.player().name == "net"
    trainer.restore(begun)
    after = run_in(tmp_path / "a", config, resume=True)
    assert np.array_equal(after.tensors["model.payoff_scale"], before.tensors["model.payoff_scale"])
    assert not np.array_equal(after.tensors["model.policy.weight"], before.tensors["model.policy.weight"])
    message = r"has arch={name: mlp, hidden: \[8\], .*}, and this run has arch={name: mlp, hidden: \[16\], recurrent: 0}"
    with pytest.raises(CheckpointError, match=message):
        run_in(tmp_path / "c", tiny(init=str(trained)))


# ---------------------------------------------------------------- learning


def test_halves_are_independent_and_together_the_whole(tmp_path: Path) -> None:
    """Of an odd number of determinizations one half has one more; the error is that of all of them."""
    values = np.random.default_rng(2).normal(size=(7, 4, 3))
    halves = []
    for part in (values[:3], values[3:]):
        error = part.std(axis=0, ddof=1) / math.sqrt(len(part))
        halves.append(ActionValues(part.mean(axis=0), error, np.full((4, 3), len(part)), np.zeros(4, np.int64)))
    mean, error = pooled(halves)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(error, values.std(axis=0, ddof=1) / math.sqrt(7))
    trainer, labels = some_labels(tmp_path, deals=5)
    assert [expert.deals for expert in trainer.experts()] == [2, 3]
    np.testing.assert_allclose(labels.halves[:, 0] * 0.4 + labels.halves[:, 1] * 0.6, labels.mean, rtol=1e-5, atol=1e-4)
    assert (labels.halves[:, 0] != labels.halves[:, 1])[labels.mask].any()
    assert (labels.error[labels.mask] >= 0).all()
    assert labels.error[labels.mask].any()


def test_a_prior_adds_the_log_policy_of_the_network_to_the_targets(tmp_path: Path) -> None:
    """Labels whose means are all equal leave the policy unchanged."""
    trainer, labels = some_labels(tmp_path, prior=1.0, epochs=20, minibatch=8)
    stirred(trainer.net)
    known = trainer.log_policy(labels)
    share = targets(labels, 2.0, known)[0]
    for k in range(len(labels)):
        legal = np.flatnonzero(labels.mask[k])
        weights = np.exp(labels.mean[k, legal].astype(float) / 2.0) * np.exp(known[k, legal].astype(float))
        assert share[k, legal] == pytest.approx(weights / weights.sum(), rel=1e-3)
        assert share[k].sum() == pytest.approx(1.0)
    nothing = dataclasses.replace(labels, mean=np.where(labels.mask, np.float32(3.0), np.float32(np.nan)))
    assert targets(nothing, 2.0, known)[0] == pytest.approx(np.exp(known), abs=1e-5)
    trainer.learn(nothing)  # the first time there is no network yet that knows anything
    assert trainer.assess(nothing)["rollout/entropy"] > 1.2 * entropy(np.exp(known)).mean()
    trainer.iteration = 1
    stirred(trainer.net)
    known = trainer.log_policy(labels)
    trainer.learn(nothing)
    assert trainer.assess(nothing)["rollout/entropy"] == pytest.approx(entropy(np.exp(known)).mean(), rel=0.1)


def test_the_network_learns_soft_targets(tmp_path: Path) -> None:
    """A small set, learned by heart: both losses fall to a small part, and the policy has the targets' shares."""
    trainer, labels = some_labels(tmp_path, arch={"hidden": [64]}, epochs=300, optimizer={"learning_rate": 1e-2}, temperature=1.0)
    share, value = targets(labels, 1.0)
    assert 0.2 < entropy(share).mean() < 3
    before = trainer.assess(labels)
    early = Trainer(structs.replace(trainer.config, epochs=1), tmp_path).learn(labels)
    metrics = trainer.learn(labels)
    assert metrics["update/policy_loss"] < 0.05 * early["update/policy_loss"]
    assert metrics["update/value_loss"] < 0.05 * early["update/value_loss"]
    logits, valued = trainer.net.evaluate(labels.observation)
    weights = np.where(labels.mask, np.exp(logits), 0)
    assert np.abs(weights / weights.sum(axis=1, keepdims=True) - share).max() < 0.1
    assert np.corrcoef(valued * float(trainer.net.payoff_scale), value)[0, 1] > 0.98
    after = trainer.assess(labels)
    assert after["labels/regret"] < 0.7 * before["labels/regret"]
    assert after["rollout/entropy"] == pytest.approx(after["labels/entropy"], abs=0.05)


def test_each_generation_learns_the_labels_of_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[list[int]] = []
    learn = Trainer.learn

    def noted(self: Trainer, labels: Labels) -> dict[str, float]:
        learned.append(np.unique(labels.generation).tolist())
        assert len(labels) == len(learned[-1]) * self.config.labelled
        return learn(self, labels)

    monkeypatch.setattr(Trainer, "learn", noted)
    run_in(tmp_path, tiny(generations=4, window=2))
    assert learned == [[0], [0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize("weaker", [True, False])
def test_a_generation_that_is_weaker_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weaker: bool) -> None:
    """The play against the generation before is on deals that depend on seed and generation, and the first has no rival."""
    edges, kept = [], []

    def verdict(edge: Edge) -> bool:
        edges.append(edge)
        return weaker

    monkeypatch.setattr("nainjaune_agents.train.expert.is_weaker", verdict)
    trainer = trainer_of(tmp_path, gate=20, generations=3, shards=1)
    for generation in range(3):
        metrics = trainer.iterate()
        assert metrics["gate/taken"] == (generation == 0 or not weaker)
        assert metrics["gate/edge"] == (edges[-1].mean if generation else 0.0)
        kept.append(trainer.net.policy.weight.detach().clone())
    assert [edge.moments.count for edge in edges] == [20, 20]
    assert [torch.equal(kept[0], weight) for weight in kept[1:]] == [weaker, weaker]


def test_a_fresh_network_keeps_the_payoff_scale_only(tmp_path: Path) -> None:
    nets = []
    for fresh in (False, True):
        trainer, labels = some_labels(tmp_path, fresh=fresh, optimizer={"learning_rate": 0.0, "last_learning_rate": 0.0})
        trainer.learn(labels)
        trainer.iteration = 1
        unit = float(trainer.net.payoff_scale)
        assert unit > 1
        trainer.learn(dataclasses.replace(labels, mean=labels.mean * 3))
        assert float(trainer.net.payoff_scale) == unit
        nets.append(trainer.net.state_dict()["policy.weight"])
    assert not torch.equal(*nets)


# ---------------------------------------------------------------- runs


def test_existing_label_files_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny(shards=3)
    run_in(tmp_path / "a", config, stop_at=80)
    made: list[int] = []
    label = Trainer.label

    def noted(self: Trainer, number: int, expert: Any) -> Labels:
        made.append(number)
        return label(self, number, expert)

    monkeypatch.setattr(Trainer, "label", noted)
    run_in(tmp_path / "a", config, resume=True)
    assert made == [2, 0, 1, 2]


def test_label_files_made_in_parallel_are_the_same(tmp_path: Path) -> None:
    """Shards do not depend on each other: 3 of them by 2 threads are those of one thread."""
    for threads in (1, 2):
        run_in(tmp_path / str(threads), tiny(shards=3, rollouts="net", generations=2, threads=threads, epochs=1))
    files = [{path.name: path.read_bytes() for path in (tmp_path / str(n) / LABELS).iterdir()} for n in (1, 2)]
    assert files[0].keys() == files[1].keys()
    assert len(files[0]) == 6
    first = [name for name in files[0] if name.startswith("000-")]
    assert all(files[0][name] == files[1][name] for name in first)  # of the second the network learned in two threads


def test_each_thread_has_opponents_of_its_own(tmp_path: Path) -> None:
    """A search writes to buffers of its own."""
    trainer = Trainer(tiny(opponents={"self": 0.5, "closer@search=2": 0.5}), tmp_path)
    with ThreadPoolExecutor(2) as threads:
        there = threads.submit(lambda: trainer.seating).result()
    assert trainer.seating is trainer.seating
    assert there is not trainer.seating
    assert there.agents[0] is not trainer.seating.agents[0]
