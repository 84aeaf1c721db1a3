"""Stable-Baselines3's vector environment: what its own DummyVecEnv gives over single tables, and what MaskablePPO is handed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecCheckNan, VecMonitor, VecNormalize

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env.agent import Agent, DecisionBatch, Rng
from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError, RulesError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.lazy_list import LazyList
from nainjaune_env.envs.opponents import Pool
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv
from nainjaune_env.registry import game_names
from tests.support.contract import helper
from tests.support.games import games_with, seats_at_most

GAMES = game_names()


class Highest:
    """The highest-numbered legal action."""

    name = "highest"

    def act(self, decisions: DecisionBatch, rng: Rng) -> np.ndarray:
        return np.array([int(word).bit_length() - 1 for word in decisions.legal], np.int64)


def heuristic_agents(game: str) -> list[Agent]:
    """Up to three agents of the game that leave nothing to chance."""
    return [agent for name, agent in sorted(heuristics(game).items()) if name != "random"][:3] or [Highest()]


def chosen(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A legal action for each row."""
    return np.argmax(rng.random(masks.shape) + masks, axis=1)


def same(one: Any, two: Any) -> bool:
    """Equal in value, type and dtype, all the way down."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


# ---------------------------------------------------------------- held against DummyVecEnv


@pytest.mark.parametrize(
    "settings",
    [
        {"seat": 1, "opponents": "random"},
        {"seat": "rotate", "opponents": "one each"},
        {"seat": "random", "opponents": "pool", "start": "carried"},
        {"illegal_reward": -7.5, "skip_forced": False},
        {"opponents": "self"},
    ],
    ids=str,
)
@pytest.mark.parametrize("game", GAMES)
def test_it_gives_what_dummy_vec_env_gives(game: str, settings: dict[str, Any]) -> None:
    agents = heuristic_agents(game)
    opponents = {"one each": agents, "pool": Pool(["random", *agents], [1, 2, 0, 3][: 1 + len(agents)])}
    named = settings.get("opponents", "random")
    drawn = opponents.get(named, named)
    settings = {**settings, "opponents": drawn, "players": seats_at_most(game, 4)}
    tables, rng = 4, np.random.default_rng(3)
    mine = SeatVecEnv(tables, game=game, **settings)
    plain = DummyVecEnv([lambda: SeatEnv(game=game, **settings)] * tables)
    assert mine.observation_space == plain.observation_space
    assert mine.action_space == plain.action_space
    ends = 0
    for seed in (11, None):
        if seed is not None:
            assert mine.seed(seed) == plain.seed(seed)
        assert same(mine.reset(), plain.reset())
        assert same([*mine.reset_infos], plain.reset_infos)
        for _ in range(120 if named == "self" else 40):
            masks = np.stack(mine.env_method("action_masks"))
            assert same(masks, np.stack(plain.env_method("action_masks")))
            assert same(masks, mine.action_masks())
            assert masks.any(axis=1).all()  # there is always something to choose
            actions = chosen(masks, rng)
            if "illegal_reward" in settings and rng.random() < 0.2:
                actions[:] = rng.integers(0, masks.shape[1], tables)
            one, two = mine.step(actions), plain.step(actions)
            assert isinstance(one[3], list)
            assert same([*one[:3], [*one[3]]], [*two])
            assert same([*mine.reset_infos], plain.reset_infos)
            ends += int(one[2].sum())
    assert ends > 10


@pytest.mark.parametrize("game", GAMES)
def test_seeds_and_options_count_once(game: str) -> None:
    rule = heuristic_agents(game)[0]
    settings: dict[str, Any] = {"game": game, "players": seats_at_most(game, 3), "seat": 0, "opponents": rule}
    mine = SeatVecEnv(3, **settings)
    plain = DummyVecEnv([lambda: SeatEnv(**settings)] * 3)
    table = Batch(mine.setup, 1, seed=99, skip_forced=False).tables[0]
    for venv in (mine, plain):
        venv.reset()
        venv.set_options([{}, {"table": table}, {}])
    assert mine.reset()[1].tobytes() == plain.reset()[1].tobytes()  # the others are seeded by the operating system
    for venv in (mine, plain):
        venv.seed(4)
    assert same(mine.reset(), plain.reset())
    assert same(mine.reset(), plain.reset())  # the generators went on, and no option is left


@pytest.mark.parametrize(
    ("seeds", "options"),
    [([1, 2], [{"start": {"pots": [1] * 5}}, {"startx": 1}]), ([1, 2], [{}, {"start": {"pots": [1]}}]), ([1, -1], [{}, {}])],
)
def test_a_reset_that_is_refused_begins_no_episode_and_uses_up_seeds_and_options(seeds: Any, options: Any) -> None:
    venv, twin = SeatVecEnv(2), SeatVecEnv(2)
    for each in (venv, twin):
        each.seed(1)
        each.reset()
    before = venv._tables.batch.tables.tobytes()
    venv._seeds = seeds
    venv.set_options(options)
    with pytest.raises(DealError):
        venv.reset()
    assert venv._tables.batch.tables.tobytes() == before
    assert same(venv.reset(), twin.reset())


def test_a_first_reset_that_is_refused_does_not_count_as_the_first() -> None:
    dealt = []
    for _ in range(2):
        venv = SeatVecEnv(2)
        venv.set_options([{"start": {"pots": [1] * 5}}, {"startx": 1}])
        with pytest.raises(DealError, match="startx"):
            venv.reset()
        venv.reset()
        dealt += venv._tables.batch.tables["rng"].tolist()
    assert len(set(dealt)) == 4  # seeded by the operating system


def test_observations_of_floats_have_the_same_values() -> None:
    """The last observations of episodes too; a VecNormalize around them gives what it stores, which it does not over bytes."""
    rng, pair = np.random.default_rng(5), [SeatVecEnv(6, "djeco", 3, dtype=dtype) for dtype in ("uint8", "float32")]
    for venv in pair:
        venv.seed(1)
    space = pair[1].observation_space
    assert (space.dtype, space.shape) == (np.float32, pair[0].observation_space.shape)
    assert (space.high == pair[0].observation_space.high).all()
    given, ended = [venv.reset() for venv in pair], 0
    for _ in range(40):
        assert [one.dtype for one in given] == [np.uint8, np.float32]
        assert (given[0] == given[1]).all()
        assert all(one in space for one in given[1])
        actions = chosen(pair[0].action_masks(), rng)
        steps = [venv.step(actions) for venv in pair]
        given = [observation for observation, *_ in steps]
        for one, other in zip(steps[0][3], steps[1][3], strict=True):
            if "terminal_observation" in one:
                ended += 1
                assert other["terminal_observation"].dtype == np.float32
                assert (one["terminal_observation"] == other["terminal_observation"]).all()
    assert ended


def test_a_vec_normalize_over_floats_is_stored_as_it_is() -> None:
    """SB3 stores observations in the dtype of their space: normalized ones over bytes wrap around (SB3, issue 2162)."""
    stored = {}
    for dtype in ("uint8", "float32"):
        venv = VecNormalize(SeatVecEnv(4, "djeco", 3, dtype=dtype, seat=0))
        model = MaskablePPO("MlpPolicy", venv, n_steps=8, batch_size=32, device="cpu", seed=1)
        with np.errstate(invalid="ignore"):  # of the conversion that wraps around
            model.learn(32)
        stored[dtype] = model.rollout_buffer.observations
    assert (stored["float32"] < 0).any()
    assert (stored["uint8"] >= 0).all()


def test_infos_are_made_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one, for good, and as they were at their step: a list that was kept does not follow the tables."""
    mine, plain = SeatVecEnv(6, seat="rotate"), DummyVecEnv([lambda: SeatEnv(seat="rotate")] * 6)
    made: list[int] = []
    filled = LazyList.fill
    monkeypatch.setattr(LazyList, "fill", lambda self: [made.append(len(self)), filled(self)][1])
    kept = []
    for venv in (mine, plain):
        rng = np.random.default_rng(1)
        venv.seed(8)
        venv.reset()
        kept.append([])
        for _ in range(30):
            _, _, dones, infos = venv.step(chosen(np.stack(venv.env_method("action_masks")), rng))
            kept[-1].append((infos, venv.reset_infos))
            for i in np.flatnonzero(dones):
                infos[i]["terminal_observation"] = infos[i]["terminal_observation"] * 2  # as VecNormalize does
    assert not made  # single infos were read only
    assert all(same([*one[0]], two[0]) for one, two in zip(*kept, strict=True))
    assert same([*kept[0][-1][1]], kept[1][-1][1])
    assert sum("terminal_observation" in info for infos, _ in kept[0] for info in infos) > 3


