"""The PettingZoo environment: rewards, masks, records. Resets are in ``test_opening``, PettingZoo's own tests in their suite."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pettingzoo
import pytest

import nainjaune_env
from nainjaune_env import game_names, get_game, make_setup
from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError, RecordError, RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.envs import pettingzoo_aec
from nainjaune_env.envs.registration import register
from nainjaune_env.records.record import verify_record
from tests.envs.playing import choose, play
from tests.support.contract import all_setups, payoffs
from tests.support.games import without

PRESETS = [(game, preset) for game in game_names() for preset in get_game(game).presets]


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("setup", all_setups())
def test_rewards_sum_to_the_payoff(setup: Setup, skip_forced: bool) -> None:
    env = nainjaune_env.env(setup.preset, setup.players, game=setup.game.name, skip_forced=skip_forced)
    rng = np.random.default_rng(setup.players)
    for seed in range(2):
        env.reset(seed=seed)
        returns = play(env, rng)
        assert list(returns.values()) == payoffs(env.unwrapped._batch)
        assert all(type(chips) is int for chips in returns.values())
        assert not env.agents


def test_the_acting_agents_own_reward_waits_for_its_next_turn() -> None:
    env = nainjaune_env.env()
    env.reset(seed=0)
    first = env.agent_selection
    assert env.last()[1] == 0
    env.step(choose(env.observe(first)["action_mask"], np.random.default_rng(0)))
    handed = dict(env.rewards)
    assert all(chips == -15 for agent, chips in handed.items() if agent != first)  # their antes
    while env.agent_selection != first:
        env.step(int(np.argmax(env.last()[0]["action_mask"])))
        handed = {agent: chips + env.rewards[agent] for agent, chips in handed.items()}
    assert env.last()[1] == handed[first]


def test_all_terminate_at_once_and_each_takes_its_last_reward() -> None:
    env = nainjaune_env.env()
    env.reset(seed=5)
    rng = np.random.default_rng(5)
    while not any(env.terminations.values()):
        env.step(choose(env.last()[0]["action_mask"], rng))
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    waiting = dict(env.unwrapped._cumulative_rewards)
    taken = {}
    for agent in env.agent_iter():
        observation, taken[agent], terminated, _, info = env.last()
        assert terminated
        assert not observation["action_mask"].any()
        assert not info["action_mask"].any()
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)
    assert taken == waiting
    assert env.agents == []


@pytest.mark.parametrize(("game", "preset"), PRESETS)
def test_observations_fit_their_space_for_every_seat_at_any_time(game: str, preset: str) -> None:
    env = nainjaune_env.env(preset=preset, game=game, skip_forced=False)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    while not any(env.terminations.values()):
        acting = env.agent_selection
        for agent in env.agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            np.testing.assert_array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
            assert seen["action_mask"].any() == (agent == acting)
        env.step(choose(env.infos[acting]["action_mask"], rng))
    for agent in env.agents:
        assert env.observation_space(agent).contains(env.observe(agent))
    assert env.state_space.contains(env.state())


def test_an_illegal_action_names_the_legal_ones_and_changes_nothing() -> None:
    env = nainjaune_env.env()
    env.reset(seed=2)
    agent = env.agent_selection
    mask = env.observe(agent)["action_mask"]
    legal = [f"{a} ({env.setup.game.actions[a]})" for a in np.flatnonzero(mask)]
    before = env.unwrapped._batch.tables.copy()
    for bad in [*np.flatnonzero(mask == 0), -1, 24, 63, 1 << 40, 1.0, np.float64(2), True, None, "5", np.array([3, 4])]:
        with pytest.raises(IllegalActionError) as caught:
            env.step(bad)
        assert all(name in str(caught.value) for name in legal)
        assert env.unwrapped._batch.tables.tobytes() == before.tobytes()
        assert env.agent_selection == agent
    for good in (np.int8, np.int64, np.array):
        env.reset(seed=2)
        env.step(good(int(np.flatnonzero(mask)[0])))
        assert env.unwrapped._batch.tables.tobytes() != before.tobytes()


def test_unknown_agents_modes_and_viewpoints() -> None:
    env = nainjaune_env.env()
    env.reset(seed=0)
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(AgentError, match=r"'seat_9'.*seat_0, seat_1, seat_2, seat_3"):
            ask("seat_9")
    for settings in (
        {"render_mode": "rgb"}, {"viewpoint": 4}, {"viewpoint": 1.0}, {"language": "de"}, {"scale": "x"}, {"skip_forced": 2},
        {"players": 5}, {"preset": "x"}, {"decline": "maybe"},
    ):  # fmt: skip
        with pytest.raises(RulesError):
            nainjaune_env.env(**settings)


def test_a_game_without_a_picture_renders_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = without(make_setup(), "render_text", "pictures")
    monkeypatch.setattr(pettingzoo_aec, "adaptor_setup", lambda *given: plain)
    env = nainjaune_env.env()
    assert env.metadata["render_modes"] == []
    env.reset(seed=0)
    with pytest.raises(RulesError, match="no picture"):
        env.picture()
    with pytest.raises(RulesError, match="no picture"):
        env.svg()
    with pytest.raises(RulesError, match="no picture"):
        nainjaune_env.env(render_mode="ansi")


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
def test_registered_with_pettingzoo() -> None:
    for game, interface in itertools.product(game_names(), ("aec", "parallel")):
        env = pettingzoo.make(interface, f"nainjaune/{game}", skip_forced=True)
        assert env.unwrapped.setup.game.name == game
        assert str(env) == f"{game}_v0"
        assert f"nainjaune/{game}-v0" in getattr(pettingzoo, f"{interface}_registry")
    register()  # once more: nothing is overridden, which would warn
    five = pettingzoo.make("aec", "nainjaune/nain_jaune-v0", preset="classic", players=5)
    assert five.possible_agents == [f"seat_{seat}" for seat in range(5)]


def test_records_of_finished_episodes() -> None:
    for episode, skip_forced in itertools.product(("round", "match"), (True, False)):
        env = nainjaune_env.env(preset="classic", episode=episode, skip_forced=skip_forced)
        env.reset(seed=6)
        with pytest.raises(RecordError, match="finished"):
            env.record()
        returns = play(env, np.random.default_rng(6))
        record = env.record(["a", "b", "c", "d"])
        assert verify_record(record) == (1 if episode == "round" else 12)
        assert (record["agents"], record["seed"]) == (["a", "b", "c", "d"], 6)
        assert record["stacks"] == list(returns.values())
        assert env.record()["rounds"] == record["rounds"]  # asking twice tells the same cards


def test_a_numpy_seed_is_recorded_and_what_is_no_whole_number_is_refused() -> None:
    env = nainjaune_env.env()
    env.reset(seed=np.int64(7))
    play(env, np.random.default_rng(6))
    record = env.record()
    assert (type(record["seed"]), record["seed"]) == (int, 7)
    assert verify_record(record) == 1
    before = env.unwrapped._batch.tables.tobytes()
    for bad in (7.0, "7", True, -7, np.array([7, 8]), float("nan"), 1 << 64, [1]):
        with pytest.raises(DealError, match=r"^A seed is a whole number from 0 to \d+, not "):
            env.reset(seed=bad)
    with pytest.raises(IllegalActionError, match=r"^An action is a whole number, not .{1,200}; legal for seat_\d: .{1,500}$"):
        env.unwrapped._number("x" * 10**6)
    assert env.unwrapped._batch.tables.tobytes() == before


@pytest.mark.parametrize("made", [nainjaune_env.env, nainjaune_env.parallel_env])
def test_pickling_makes_a_new_environment_with_the_same_settings(made: Any) -> None:
    env = made(preset="tableau", players=6, stake=3, skip_forced=True)
    twin = pickle.loads(pickle.dumps(env))
    for one in (env, twin):
        one.reset(seed=9)
    np.testing.assert_array_equal(env.state(), twin.state())
    assert twin.unwrapped._batch.options == env.unwrapped._batch.options


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("made", [nainjaune_env.env, nainjaune_env.raw_env], ids=["env", "raw_env"])
def test_a_copy_in_mid_episode_plays_on_as_the_original_would(made: Any, copied: str) -> None:
    for game in game_names():
        env, rng = made(game=game, episode="match" if game == "nain_jaune" else "round"), np.random.default_rng(4)
        env.reset(seed=4)
        for _ in range(5):
            env.step(choose(env.last()[0]["action_mask"], rng))
        before = env.state().tobytes()
        other = COPIES[copied](env)
        assert other.agent_selection == env.agent_selection
        theirs = play(other, np.random.default_rng(5))
        assert env.state().tobytes() == before  # nothing is shared
        assert play(env, np.random.default_rng(5)) == theirs
        assert env.unwrapped.record() == other.unwrapped.record()
        env.reset()
        other.reset()
        assert env.state().tobytes() == other.state().tobytes()


def test_a_copy_draws_legal_actions_from_its_own_mask() -> None:
    env = nainjaune_env.env()
    env.reset(seed=4)
    other = copy.deepcopy(env)
    agent = other.agent_selection
    other.step(other.action_space(agent).sample())
    assert env.action_space(agent).legal.tolist() == env.observe(agent)["action_mask"].tolist()
    assert other.action_space(agent).legal.tolist() == other.observe(agent)["action_mask"].tolist()


def test_a_copy_of_an_environment_with_an_open_window_opens_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = nainjaune_env.env(render_mode="human", scale=0.2)
    env.reset(seed=1)
    other = copy.deepcopy(env)
    env.close()
    other.step(int(other.last()[0]["action_mask"].argmax()))
    other.close()


has_registry = pytest.mark.skipif(not hasattr(pettingzoo, "EnvSpec"), reason="this PettingZoo has no registry")


@has_registry
@pytest.mark.parametrize("interface", ["aec", "parallel"])
def test_the_spec_makes_the_environment_again(interface: str) -> None:
    made = {"aec": nainjaune_env.env, "parallel": nainjaune_env.parallel_env}[interface]
    env = made("classic", players=5, stake=2, skip_forced=False, start={"pots": [4, 0, 0, 0, 9]})
    spec = env.spec
    assert isinstance(spec, pettingzoo.EnvSpec)
    assert spec.id == pettingzoo.spec(interface, "nainjaune/nain_jaune-v0").id
    for twin in (spec.make(), pettingzoo.make(interface, spec)):
        assert type(twin) is type(env)
        assert twin.unwrapped.setup == env.unwrapped.setup
        env.reset(seed=9)
        twin.reset(seed=9)
        assert twin.state().tobytes() == env.state().tobytes()
    assert made().spec == pettingzoo.make(interface, "nainjaune/nain_jaune").spec


def test_an_old_version_without_a_registry_has_no_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pettingzoo, "EnvSpec", raising=False)
    monkeypatch.delattr(pettingzoo, "register", raising=False)
    register()
    assert nainjaune_env.env().spec is None


def test_an_unknown_keyword_is_a_type_error_and_the_other_word_for_players_gets_a_hint() -> None:
    for made in (nainjaune_env.env, nainjaune_env.raw_env, nainjaune_env.parallel_env, make_setup):
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'num_players'. Did you mean 'players'\?"):
            made(preset="classic", num_players=5)
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'stak'. .*knob 'stak'. Did you mean 'stake'\?"):
            made(preset="classic", stak=5)
    assert make_setup(preset="classic", players=5) == nainjaune_env.raw_env(preset="classic", players=5).setup


def test_before_the_first_reset_there_is_nothing_to_see_or_do() -> None:
    env = nainjaune_env.env(render_mode="ansi")
    for call in (env.render, env.agent_iter, lambda: env.step(0), lambda: env.observe("seat_0")):
        with pytest.raises(Exception, match="reset"):
            call()
    env = nainjaune_env.raw_env(render_mode="ansi")
    for look in (lambda: env.observe("seat_0"), env.state, env.render, env.picture, env.svg):
        with pytest.raises(DealError, match=r"There is no table yet: call reset\(\) first\."):
            look()
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(0)
    with pytest.raises(RulesError, match="ansi"):
        nainjaune_env.raw_env().render()
