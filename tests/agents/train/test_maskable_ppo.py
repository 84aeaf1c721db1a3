"""MaskablePPO: what it learns from, whom it plays, a resumed run is the same run, and a checkpoint plays as the model does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.base import eval_seed
from nainjaune_agents.train.config import build
from nainjaune_agents.train.maskable_ppo import Config, Trainer, ended_rounds, payoff_spread
from nainjaune_agents.train.sb3 import DuplicateEvalCallback, NetPolicy, SelfPlayBuffer
from nainjaune_agents.train.self_play import seat_advantages
from nainjaune_env.agent import RecurrentStates
from nainjaune_env.agent_adapters import ModelAgent
from nainjaune_env.core.errors import ConfigError, MissingLibraryError
from nainjaune_env.core.extras import install_command
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from tests.support.edges import edge_of
from tests.support.training import capture_metrics, run_in

TINY = {
    "tables": 32, "steps": 16, "arch": {"hidden": [16]}, "minibatch": 256, "epochs": 1, "iterations": 6, "eval_every": 0,
}  # fmt: skip
GAMES: list[dict[str, Any]] = [
    {"preset": "djeco", "players": 4, "opponents": {"lowest": 0.25, "tally": 0.25, "past": 0.5}},
    {"game": "batasaurus", "players": 3, "opponents": {"cheapest": 0.7, "past": 0.3}, "steps": 48},
]


def tiny(**other: Any) -> Config:
    return build(Config, {**TINY, **other})


def trainer_of(config: Config) -> Trainer:
    return Trainer(config, config.setup())


# ---------------------------------------------------------------- what it learns from


@pytest.mark.parametrize("values", GAMES, ids=str)
def test_it_learns_from_legal_decisions_of_its_own_seat_and_its_own_payoff(values: dict[str, Any]) -> None:
    """The same rollout played over by hand on a twin of the environment, seeded alike."""
    config = tiny(**values)
    trainer, twin = trainer_of(config), trainer_of(config)
    trainer.iterate()
    buffer = trainer.model.rollout_buffer
    masks = buffer.action_masks.reshape(config.tables, config.steps, -1).astype(bool).swapaxes(0, 1)
    actions = buffer.actions.reshape(config.tables, config.steps).T.astype(np.int64)
    seen = buffer.observations.reshape(config.tables, config.steps, -1).swapaxes(0, 1)
    assert 0.05 < masks.mean() < 0.9

    twin.prepare()
    inner = twin.venv.venv
    assert isinstance(inner, SeatVecEnv)
    observation = inner.reset()
    payoff = np.zeros(config.tables)
    for t in range(config.steps):
        assert np.array_equal(seen[t], observation)
        assert np.array_equal(masks[t], inner.action_masks())
        assert masks[t][np.arange(config.tables), actions[t]].all()
        observation, rewards, dones, _ = inner.step(actions[t])
        payoff += rewards
        assert buffer.rewards[t] * trainer.venv.unit == pytest.approx(rewards, abs=1e-4)
        if t + 1 < config.steps:
            assert np.array_equal(buffer.episode_starts[t + 1], dones)
    assert np.abs(payoff).max() > 1


SELF_PLAY: dict[str, Any] = {"preset": "djeco", "players": 4, "steps": 48, "opponents": "self"}


class Kept(BaseCallback):
    """Keeps the buffer's columns as they are at the end of a rollout: ``(T, B, ...)``."""

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.model.rollout_buffer  # type: ignore[attr-defined]
        assert isinstance(buffer, SelfPlayBuffer)
        self.columns = {name: value.copy() for name, value in vars(buffer).items() if isinstance(value, np.ndarray)}
        self.next_seat = self.training_env.venv.seats  # type: ignore[attr-defined]