def test_options_for_all_tables_at_once() -> None:
    mine, plain = SeatVecEnv(6, "classic", 3), DummyVecEnv([lambda: SeatEnv("classic", 3)] * 6)
    seen = []
    for options in ({"start": {"pots": [1, 2, 3, 4, 5]}}, None):
        for venv in (mine, plain):
            venv.seed(1)
            venv.set_options(options)
        seen.append(mine.reset())
        assert same(seen[-1], plain.reset())
    assert (seen[0] != seen[1]).any(axis=1).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda venv: venv.set_options([{}]), DealError, "one for each of 2 tables, not 1"),
        (lambda venv: [venv.set_options({"strat": {}}), venv.reset()], DealError, "Did you mean 'start'"),
        (lambda venv: venv.step(np.zeros(3, np.int64)), IllegalActionError, r"shape \(2,\), not int64, shape \(3,\)"),
        (lambda venv: venv.step([[0], [0, 1]]), IllegalActionError, r"^Expected one whole number a table, not \[\[0\], \[0, "),
        (lambda venv: venv.step(np.zeros(2)), IllegalActionError, "Expected one whole number a table"),
        (lambda venv: venv.step(np.full(2, 1000)), IllegalActionError, "not legal at table 0"),
        (lambda venv: SeatVecEnv(2).step(np.zeros(2, np.int64)), IllegalActionError, r"call reset\(\) first"),
        (lambda venv: SeatVecEnv(2, render_mode="ansi").env_method("render"), DealError, r"call reset\(\) first"),
        (lambda venv: SeatVecEnv(2, render_mode="asci"), RulesError, "Did you mean 'ansi'"),
        (lambda venv: SeatVecEnv(2, dtype="float64"), RulesError, r"^Unknown dtype 'float64'.*uint8, float32"),
        (lambda venv: SeatVecEnv(2, dtype=np.float32), RulesError, r"^Unknown dtype <class 'numpy\.float32'>"),
        (lambda venv: venv.get_attr("mask"), AttributeError, "mask"),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], message: str) -> None:
    venv = SeatVecEnv(2)
    venv.reset()
    with pytest.raises(error, match=message):
        call(venv)


