"""The native vector environment, held against ``SyncVectorEnv`` over as many single ones, seed by seed."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import NumpyToTorch

import nainjaune_env  # noqa: F401  (enters the games in Gymnasium's registry)
from nainjaune_env.core.errors import DealError, IllegalActionError, RulesError
from nainjaune_env.core.validation import MAX_SEED
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.envs.spaces import LegalDiscrete, LegalMultiDiscrete

TABLES = 4
SETTINGS: dict[str, dict[str, Any]] = {
    "rotating, one drawing at random": {"preset": "djeco", "players": 3, "opponents": ["tally", "random"]},
    "forgetful, random seat": {"preset": "batasaurus", "players": 3, "opponents": "mirror@remember=0.5", "seat": "random"},
    "matches": {"preset": "skip", "players": 5, "seat": 2, "episode": "match", "max_rounds": 2},
    "carried": {"preset": "skip", "players": 6, "start": "carried"},
    "every ply": {"preset": "tableau", "players": 4, "skip_forced": False},
    "self-play": {"preset": "djeco", "players": 4, "opponents": "self", "hand": 4},
    "blind": {"preset": "classic", "players": 3, "illegal_reward": -5.0},
}


def both(mode: AutoresetMode, settings: dict[str, Any]) -> tuple[SeatVectorEnv, SyncVectorEnv]:
    name = "Batasaurus-v0" if settings["preset"] == "batasaurus" else "NainJaune-v0"
    ours = gymnasium.make_vec(name, num_envs=TABLES, autoreset_mode=mode, **settings)
    assert isinstance(ours, SeatVectorEnv)
    single = SyncVectorEnv([lambda: SeatEnv(**settings) for _ in range(TABLES)], autoreset_mode=mode)
    return ours, single


def same(one: Any, two: Any) -> None:
    assert data_equivalence(one, two, exact=True), (one, two)


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_it_is_so_many_single_environments(settings: dict[str, Any], mode: AutoresetMode) -> None:
    ours, singles = both(mode, settings)
    same(ours.reset(seed=3), singles.reset(seed=3))
    same(ours.single_observation_space, singles.single_observation_space)
    same(ours.observation_space, singles.observation_space)
    assert ours.single_action_space == singles.single_action_space
    assert ours.action_space == singles.action_space
    ended = 0
    for step in range(60):
        actions = ours.action_space.sample()
        if "illegal_reward" in settings and step % 7 == 0:
            actions = np.full(TABLES, step % ours.single_action_space.n)
        one, two = ours.step(actions), singles.step(actions)
        same(one, two)
        ended += one[2].sum()
        if mode is AutoresetMode.DISABLED and one[2].any():
            same(ours.reset(options={"reset_mask": one[2]}), singles.reset(options={"reset_mask": one[2]}))
        if step == 40:
            same(ours.reset(seed=[9, 8, 9, 7]), singles.reset(seed=[9, 8, 9, 7]))
    assert ended > TABLES


def test_what_is_given_out_is_not_written_over() -> None:
    envs = SeatVectorEnv(3, "djeco", 3)
    observation, info = envs.reset(seed=1)
    kept = observation.copy(), info["action_mask"].copy()
    envs.step(envs.action_space.sample())
    assert (observation == kept[0]).all()
    assert (info["action_mask"] == kept[1]).all()


def test_a_table_that_is_over_must_be_reset_where_nothing_resets_it() -> None:
    envs = SeatVectorEnv(2, "djeco", 3, autoreset_mode="Disabled")
    envs.reset(seed=1)
    while not (ended := envs.step(envs.action_space.sample())[2]).any():
        pass
    with pytest.raises(IllegalActionError, match=f"No episode is running at table {ended.argmax()}"):
        envs.step(envs.action_space.sample())
    assert not envs.action_masks()[ended].any()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"seed": [1, 2]}, "one for each of 3 tables, not 2"),
        ({"seed": 1.5}, rf"whole number from 0 to {MAX_SEED}, not 1\.5\.$"),
        ({"seed": [1, -2, 3]}, r"from 0 to \d+, not -2\.$"),
        ({"seed": float("nan")}, rf"whole number from 0 to {MAX_SEED}, not nan\.$"),
        ({"seed": (1 << 64) - 2}, rf"from 0 to {MAX_SEED}, not {MAX_SEED + 1}\.$"),  # the last table's would be 2**64
        ({"options": 5}, "The options of reset are a mapping"),
        ({"options": {"reset_mask": [True, False, False]}}, "'reset_mask' is a bool array of shape"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "with at least one True"),
        ({"options": {"reset_mask": "x" * 10**6}}, r"True, not .{1,200}\.$"),
        ({"options": "x" * 10**6}, r"are a mapping with the keys start, table, not .{1,200}\.$"),
        ({"options": {"start": "x" * 10**6}}, r"a mapping of values by name, not .{1,200}\.$"),
        ({"options": {"start": {"pots": ["x" * 10**6, []]}}}, r"rows of one length, not .{1,200}\.$"),
        ({"options": {"pots": 1}}, "Unknown reset option 'pots'"),
        ({"options": {"reset_maks": 1}}, r"'reset_maks'\. Did you mean 'reset_mask'\? Valid: start, table, reset_mask"),
    ],
)
def test_resets_that_cannot_be_are_refused(arguments: Any, sentence: str) -> None:
    envs = SeatVectorEnv(3, "djeco", 3)
    envs.reset(seed=1)
    before = envs._tables.batch.tables.tobytes()
    with pytest.raises(DealError, match=sentence):
        envs.reset(**arguments)
    assert envs._tables.batch.tables.tobytes() == before


def test_the_callers_options_are_not_changed() -> None:
    envs = SeatVectorEnv(2, "djeco", 3)
    options = {"reset_mask": np.array([True, False]), "start": {"pots": [9, 0, 0, 0, 0]}}
    envs.reset(seed=1)
    _, info = envs.reset(options=options)
    assert sorted(options) == ["reset_mask", "start"]
    assert info["_action_mask"].tolist() == [True, False]


def test_after_a_partial_reset_infos_are_of_its_tables_and_masks_of_all() -> None:
    """Gymnasium's vector environments leave rows of infos 0 where they say nothing; ``_action_mask`` marks the others."""
    envs = SeatVectorEnv(3, "djeco", 3, autoreset_mode="Disabled")
    envs.reset(seed=1)
    while not (ended := envs.step(envs.action_space.sample())[2]).any():
        pass
    before = envs.action_masks()
    _, infos = envs.reset(options={"reset_mask": ended})
    assert (infos["_action_mask"] == ended).all()
    assert not infos["action_mask"][~ended].any()
    assert (envs.action_masks()[~ended] == before[~ended]).all()
    assert (envs.action_masks()[ended] == infos["action_mask"][ended]).all()
    assert envs.action_masks().any(axis=1).all()


