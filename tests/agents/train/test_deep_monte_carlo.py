"""Deep Monte Carlo: it learns what came of actions, what it tells is true, a resumed run is the same run, and it gets better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.base.seeds import Stream, generator
from nainjaune_agents.players.heuristics import RandomAgent
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.modules import masked_log_softmax
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.search import SearchAgent, rollouts_by
from nainjaune_agents.train.base import eval_seed
from nainjaune_agents.train.config import build
from nainjaune_agents.train.deep_monte_carlo import Config, Rollout, Trainer
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.prng import streams
from nainjaune_env.engine.batch import Batch
from tests.support.edges import edge_of
from tests.support.training import capture_metrics, run_in

TINY = {"tables": 64, "arch": {"hidden": [16]}, "eval_every": 0, "minibatch": 256, "iterations": 6}
SETUPS: list[dict[str, Any]] = [
    {"preset": "djeco", "players": 4},
    {"preset": "skip", "players": 6, "objective": "own"},
    {"game": "batasaurus", "players": 3},
]


def tiny(**other: Any) -> Config:
    return build(Config, {**TINY, **other})


def trainer_of(config: Config) -> Trainer:
    return Trainer(config, config.setup())


def predicted(trainer: Trainer, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the trainer's action values ``(K, A)`` and values ``(K,)``."""
    with torch.no_grad():
        q, value = trainer.action_values(torch.from_numpy(observation))
    return q.numpy(), value.numpy()


def replayed(trainer: Trainer, rollout: Rollout) -> tuple[np.ndarray, np.ndarray]:
    """The table ``(T,)`` and the legal actions ``(T, A)`` of each decision, from the same rounds played over."""
    count = trainer.config.tables
    batch = Batch(trainer.setup, count, autoreset=False)
    batch.reset(seeds=streams(trainer.config.seed, count, stream=trainer.iteration + 1))
    tables, masks, at = [], [], 0
    while not batch.done.all():
        index = np.flatnonzero(~batch.done)
        assert np.array_equal(rollout.observation[at : at + index.size], batch.observation[index])
        tables.append(index)
        masks.append(batch.mask[index])
        batch.step(rollout.action[at : at + index.size], index)
        at += index.size
    assert at == len(rollout.action)
    return np.concatenate(tables), np.concatenate(masks)


# ---------------------------------------------------------------- what it learns from


@pytest.fixture(scope="module", params=SETUPS, ids=str)
def played(request: pytest.FixtureRequest) -> tuple[Trainer, Rollout]:
    trainer = trainer_of(tiny(**request.param, tables=40, seed=7, temperature=2.0, last_temperature=0.5))
    with torch.no_grad():
        trainer.net.policy.weight *= 200  # a policy that is not uniform
    return trainer, trainer.play(np.random.default_rng(1))


def test_a_rollout_holds_every_decision_once_with_its_return(played: tuple[Trainer, Rollout]) -> None:
    """Each table played over ply by ply: where a seat is to be asked is its part of the rollout, in order."""
    trainer, rollout = played
    config, setup = trainer.config, trainer.setup
    batch = Batch(setup, config.tables, skip_forced=False, autoreset=False)
    batch.reset(seeds=streams(config.seed, config.tables, stream=1))
    tables, _ = replayed(trainer, rollout)
    left = [list(np.flatnonzero(tables == table)) for table in range(config.tables)]
    netted = batch.reward.astype(np.float64)
    before: dict[int, tuple[int, int, np.ndarray]] = {}
    while not batch.done.all():
        actions = np.zeros(config.tables, np.int64)
        for i in np.flatnonzero(~batch.done):
            legal = legal_actions(int(batch.legal[i]))
            actions[i] = legal[0]
            if setup.game.kernel.needs_decision(batch.tables[i], setup.kernel_rules, batch.legal[i]):
                t = left[i].pop(0)
                assert np.array_equal(rollout.observation[t], batch.observation[i])
                actions[i] = rollout.action[t]
                before[t] = (int(i), int(batch.seat[i]), netted[i].copy())
        batch.step(actions)
        netted += batch.reward
    assert not any(left)
    for t, (i, seat, then) in before.items():
        gained = netted[i] - then
        expected = gained[seat] - gained.mean() * (config.objective == "centred")
        assert rollout.target[t] == pytest.approx(expected, abs=1e-3)
    assert rollout.payoff_spread == pytest.approx(netted.std(), rel=1e-4)


def test_actions_are_drawn_at_the_temperature_of_the_schedule(played: tuple[Trainer, Rollout]) -> None:
    """Better actions become likelier over the run; at its end the policy is that of an agent loaded with ``@sample``."""
    trainer, _ = played
    for iteration, temperature in ((0, 2.0), (3, 1.0), (6, 0.5)):
        trainer.iteration = iteration
        assert trainer.temperature == pytest.approx(temperature)
        drawn = trainer.play(np.random.default_rng(1))
        logits, _ = trainer.net.evaluate(drawn.observation)
        mask = replayed(trainer, drawn)[1]
        expected = masked_log_softmax(torch.from_numpy(logits) * 0.5 / temperature, torch.from_numpy(mask)).numpy()
        assert drawn.log_prob == pytest.approx(expected[np.arange(len(drawn.action)), drawn.action], abs=2e-4)
        assert drawn.log_prob[mask.sum(axis=1) > 1].std() > 0.1
    trainer.iteration = 0


# ---------------------------------------------------------------- what it tells


