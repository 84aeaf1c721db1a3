"""Self-play, one row a decision: the games of a batch, gains credited where a seat next decides, and nothing hidden shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_env import make_setup
from nainjaune_env.core.errors import AgentError, RulesError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.envs.learner_tables import LearnerTables
from nainjaune_env.registry import game_names
from tests.support.games import seats_at_most

TABLES = 8
SETTINGS: list[dict[str, Any]] = [{}, {"skip_forced": False}, {"start": "carried"}, {"episode": "match"}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("game", game_names())
def test_the_games_of_the_batch_with_gains_credited_at_the_next_decision_of_a_seat(game: str, settings: dict[str, Any]) -> None:
    setup = make_setup(game, None, seats_at_most(game, 4))
    tables, which = LearnerTables(setup, TABLES, "self", **settings), np.arange(TABLES)
    tables.reset(which, [5] * TABLES)
    twins = [Batch(setup, 1, seed=5, autoreset=False, **settings) for _ in which]
    owed = np.zeros((TABLES, setup.players))
    rng, ends = np.random.default_rng(1), 0
    assert not tables.rewards.any()
    for _ in range(150):
        mask, before = tables.batch.mask[which], tables.learner.copy()
        actions = (mask * (1 + rng.random(mask.shape))).argmax(axis=1)
        gained = tables.step(actions, which)
        for i, batch in enumerate(twins):
            batch.step(actions[i : i + 1])
            owed[i] += batch.reward[0]
            over, credited = bool(batch.done[0]), np.zeros(setup.players)
            seat = before[i] if over else batch.seat[0]
            credited[:] = owed[i] if over else np.where(np.arange(setup.players) == seat, owed[i], 0)
            owed[i] -= credited
            assert (tables.learner[i], tables.batch.done[i]) == (seat, over)
            np.testing.assert_array_equal(tables.rewards[i], credited)
            assert gained[i] == credited[seat]
            np.testing.assert_array_equal(tables.batch.observation[which][i], batch.observe(int(seat))[0])
            np.testing.assert_array_equal(tables.batch.mask[which][i], batch.mask[0])
            if over:
                assert not owed[i].any()
                ends += 1
                seed = int(rng.integers(1000))
                tables.reset(which[i : i + 1], [seed])
                batch.reset(seed=seed)
        if ends > 12:
            break
    assert ends > 3


def test_rewards_of_an_episode_sum_to_every_seats_payoff() -> None:
    env, seats, payoffs = SeatEnv("djeco", 4, opponents="self"), set(), np.zeros(4, np.int32)
    env.action_space.seed(1)
    for seed in range(8):
        total, over = np.zeros(4), False
        _, info = env.reset(seed=seed)
        while not over:
            seats.add(info["seat"])
            _, reward, over, _, info = env.step(env.action_space.sample())
            assert reward == info["rewards"][info["seat"]]
            assert over or not np.delete(info["rewards"], info["seat"]).any()
            total += info["rewards"]
        env.setup.game.kernel.payoffs(env._tables.batch.tables[0], env.setup.kernel_rules, payoffs)
        assert total.tolist() == payoffs.tolist()
    assert seats == {0, 1, 2, 3}


def test_what_does_not_go_with_self_play_is_refused() -> None:
    with pytest.raises(RulesError, match="the learner has every seat, so 'seat' is not set to 2"):
        SeatVectorEnv(2, "djeco", 4, opponents="self", seat=2)
    with pytest.raises(RulesError, match="so 'illegal_reward' is None"):
        SeatVectorEnv(2, "djeco", 4, opponents="self", illegal_reward=-1.0)
    with pytest.raises(AgentError, match="self"):
        SeatVectorEnv(2, "djeco", 4, opponents=["self", "tally", "tally"])