def test_illegal_actions_name_the_table_and_change_nothing() -> None:
    envs = SeatVectorEnv(3, "djeco", 3)
    _, info = envs.reset(seed=1)
    actions = envs.action_space.sample()
    actions[2] = int(np.flatnonzero(info["action_mask"][2] == 0)[0])
    before = envs._tables.batch.tables.tobytes()
    with pytest.raises(IllegalActionError, match="not legal at table 2"):
        envs.step(actions)
    with pytest.raises(IllegalActionError, match=r"shape \(3,\), not \(2,\)"):
        envs.step(actions[:2])
    with pytest.raises(IllegalActionError, match=r"^Expected one action a table, not \[\[0\], \[0, 1\]\]\.$"):
        envs.step([[0], [0, 1]])  # type: ignore[arg-type]
    assert envs._tables.batch.tables.tobytes() == before


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64])
def test_where_illegal_actions_cost_actions_may_be_of_any_whole_kind(kind: Any) -> None:
    envs = SeatVectorEnv(3, "djeco", 3, illegal_reward=-999.5)
    _, info = envs.reset(seed=1)
    actions = envs.action_space.sample()
    actions[2] = int(np.flatnonzero(info["action_mask"][2] == 0)[0])
    for wrong in (float, bool):
        with pytest.raises(IllegalActionError, match="Actions are whole numbers, not an array of"):
            envs.step(actions.astype(wrong))
    _, rewards, ended, _, _ = envs.step(actions.astype(kind))
    assert (rewards[2], bool(ended[2])) == (-999.5, True)
    assert (rewards[:2] > -999).all()


def test_every_table_is_drawn_as_its_learner_sees_it() -> None:
    envs = SeatVectorEnv(2, "djeco", 3, render_mode="svg", opponents="lowest")
    with pytest.raises(DealError, match=r"reset\(\)"):
        envs.render()
    envs.reset(seed=4)
    singles = [SeatEnv("djeco", 3, render_mode="svg", opponents="lowest") for _ in range(2)]
    for i, env in enumerate(singles):
        env.reset(seed=4 + i)
    assert envs.render() == tuple(env.render() for env in singles)
    assert SeatVectorEnv(2, "djeco", 3).render() is None
    with pytest.raises(RulesError, match="render mode"):
        SeatVectorEnv(2, "djeco", 3, render_mode="human")


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(RulesError, match="Unknown autoreset mode 'next'"):
        SeatVectorEnv(3, "djeco", 3, autoreset_mode="next")
    with pytest.raises(DealError, match="at least 1 table"):
        SeatVectorEnv(0, "djeco", 3)