@pytest.mark.parametrize("lam", [1.0, 0.8])
def test_in_self_play_it_learns_from_the_decisions_of_every_seat(lam: float) -> None:
    """The same rollout on a twin of the environment: seats, what each is credited with, and advantages along its decisions."""
    config = tiny(**SELF_PLAY, gae_lambda=lam)
    trainer, twin = trainer_of(config), trainer_of(config)
    trainer.prepare()
    trainer.model.learn(config.tables * config.steps, callback=(kept := Kept()))
    columns = kept.columns
    twin.prepare()
    inner, unit = twin.venv.venv, np.float32(trainer.venv.unit)
    assert isinstance(inner, SeatVecEnv)
    inner.reset()
    rewards, ended = np.zeros_like(columns["seat_rewards"]), np.zeros((config.steps, config.tables), np.bool_)
    for t in range(config.steps):
        assert np.array_equal(columns["seats"][t], inner.seats)
        _, _, ended[t], _ = inner.step(columns["actions"][t, :, 0])
        rewards[t] = inner.rewards / unit
    assert np.array_equal(columns["seat_rewards"], rewards)
    assert rewards.any(axis=(0, 1)).all()
    with torch.no_grad():
        last = twin.model.policy.predict_values(torch.from_numpy(inner._tables.batch.observation)).numpy().ravel()
    wanted, known = seat_advantages(columns["seats"], rewards, columns["values"], ended, kept.next_seat, last, lam=lam)
    np.testing.assert_allclose(columns["advantages"], wanted, atol=1e-5)
    assert np.array_equal(columns["sampled"], known)
    assert 0.8 < known.mean() < 1
    assert np.array_equal(columns["returns"], columns["advantages"] + columns["values"])


def test_minibatches_of_self_play_are_the_sampled_rows_once() -> None:
    trainer = trainer_of(tiny(**SELF_PLAY))
    trainer.iterate()
    buffer = trainer.model.rollout_buffer
    assert isinstance(buffer, SelfPlayBuffer)
    parts = [part.advantages.numpy() for part in buffer.get(256)]
    sizes = {len(part) for part in parts}
    assert max(sizes) <= 256
    assert max(sizes) - min(sizes) <= 1
    assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(buffer.advantages[buffer.sampled]))
    assert len(next(iter(buffer.get()))[0]) == buffer.sampled.sum()
    buffer.sampled[:] = False
    with pytest.raises(ConfigError, match="No seat decided twice within 48 decisions of its table"):
        next(iter(buffer.get(256)))


def test_the_unit_is_the_deviation_of_payoffs_in_random_play() -> None:
    setup = tiny().setup()
    unit = payoff_spread(setup, 3)
    agent = heuristics("nain_jaune")["random"]
    batch = Batch(setup, 3000, seed=77, autoreset=False)
    states, rng, payoff = RecurrentStates(batch, [agent]), np.random.default_rng(0), batch.reward.astype(float)
    while not batch.done.all():
        index = np.flatnonzero(~batch.done)
        batch.step(agent.act(states.decision_batch(0, index), rng), index)
        payoff += np.where(np.isin(np.arange(3000), index)[:, None], batch.reward, 0)
    assert unit == pytest.approx(payoff.std(), rel=0.1)
    trainer = trainer_of(tiny(seed=3))
    assert trainer.venv.unit == float(trainer.net.payoff_scale) == unit


def test_rounds_that_ended_are_found_in_the_buffer() -> None:
    rewards = np.array([[1, 10], [2, 20], [3, 30], [4, 40]], np.float32)
    starts = np.array([[1, 1], [0, 1], [1, 0], [0, 1]], np.float32)
    payoff, length = ended_rounds(rewards, starts)
    assert payoff.tolist() == [1 + 2, 10, 20 + 30]  # the last round of each table may not be over
    assert length.tolist() == [2, 1, 2]
    assert ended_rounds(rewards[:1], starts[:1])[0].size == 0


def test_rollouts_too_short_for_a_round_are_refused() -> None:
    with pytest.raises(ConfigError, match="No round ended within 1 decisions of its learner"):
        trainer_of(tiny(steps=1, tables=256)).iterate()


# ---------------------------------------------------------------- a run, and what is loaded plays as the model does