def test_nothing_has_changed_where_an_action_is_refused() -> None:
    venv, twin = SeatVecEnv(3), SeatVecEnv(3)
    for each in (venv, twin):
        each.seed(5)
        each.reset()
    with pytest.raises(IllegalActionError):
        venv.step(np.array([*chosen(venv.action_masks(), np.random.default_rng(0))[:2], 1000]))
    actions = chosen(venv.action_masks(), np.random.default_rng(0))
    one, two = venv.step(actions), twin.step(actions)
    assert same([*one[:3], [*one[3]]], [*two[:3], [*two[3]]])


# ---------------------------------------------------------------- single tables


def test_attributes_and_methods_of_single_tables() -> None:
    venv = SeatVecEnv(4, "djeco", 4, opponents="lowest", seat=2, render_mode="ansi")
    venv.seed(1)
    venv.reset()
    assert venv.get_attr("seat") == [2] * 4
    assert venv.get_attr("setup", 1) == [venv.setup]
    assert venv.get_attr("unwrapped", [0])[0].action_space == venv.action_space
    assert [agent.name for agent in venv.get_attr("opponents", 0)[0]] == ["lowest"]
    assert venv.has_attr("action_masks")
    assert not venv.has_attr("action_mask")
    masks = venv.env_method("action_masks", indices=[3, 0])
    assert same(np.stack(masks), venv.action_masks()[[3, 0]])
    assert venv.env_is_wrapped(Monitor, [0, 1]) == [False, False]
    single = SeatEnv("djeco", 4, opponents="lowest", seat=2, render_mode="ansi")
    single.reset(seed=1 + 2)
    assert venv.env_method("render")[2] == single.render()
    venv.set_attr("label", "mine", [1])
    assert venv.get_attr("label", 1) == ["mine"]
    assert not venv.has_attr("label")  # not at every table
    assert SeatVecEnv(1).env_method("render") == [None]
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert venv.get_images() == [None] * 4
    venv.close()


@pytest.mark.parametrize("game", games_with("pictures"))
def test_tables_are_drawn_as_their_learners_see_them(game: str) -> None:
    venv = SeatVecEnv(3, game=game, render_mode="rgb_array")
    single = DummyVecEnv([lambda: SeatEnv(game=game, render_mode="rgb_array")])  # a film has its pictures a second
    assert venv.metadata == single.metadata == venv.get_attr("metadata")[2]
    venv.seed(1)
    venv.reset()
    images = venv.get_images()
    assert all(image is not None and image.dtype == np.uint8 and image.shape[2] == 3 for image in images)
    tiled = venv.render()
    assert tiled is not None
    height, width, _ = images[0].shape
    assert tiled.shape == (2 * height, 2 * width, 3)
    assert np.array_equal(tiled[:height, width:], images[1])
    assert not np.array_equal(images[0], images[1])


# ---------------------------------------------------------------- what is learned from


def small_model(venv: Any, **settings: Any) -> MaskablePPO:
    return MaskablePPO(
        "MlpPolicy", venv, **{"n_steps": 16, "batch_size": 64, "n_epochs": 1, "seed": 2, "device": "cpu", **settings}
    )