def test_call_returns_what_a_sync_vector_environment_returns() -> None:
    envs = SeatVectorEnv(3, "djeco", 3, render_mode="ansi")
    singles = SyncVectorEnv([lambda: SeatEnv("djeco", 3, render_mode="ansi")] * 3)
    for vector in (envs, singles):
        vector.reset(seed=4)
    masks = envs.call("action_masks")
    assert [mask.tolist() for mask in masks] == [mask.tolist() for mask in singles.call("action_masks")]
    assert all(mask.dtype == np.bool_ for mask in masks)
    for name in ("render", "render_mode", "setup"):
        assert envs.call(name) == singles.call(name) == envs.get_attr(name)
    assert envs.np_random_seed == singles.np_random_seed == (4, 5, 6)
    envs.reset(options={"reset_mask": np.array([False, True, True])}, seed=[0, None, 9])
    assert envs.np_random_seed == (4, 5, 9)
    assert [[agent.name for agent in agents] for agents in envs.call("opponents")] == [["random"]] * 3
    assert SeatVectorEnv(2, "djeco", 3).call("render") == (None, None)
    with pytest.raises(AttributeError, match=r"of single tables 'action_mask'\. Did you mean 'action_masks'"):
        envs.call("action_mask")
    with pytest.raises(TypeError, match="takes no arguments"):
        envs.call("action_masks", 1)


# ---------------------------------------------------------------- the action spaces


def test_a_space_draws_every_legal_action_and_no_other() -> None:
    mask = np.array([0, 1, 0, 1, 1], np.int8)
    space = LegalDiscrete(mask)
    space.seed(1)
    assert {int(space.sample()) for _ in range(100)} == {1, 3, 4}
    assert int(space.sample(np.array([1, 0, 0, 0, 0], np.int8))) == 0
    assert space == gymnasium.spaces.Discrete(5)
    mask[:] = 0
    assert {int(space.sample()) for _ in range(200)} == set(range(5))


def test_so_does_a_space_of_many() -> None:
    masks = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]], np.int8)
    space = LegalMultiDiscrete(masks)
    space.seed(1)
    drawn = np.array([space.sample() for _ in range(200)])
    assert [sorted(set(column.tolist())) for column in drawn.T] == [[1, 2], [0], [0, 1, 2]]
    assert all(space.contains(row) for row in drawn)
    assert space.sample(tuple(np.array([1, 0, 0], np.int8) for _ in range(3))).tolist() == [0, 0, 0]


def test_gymnasiums_wrapper_makes_tensors_of_it() -> None:
    """`NumpyToTorch` imports array_api_compat, which the extra `train` installs."""
    plain = gymnasium.make_vec("NainJaune-v0", num_envs=TABLES, preset="djeco", players=3, opponents="random")
    envs = NumpyToTorch(gymnasium.make_vec("NainJaune-v0", num_envs=TABLES, preset="djeco", players=3, opponents="random"))
    expected, info = plain.reset(seed=3)
    observation, _ = envs.reset(seed=3)
    assert isinstance(observation, torch.Tensor)
    np.testing.assert_array_equal(observation.numpy(), expected)
    actions = info["action_mask"].argmax(axis=1)
    for one, two in zip(envs.step(torch.tensor(actions))[:4], plain.step(actions)[:4], strict=True):
        assert isinstance(one, torch.Tensor)
        np.testing.assert_array_equal(one.numpy(), two)


@pytest.mark.long
def test_processes_that_are_spawned_play_the_same() -> None:
    """As on macOS and Windows, where a process begins without the modules of the one that starts it."""

    def played(**settings: Any) -> list[bytes]:
        envs = gymnasium.make_vec("NainJaune-v0", num_envs=2, preset="djeco", players=3, **settings)
        observations, infos = envs.reset(seed=3)
        shown = [observations.tobytes()]
        for _ in range(20):
            observations, rewards, done, _, infos = envs.step(np.array([mask.argmax() for mask in infos["action_mask"]]))
            shown += [observations.tobytes(), rewards.tobytes(), done.tobytes()]
        envs.close()
        return shown

    alone = played(vectorization_mode="sync")
    assert played(vectorization_mode="async", vector_kwargs={"context": "spawn"}) == alone
