"""TorchRL's native environment: its own checks, and the episodes of Stable-Baselines3's vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torchrl.envs.utils import check_env_specs

from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from nainjaune_env.envs.torchrl_env import SeatTorchEnv
from nainjaune_env.registry import game_names
from tests.support.games import seats_at_most

GAMES = game_names()


SETTINGS: list[dict[str, Any]] = [
    {},
    {"seat": 1, "skip_forced": False},
    {"episode": "match", "illegal_reward": -3},
    {"opponents": "self"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("game", GAMES)
def test_torchrls_own_checks_pass(game: str, settings: dict[str, Any]) -> None:
    env = SeatTorchEnv(5, game=game, players=seats_at_most(game, 3), **settings)
    check_env_specs(env)
    played = env.rollout(60, break_when_any_done=False)
    assert played.shape == (5, 60)
    assert played["action_mask"].gather(-1, played["action"][..., None]).all()  # what the spec draws is legal
    assert played["next", "done"].any()


@pytest.mark.parametrize("settings", [*SETTINGS[::3], {"seat": "random", "start": "carried"}, {"illegal_reward": -7.5}], ids=str)
@pytest.mark.parametrize("game", GAMES)
def test_it_plays_the_episodes_of_the_vector_environment(game: str, settings: dict[str, Any]) -> None:
    settings = {"game": game, "players": seats_at_most(game, 4), **settings}
    env, twin, rng = SeatTorchEnv(4, **settings), SeatVecEnv(4, **settings), np.random.default_rng(1)
    twin.seed(5)
    assert env.set_seed(5) != 5
    seen, now = twin.reset(), env.reset()
    ends = 0
    for _ in range(240 if "rewards" in now else 60):
        np.testing.assert_array_equal(now["observation"], seen)
        np.testing.assert_array_equal(now["action_mask"], twin.action_masks())
        actions = np.argmax(rng.random((4, now["action_mask"].shape[1])) + now["action_mask"].numpy(), axis=1)
        if "illegal_reward" in settings and rng.random() < 0.2:
            actions[:] = rng.integers(0, now["action_mask"].shape[1], 4)
        seen, rewards, dones, infos = twin.step(actions)
        now["action"] = torch.from_numpy(actions)
        stepped, now = env.step_and_maybe_reset(now)
        after = stepped["next"]
        np.testing.assert_array_equal(after["reward"][:, 0], rewards)
        if "rewards" in after:
            np.testing.assert_array_equal(after["rewards"], twin.rewards)
            np.testing.assert_array_equal(now["seat"][:, 0], twin.seats)
        for flag in ("done", "terminated"):
            np.testing.assert_array_equal(after[flag][:, 0], dones)
        for i in np.flatnonzero(dones):
            np.testing.assert_array_equal(after["observation"][i], infos[i]["terminal_observation"])
            assert not after["action_mask"][i].any()
        assert env.seats.tolist() == twin.get_attr("seat")
        ends += int(dones.sum())
    assert ends > 10


def test_seeds_count_once_and_are_those_of_the_tables() -> None:
    env = SeatTorchEnv(3)
    one = env.reset(seed=4)
    env.set_seed(4)
    two, three = env.reset(), env.reset()
    assert (one["observation"] == two["observation"]).all()
    assert (two["observation"] != three["observation"]).any()
    assert (SeatTorchEnv(1).reset(seed=5)["observation"][0] == one["observation"][1]).all()
    with pytest.raises(DealError, match="seed"):
        env.set_seed(-1)
    with pytest.raises(DealError, match="Did you mean 'start'"):
        env.reset(options={"strat": {}})


def test_a_finished_table_rests_until_it_is_reset() -> None:
    env = SeatTorchEnv(8)
    now = env.reset(seed=2)
    total = torch.zeros(8, 1)
    for _ in range(200):
        before, now = now, env.step(env.rand_action(now))["next"]
        resting = before["done"][:, 0]
        assert (now["observation"][resting] == before["observation"][resting]).all()
        assert not now["reward"][resting].any()
        total += now["reward"]
        now = now.exclude("reward")
        if now["done"].all():
            break
    assert now["done"].all()
    assert total.any()
    reset = torch.tensor([True, False] * 4)[:, None]
    again = env.reset(now.set("_reset", reset))
    assert (again["done"] == ~reset).all()
    assert (again["observation"][1::2] == now["observation"][1::2]).all()


def test_in_self_play_a_finished_table_credits_its_seats_once() -> None:
    env = SeatTorchEnv(4, "djeco", 3, opponents="self")
    now, totals = env.reset(seed=1), torch.zeros(4, 3)
    while not now["done"].all():
        resting = now["done"][:, 0]
        now = env.step(env.rand_action(now))["next"]
        assert not now["rewards"][resting].any()
        totals += now["rewards"]
        now = now.exclude("reward")
    assert totals.any()
    assert (totals.sum(1) <= 0).all()  # chips stay in the pots


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    env = SeatTorchEnv(2, seat=0)
    now = env.reset(seed=1)
    tables = env._tables.batch.tables.tobytes()
    now["action"] = torch.argmin(now["action_mask"].int(), dim=1)
    with pytest.raises(IllegalActionError, match=r"legal: .*action_mask"):
        env.step(now)
    assert env._tables.batch.tables.tobytes() == tables
    with pytest.raises(AgentError, match="Expected one opponent"):
        SeatTorchEnv(2, opponents=["random"] * 7)


def test_tensors_are_new_at_each_step() -> None:
    env = SeatTorchEnv(4, opponents="random")
    first = env.reset(seed=0)
    kept = first.clone()
    env.step(env.rand_action(first.clone()))
    assert (first == kept).all()
