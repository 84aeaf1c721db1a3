"""PufferLib's native environment: the episodes of Stable-Baselines3's vector environment, in PufferLib's own arrays."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import game_names
from tests.support.contract import all_setups, helper, single
from tests.support.example import run_example
from tests.support.games import seats_at_most
from tests.support.pufferlib import pufferlib_or_skip
from tests.support.source import ROOT

pufferlib_or_skip()

import pufferlib.vector  # noqa: E402

from nainjaune_env.envs.pufferlib_env import SeatPufferEnv  # noqa: E402
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv  # noqa: E402

SETTINGS: list[dict[str, Any]] = [
    {"opponents": "self"},
    {"seat": 1, "skip_forced": False},
    {"episode": "match", "start": "carried"},
    {"illegal_reward": -7.5},
]


def legal_choice(mask: Any, rng: np.random.Generator) -> Any:
    return np.argmax(rng.random(mask.shape) + mask, axis=1)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("game", game_names())
def test_it_plays_the_episodes_of_the_vector_environment(game: str, settings: dict[str, Any]) -> None:
    settings = {"game": game, "players": seats_at_most(game, 4), **settings}
    env, twin, rng = SeatPufferEnv(4, **settings), SeatVecEnv(4, **settings), np.random.default_rng(1)
    twin.seed(3 * 4)
    seen, (observations, infos) = twin.reset(), env.reset(seed=3)
    assert infos == []
    payoffs, ends = np.zeros(4), 0
    for _ in range(400):
        np.testing.assert_array_equal(observations[:, env.layout_slice], seen)
        np.testing.assert_array_equal(observations[:, env.mask_slice], twin.action_masks())
        np.testing.assert_array_equal(env.action_mask, twin.action_masks())
        assert env.observation_space.contains(observations)
        actions = legal_choice(env.action_mask, rng)
        if "illegal_reward" in settings and rng.random() < 0.2:
            actions[:] = rng.integers(0, env.single_action_space.n, 4)
        seen, expected, dones, _ = twin.step(actions)
        observations, rewards, terminals, truncations, infos = env.step(actions.astype(np.int32))
        np.testing.assert_array_equal(rewards, expected)
        np.testing.assert_array_equal(terminals, dones)
        assert not truncations.any()
        assert env.masks.all()
        assert env.seats.tolist() == twin.get_attr("seat")
        np.testing.assert_array_equal(env.acted, twin.acted)
        np.testing.assert_array_equal(env.seat_rewards, twin.rewards)
        payoffs += expected
        ended = dones.any() and settings.get("opponents") != "self"
        assert infos == ([{"episode_return": payoffs[dones].tolist()}] if ended else [])
        payoffs[dones] = 0
        ends += int(dones.sum())
        if ends > 20:
            break
    assert ends > 3


@pytest.mark.parametrize(
    ("backend", "more"),
    [("PufferEnv", {}), ("Serial", {"num_envs": 2}), ("Multiprocessing", {"num_envs": 2, "num_workers": 2, "overwork": True})],
)
def test_pufferlibs_vectorization_plays_the_games_of_as_many_tables(backend: str, more: dict[str, int]) -> None:
    settings = {"preset": "djeco", "players": 4, "opponents": "tally"}
    count = 3 * more.get("num_envs", 1)
    envs = pufferlib.vector.make(SeatPufferEnv, env_kwargs={**settings, "num_envs": 3}, backend=backend, **more)
    twin, rng, env = SeatVecEnv(count, **settings), np.random.default_rng(1), envs.driver_env
    try:
        twin.seed(3 * 7)
        seen, (observations, _) = twin.reset(), envs.reset(seed=7)
        ends = 0
        for _ in range(40):
            np.testing.assert_array_equal(observations[:, env.layout_slice], seen)
            np.testing.assert_array_equal(observations[:, env.mask_slice], twin.action_masks())
            actions = legal_choice(observations[:, env.mask_slice], rng)
            seen, expected, dones, _ = twin.step(actions)
            observations, rewards, terminals, truncations, _ = envs.step(actions)
            np.testing.assert_array_equal(rewards, expected)
            np.testing.assert_array_equal(terminals, dones)
            assert not truncations.any()
            ends += int(dones.sum())
        assert ends > 5
    finally:
        envs.close()


def test_the_buffers_are_those_that_are_given() -> None:
    own = SeatPufferEnv(4)
    names = ("observations", "rewards", "terminals", "truncations", "masks", "actions")
    buf = {name: np.ones_like(np.repeat(getattr(own, name), 2, axis=0)) for name in names}
    rows = {name: array[4:] for name, array in buf.items()}  # as the vectorization gives them: a part of larger arrays
    env = SeatPufferEnv(4, buf=rows, seed=1)
    returned = env.reset()[0]
    assert returned is rows["observations"]
    expected = own.reset(seed=1)[0]
    for _ in range(30):
        actions = own.action_mask.argmax(axis=1)
        for array, one, twin in zip(list(rows.values())[:4], env.step(actions), own.step(actions), strict=False):
            assert array is one
            np.testing.assert_array_equal(one, twin)
    assert expected is own.observations
    for name in names:
        assert (buf[name][:4] == 1).all(), name


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    env = SeatPufferEnv(2, seat=0)
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(np.zeros(2, np.int64))
    env.reset(seed=1)
    env.step(env.action_mask.argmax(axis=1))
    arrays = (env._tables.batch.tables, env.observations, env.rewards, env.terminals, env.acted, env.seat_rewards)
    before = [array.tobytes() for array in arrays]
    for actions in (env.action_mask.argmin(axis=1), np.array([0, -1]), np.array([env.single_action_space.n, 0])):
        with pytest.raises(IllegalActionError, match=r"legal: .*action_mask"):
            env.step(actions)
    with pytest.raises(IllegalActionError, match="whole numbers"):
        env.step(np.zeros(2))
    with pytest.raises(IllegalActionError, match=r"one action a table, shape \(2,\), not \(2, 1\)"):
        env.step(env.action_mask.argmax(axis=1)[:, None])
    assert [array.tobytes() for array in arrays] == before
    with pytest.raises(AgentError, match="Expected one opponent"):
        SeatPufferEnv(2, opponents=["random"] * 7)


def test_seeds_count_once_and_rewards_can_be_scaled() -> None:
    env, scaled = SeatPufferEnv(3, seed=4), SeatPufferEnv(3, reward_scale=0.25)
    first = env.reset()[0].copy()
    assert (env.reset()[0] != first).any()
    np.testing.assert_array_equal(env.reset(seed=4)[0], first)
    np.testing.assert_array_equal(scaled.reset(seed=4)[0], first)
    gained = False
    for _ in range(20):
        actions = env.action_mask.argmax(axis=1)
        _, rewards, _, _, infos = env.step(actions)
        _, quarters, _, _, others = scaled.step(actions)
        np.testing.assert_array_equal(rewards, 4 * quarters)
        assert infos == others  # returns are in chips
        gained |= bool(rewards.any())
    assert gained
    for seed in (-1, "one", 2**63 - 1):
        with pytest.raises(DealError, match="seed"):
            env.reset(seed=seed)


@pytest.mark.parametrize("setup", all_setups())
def test_n6_what_is_handed_out_follows_from_what_the_seat_may_know(setup: Setup) -> None:
    """The seat to act is handed the same in two deals that differ in what it may not know."""
    env = SeatPufferEnv(2, setup.preset, setup.players, game=setup.game.name, opponents="self", skip_forced=False)
    rng, differ = random.Random(1), 0
    for seed in range(8):
        dealt = single(setup, seed=seed)
        for _ in range(rng.randrange(6)):
            dealt.step(dealt.mask.argmax(axis=1))
        table = dealt.tables[0]
        if dealt.done[0]:
            continue
        seat = int(table["seat"])
        pair = (table, helper(setup).reshuffle(setup, table, seat, rng))
        for i, one in enumerate(pair):
            env._tables.reset(np.array([i]), None, {"table": one})
        env._observe()
        assert env.seats.tolist() == [seat, seat]
        assert env.observations[0].tobytes() == env.observations[1].tobytes()
        np.testing.assert_array_equal(env.observations[0, env.layout_slice], dealt.observe(seat)[0])
        differ += any((pair[0][name] != pair[1][name]).any() for name in table.dtype.names if name != "rng")
    assert differ


def test_the_page_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "adaptors" / "pufferlib.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python no-test\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    run_example(code, "pufferlib.md")
    assert "chips a round" in capsys.readouterr().out