@pytest.mark.parametrize("game", GAMES)
def test_maskable_ppo_is_handed_the_masks_that_the_rules_say(game: str) -> None:
    """Through wrappers too. Masks that are all true, an opponent's, or of the step before would be others."""
    rule = heuristic_agents(game)[0]
    venv = SeatVecEnv(8, game=game, players=seats_at_most(game, 3), opponents=rule)
    wrapped = VecCheckNan(VecMonitor(venv), raise_exception=True)
    assert is_masking_supported(wrapped)
    model = small_model(wrapped)
    model.learn(8 * 16)  # seeded with 2 when the model was made
    buffer = model.rollout_buffer
    rows = buffer.action_masks.reshape(8, 16, -1).astype(bool)
    actions = buffer.actions.reshape(8, 16).astype(np.int64)
    assert not rows.all(axis=2).any()
    twin = SeatVecEnv(8, game=game, players=seats_at_most(game, 3), opponents=rule)
    twin.seed(2)
    twin.reset()
    for t in range(16):
        assert np.array_equal(rows[:, t], twin.action_masks())
        assert np.array_equal(buffer.rewards[t], twin.step(actions[:, t])[1])
    assert len(model.ep_info_buffer) > 0  # VecMonitor's


# ---------------------------------------------------------------- SB3's own checker, and hidden cards


@pytest.fixture
def seat_envs() -> Iterator[list[SeatEnv]]:
    modes = [*((game, None) for game in GAMES), *((game, "ansi") for game in games_with("render_text"))]
    envs = [SeatEnv(game=game, illegal_reward=-1, render_mode=mode) for game, mode in modes]
    yield envs
    for env in envs:
        env.close()


def test_stable_baselines_checker_passes(seat_envs: list[SeatEnv]) -> None:
    """Every warning of its is an error here, and it has none."""
    for env in seat_envs:
        check_env(env, warn=True, skip_render_check=False)


@pytest.mark.parametrize("game", GAMES)
def test_what_is_hidden_reaches_nobody(game: str) -> None:
    """Other hands for the others, the same bytes: observations, masks, infos and pictures."""
    mixer, tables, hidden = random.Random(4), 12, 0
    rule = heuristic_agents(game)[0]
    mode = "ansi" if game in games_with("render_text") else None
    players = seats_at_most(game, 3)
    settings: dict[str, Any] = {"game": game, "players": players, "opponents": rule, "seat": 1, "render_mode": mode}
    venv, twin = SeatVecEnv(tables, **settings), SeatVecEnv(tables, **settings)
    venv.seed(7)
    seen = venv.reset()
    rows = venv._tables.batch.tables.copy()
    others = [helper(venv.setup).reshuffle(venv.setup, row, 1, mixer) for row in rows]
    hidden = sum(one.tobytes() != two.tobytes() for one, two in zip(rows, others, strict=True))
    twin.set_options([{"table": other} for other in others])
    assert same(twin.reset(), seen)
    assert same([*twin.reset_infos], [*venv.reset_infos])
    assert same(twin.action_masks(), venv.action_masks())
    again = SeatVecEnv(tables, **settings)
    again.set_options([{"table": row} for row in rows])
    again.reset()
    assert twin.env_method("render") == again.env_method("render")
    assert hidden > 6


# ---------------------------------------------------------------- pools of opponents


def test_a_pool_seats_its_opponents_as_often_as_its_weights_say() -> None:
    venv = SeatVecEnv(1, "djeco", 4, opponents=Pool(["lowest", "tally", "longest"], [1, 0, 3]))
    names: list[str] = []
    venv.seed(0)
    for _ in range(400):
        venv.reset()
        names += [name for name in venv._tables.names(0, "me") if name != "me"]
    assert set(names) == {"lowest", "longest"}
    assert abs(names.count("longest") - 900) < 4.5 * (1200 * 3 / 16) ** 0.5


@pytest.mark.parametrize("weights", [[1.0], [1, -1], [0, 0], [1, float("nan")], 3, None, ["1", "2"], [[1], [1, 2]]])
def test_weights_that_are_none_are_refused(weights: Any) -> None:
    with pytest.raises(AgentError, match="weights are 2 numbers, none below 0 and not all 0"):
        Pool(["random", "random"], weights)
    with pytest.raises(AgentError, match="at least one opponent"):
        Pool([], weights)


@pytest.mark.parametrize("agents", [False, True, None, 3, b"x", {"tally"}, "tally"])
def test_a_pool_is_of_a_sequence(agents: Any) -> None:
    with pytest.raises(AgentError, match=r"^A pool's agents are a sequence of opponents, as in .*, not "):
        Pool(agents)