def test_the_policy_is_our_network() -> None:
    """Logits, values and log-probabilities of SB3's methods are those of the net; it goes into SB3's own zip and comes back."""
    trainer = trainer_of(tiny(preset="djeco", players=4))
    trainer.iterate()
    policy, net = trainer.model.policy, trainer.net
    assert isinstance(policy, NetPolicy)
    batch = Batch(trainer.setup, 50, seed=1)
    observation, mask = torch.from_numpy(batch.observation), torch.from_numpy(batch.mask)
    with torch.no_grad():
        logits, values, _ = net(observation)
        wanted = torch.log_softmax(logits.masked_fill(~mask, -1e8), dim=1)
        actions, value, log_prob = policy(observation, action_masks=batch.mask)
        again, log_again, entropy = policy.evaluate_actions(observation, actions, mask)
    assert mask[torch.arange(50), actions].all()
    best, _ = trainer.model.predict(batch.observation, action_masks=batch.mask, deterministic=True)
    assert best.tolist() == wanted.argmax(dim=1).tolist()
    for found, right in ((value, values), (again, values), (policy.predict_values(observation), values)):
        assert found.flatten().tolist() == pytest.approx(right.tolist(), abs=1e-6)
    taken = wanted.gather(1, actions[:, None]).flatten()
    assert log_prob.tolist() == pytest.approx(taken.tolist(), abs=1e-5)
    assert log_again.tolist() == pytest.approx(taken.tolist(), abs=1e-5)
    assert entropy is not None
    assert entropy.tolist() == pytest.approx((-(wanted.exp() * wanted).sum(1)).tolist(), abs=1e-4)
    assert {id(tensor) for tensor in policy.parameters()} == {id(tensor) for tensor in net.parameters()}


# ---------------------------------------------------------------- measuring


def test_the_callback_measures_the_edge_of_any_model() -> None:
    """In one call of ``learn``, with a policy of SB3's own."""
    venv = VecMonitor(SeatVecEnv(16, "djeco", 4, opponents="lowest"))
    setup = venv.get_attr("setup", 0)[0]
    callback = DuplicateEvalCallback(setup, "random", every=2, deals=40)
    model = MaskablePPO("MlpPolicy", venv, n_steps=16, batch_size=64, seed=1, device="cpu")
    measured: list[float] = []
    plain = callback.measure

    def measure() -> Any:
        edge = plain()
        measured.append(edge.mean)
        return edge

    callback.measure = measure  # type: ignore[method-assign]
    model.learn(4 * 16 * 16, callback=callback)
    assert len(measured) == 2  # after two updates, and at the end
    agents = [ModelAgent(model, "model"), heuristics("nain_jaune")["random"]]
    assert measured[-1] == edge_of(setup, agents, 40, seed=eval_seed(1)).mean


def test_metrics_say_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged = capture_metrics(monkeypatch)
    run_in(
        tmp_path,
        tiny(iterations=5, eval_every=2, eval_deals=5, optimizer={"learning_rate": 0.0, "last_learning_rate": 0.0}, entropy=0.2),
    )
    assert [value for _, value in logged["rollout/decisions"]] == [512.0 * k for k in range(1, 6)]
    assert [value for _, value in logged["update/kl"]] == pytest.approx([0] * 5, abs=1e-6)
    assert logged["schedule/entropy_weight"][-1][1] == pytest.approx(0.2 + (0.005 - 0.2) * 0.8)
    assert 1 < logged["rollout/decisions_per_round"][0][1] < 16


def test_schedules_reach_stable_baselines() -> None:
    trainer = trainer_of(
        tiny(iterations=2, optimizer={"learning_rate": 1e-3, "last_learning_rate": 1e-4}, entropy=0.2, last_entropy=0.0)
    )
    rates, weights = [], []
    for _ in range(2):
        trainer.iterate()
        rates.append(trainer.model.policy.optimizer.param_groups[0]["lr"])
        weights.append(trainer.model.ent_coef)
    assert rates == pytest.approx([1e-3, 5.5e-4])
    assert weights == pytest.approx([0.2, 0.1])


def test_without_the_library_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    monkeypatch.delitem(sys.modules, "nainjaune_agents.train.maskable_ppo")
    with pytest.raises(MissingLibraryError, match=re.escape(install_command("sb3"))):
        get_trainer("maskable_ppo")


@pytest.mark.parametrize("iteration", [0, 1])
def test_a_run_refused_in_its_first_iteration_leaves_nothing_and_later_its_checkpoint(
    tmp_path: Path, iteration: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, real = tiny(opponents="self", tables=4, steps=8 if iteration == 0 else 64, minibatch=16), Trainer.rollout_metrics

    def refused(trainer: Trainer) -> dict[str, float]:
        if trainer.iteration == iteration > 0:
            raise ConfigError("set 'steps' higher")
        return real(trainer)

    monkeypatch.setattr(Trainer, "rollout_metrics", refused)
    with pytest.raises(ConfigError, match="set 'steps' higher"):
        run_in(tmp_path / "a", config)
    assert (tmp_path / "a").exists() == (iteration > 0)