@pytest.mark.parametrize("other", SETUPS, ids=str)
def test_the_agent_draws_by_the_action_values_and_plays_the_best(other: dict[str, Any]) -> None:
    """By the probabilities that it gives itself."""
    trainer = trainer_of(tiny(**other, temperature=0.5, last_temperature=0.25))
    with torch.no_grad():
        trainer.net.policy.weight *= 200
        trainer.shared.weight *= 10
    batch, draws = Batch(trainer.setup, 50, seed=3), streams(3, 50, stream=1)
    for _ in range(8):
        batch.step(batch.sample(draws))
    decisions = DecisionBatch(batch, np.arange(50))
    q = predicted(trainer, batch.observation)[0]
    shared = q - 0.25 * trainer.net.evaluate(batch.observation)[0]
    assert np.ptp(shared, axis=1).max() < 1e-4 * np.abs(q).max()  # all actions of a decision share it
    assert np.ptp(shared) > 0.1
    weights = np.where(batch.mask, np.exp(q / 0.25), 0)
    policy = NetAgent("net", trainer.net, stochastic=True).probabilities(decisions)
    assert policy == pytest.approx(weights / weights.sum(axis=1, keepdims=True), abs=1e-5)
    assert policy.max(axis=1).mean() > 1.2 * (1 / batch.mask.sum(axis=1)).mean()
    best = np.where(batch.mask, q, -np.inf).argmax(axis=1)
    assert np.array_equal(NetAgent("net", trainer.net).act(decisions, np.random.default_rng(0)), best)


def test_it_learns_the_action_values() -> None:
    """At a temperature where all play at random, what each action comes to is what a search by random rollouts finds.

    And the value is the mean over the actions, drawn alike.
    """
    short = {"ranks": 4, "suits": 2, "hand": 3}
    config = tiny(
        preset="skip", players=2, rules=short, objective="own", temperature=1000.0, last_temperature=1000.0, iterations=120,
        tables=1024, minibatch=512, arch={"hidden": [64]}, optimizer={"learning_rate": 5e-3, "last_learning_rate": 1e-4},
    )  # fmt: skip
    trainer = trainer_of(config)
    for _ in range(config.iterations):
        metrics = trainer.iterate()
    batch = Batch(trainer.setup, 60, seed=11, autoreset=False)
    decisions = DecisionBatch(batch, np.flatnonzero(~batch.done))
    searched = SearchAgent("search", rollouts_by(RandomAgent(), trainer.setup), 400, halving=False)
    truth = (
        searched.evaluate_actions(decisions, np.random.default_rng(0)).mean - batch.reward[decisions.index, decisions.seat, None]
    )
    q, value = (float(trainer.net.payoff_scale) * each for each in predicted(trainer, decisions.observation))
    assert truth[decisions.mask].std() > 3
    assert np.sqrt(((q - truth)[decisions.mask] ** 2).mean()) < 0.3 * truth[decisions.mask].std()
    means = np.where(decisions.mask, truth, 0).sum(axis=1) / decisions.mask.sum(axis=1)
    assert np.corrcoef(value, means)[0, 1] > 0.85
    assert abs((value - means).mean()) < 0.15 * means.std()
    assert metrics["update/explained_variance"] > 0.5


# ---------------------------------------------------------------- runs


def test_metrics_say_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged = capture_metrics(monkeypatch)
    values = {"optimizer": {"learning_rate": 0.0, "last_learning_rate": 0.0}, "temperature": 0.4, "last_temperature": 0.1}
    config = tiny(iterations=4, eval_every=3, eval_deals=20, eval_against="lowest", **values)
    run_in(tmp_path, config)
    trainer = trainer_of(config)
    rollout = trainer.play(generator(config.seed, Stream.TRAINING, 0))
    first = {name: each[0][1] for name, each in logged.items()}
    assert first["rollout/decisions"] == len(rollout.action) == first["rollout/decisions_per_round"] * 64
    assert first["rollout/payoff_spread"] == rollout.payoff_spread
    assert [value for _, value in logged["schedule/temperature"]] == pytest.approx([0.4 * 0.5 ** (k / 2) for k in range(4)])
    mask = torch.from_numpy(replayed(trainer, rollout)[1])
    shares = masked_log_softmax(torch.from_numpy(trainer.net.evaluate(rollout.observation)[0]) * 0.25, mask)
    assert first["rollout/entropy"] == pytest.approx(-float((shares.exp() * shares).sum(1).mean()), rel=0.05)
    q, value = predicted(trainer, rollout.observation)
    q = q[np.arange(len(rollout.action)), rollout.action]
    target = rollout.target / max(rollout.target.std(), 1)
    for name, each in (("action_value", q), ("value", value)):
        assert first[f"update/{name}_loss"] == pytest.approx(((each - target) ** 2).mean(), rel=0.05)
    assert first["update/explained_variance"] == pytest.approx(1 - np.var(target - q) / np.var(target), abs=1e-4)
    setup = config.setup()
    edge = edge_of(setup, [load_agent(name, setup) for name in (str(tmp_path), "lowest")], 20, seed=eval_seed(0))
    assert logged["eval/edge"][-1][1] == edge.mean


def test_rounds_without_a_choice_are_an_error() -> None:
    """One card a seat: there is nothing to choose."""
    config = tiny(preset="djeco", players=2, rules={"ranks": 3, "suits": 1, "hand": 1}, tables=4)
    with pytest.raises(NainJauneError, match="None of 4 rounds had a decision: there is nothing to learn"):
        trainer_of(config).iterate()
