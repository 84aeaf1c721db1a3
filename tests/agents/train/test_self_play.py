"""Advantages in self-play: those of ``ppo.gae`` for whole rounds, and what happens where a rollout ends within one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.train.ppo import gae
from nainjaune_agents.train.self_play import seat_advantages
from nainjaune_env import make_setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv


def value_of(observation: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Some number of each observation ``(K, size)``, as a critic gives one; the same bits whatever K is."""
    weights = np.random.default_rng(1).integers(-9, 9, observation.shape[1])
    return ((observation.astype(np.int64) @ weights) / 7).astype(np.float32)


def first_legal(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """An action for each row, which depends on nothing but the row."""
    return np.asarray(mask.argmax(axis=1))


@pytest.mark.parametrize("lam", [1.0, 0.9])
@pytest.mark.parametrize(("preset", "players"), [("djeco", 4), ("classic", 5), ("batasaurus", 3)])
def test_for_whole_rounds_they_are_those_of_our_ppo(preset: str, players: int, lam: float) -> None:
    """The other way: every round played to its end in a batch, as ``ppo.Trainer.play`` does, and ``gae`` over its sequences."""
    tables, steps = 16, 150
    env = SeatVecEnv(tables, preset, players, opponents="self")
    env.seed(7)
    observation = env.reset()
    columns: list[tuple[Any, ...]] = []
    for _ in range(steps):
        value = value_of(observation)
        observation, _, ended, _ = env.step(first_legal(env.action_masks()))
        columns.append((env.acted, env.rewards, value, ended))
    seat, rewards, value, ended = (np.stack(column) for column in zip(*columns, strict=True))
    advantages, known = seat_advantages(seat, rewards, value, ended, env.seats, value_of(observation), lam=lam)
    assert advantages.dtype == np.float32
    first_end = ended.argmax(axis=0)
    assert ended.any(axis=0).all()
    setup = make_setup(None, preset, players)
    for i in range(tables):
        batch = Batch(setup, 1, seed=7 + i, autoreset=False)
        payoff, rows = batch.reward[0].astype(np.float32), []
        while not batch.done[0]:
            acts = int(batch.seat[0])
            rows.append((acts, payoff[acts], value_of(batch.observation)[0]))
            batch.step(first_legal(batch.mask))
            payoff += batch.reward[0]
        sequence, so_far, values = zip(*rows, strict=True)
        wanted = gae(np.array(sequence), np.array(so_far, np.float32), np.array(values, np.float32), payoff, lam)
        assert len(rows) == first_end[i] + 1
        np.testing.assert_array_equal(advantages[: len(rows), i], wanted)
        assert known[: len(rows), i].all()


def test_a_decision_that_nothing_follows_in_the_rollout_is_not_known() -> None:
    """Seats 0 1 0 1 0 at one table, and 1 is to act then: the last decision of 0 has no later one."""
    seat = np.array([[0], [1], [0], [1], [0]])
    rewards = np.zeros((5, 1, 2), np.float32)
    rewards[1:5, 0] = [[2, 0], [0, 3], [5, 0], [0, 7]]
    value = np.array([[1], [10], [100], [1000], [10_000]], np.float32)
    ended = np.zeros((5, 1), np.bool_)
    advantages, known = seat_advantages(
        seat, rewards, value, ended, np.array([1]), np.array([50], np.float32), gamma=0.5, lam=0.1
    )
    third, second = 5 + 0.5 * 10_000 - 100, 7 + 0.5 * 50 - 1000
    assert known[:, 0].tolist() == [True, True, True, True, False]
    expected = [2 + 0.5 * 100 - 1 + 0.05 * third, 3 + 0.5 * 1000 - 10 + 0.05 * second, third, second, 0]
    np.testing.assert_allclose(advantages[:, 0], expected, rtol=1e-6)


def test_an_episode_that_ends_credits_all_seats_and_stops_there() -> None:
    seat = np.array([[0], [1], [1], [0]])
    rewards = np.array([[[0, -1]], [[4, -4]], [[9, 0]], [[0, 0]]], np.float32)
    value, ended = np.zeros((4, 1), np.float32), np.array([[False], [True], [False], [False]])
    advantages, known = seat_advantages(seat, rewards, value, ended, np.array([0]), np.array([6], np.float32), lam=1.0)
    assert advantages[:, 0].tolist() == [4, -4, 0, 6]
    assert known[:, 0].tolist() == [True, True, False, True]
