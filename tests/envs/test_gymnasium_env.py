"""The Gymnasium environment: its own checker, and what that does not look at."""

from __future__ import annotations

import copy
import math
import pickle
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from sb3_contrib import MaskablePPO

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import Agent, DecisionBatch, SeatAssignment
from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError, MissingLibraryError, RecordError, RulesError
from nainjaune_env.envs import reset_options
from nainjaune_env.envs.gymnasium_env import SeatEnv
from nainjaune_env.envs.gymnasium_vector import SeatVectorEnv
from nainjaune_env.envs.opponents import Pool
from nainjaune_env.envs.registration import environment_id, register
from nainjaune_env.records.record import verify_record as verify
from nainjaune_env.records.recorder import history_of_round, log_of, record_of_episode
from nainjaune_env.registry import game_names
from tests.support.contract import everything, helper
from tests.support.games import games_with

GAMES = [environment_id(game) for game in game_names()]


def played(env: SeatEnv, *, seed: int | None = None) -> tuple[list[float], list[int]]:
    """A whole episode, drawn from the action space: rewards and actions."""
    env.reset(seed=seed)
    return played_on(env)


def played_on(env: SeatEnv) -> tuple[list[float], list[int]]:
    """The rest of an episode, likewise."""
    rewards: list[float] = []
    actions: list[int] = []
    over = False
    while not over:
        actions.append(int(env.action_space.sample()))
        _, reward, over, truncated, _ = env.step(actions[-1])
        assert type(reward) is float
        assert type(over) is bool
        assert truncated is False
        rewards.append(reward)
    return rewards, actions


@pytest.mark.parametrize("game", GAMES)
def test_gymnasiums_checker_passes(game: str) -> None:
    """It steps with an action drawn before the reset, so an illegal one must not raise here."""
    check_env(gymnasium.make(game, illegal_reward=-1).unwrapped)


def test_every_game_is_in_the_registry_once() -> None:
    assert GAMES == ["Batasaurus-v0", "NainJaune-v0", "SignalLamps-v0"]
    before = dict(gymnasium.registry)
    register()
    assert gymnasium.registry == before


def test_a_game_without_pictures_has_no_render_mode() -> None:
    for env in (SeatEnv(game="signal_lamps"), SeatVectorEnv(2, game="signal_lamps")):
        assert env.metadata["render_modes"] == []
    with pytest.raises(RulesError, match="this game has no picture"):
        SeatEnv(game="signal_lamps", render_mode="ansi")


@pytest.mark.parametrize("game", [environment_id(game) for game in games_with("pictures")])
def test_pictures_are_the_learners_view(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, SVG and pixels; the window is drawn at every reset and step by itself."""
    with gymnasium.make(game, render_mode="svg", seat=1) as env:
        env.reset(seed=2)
        inner = env.unwrapped
        assert isinstance(inner, SeatEnv)
        shown = env.render()
        batch = inner._tables.batch
        assert inner.setup.game.pictures is not None
        assert shown == inner.setup.game.pictures.svg(inner.setup, batch.tables[0], 1, **history_of_round(batch, 0))
    with gymnasium.make(game, render_mode="rgb_array") as env:
        env.reset(seed=2)
        pixels: Any = env.render()
        assert (pixels.dtype, pixels.ndim, pixels.shape[2]) == (np.uint8, 3, 3)
        assert len(np.unique(pixels)) > 10
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    drawn = []
    with gymnasium.make(game, render_mode="human").unwrapped as env:
        monkeypatch.setattr(env._renderer, "render", lambda *args: drawn.append(env._renderer.viewpoint))
        _, info = env.reset(seed=2)
        env.step(int(info["action_mask"].argmax()))
    assert drawn == [info["seat"]] * 2


@pytest.mark.parametrize("seat", [0, 2])
@pytest.mark.parametrize("preset", ["djeco", "classic", "batasaurus"])
def test_the_same_games_as_the_batch(preset: str, seat: int) -> None:
    """Every ply by the same agents, at the same cards: the same record, and the rewards sum to the learner's payoff."""
    rule = "cheapest" if preset == "batasaurus" else "lowest"
    env = SeatEnv(preset, 3, opponents=rule, seat=seat)
    hero = heuristics(env.setup.game.name)[rule]
    batch = Batch(env.setup, 1, seed=8, autoreset=False, log=True)
    memory = SeatAssignment(batch, [hero], np.zeros((1, 3), np.int64), lambda *_: np.random.default_rng(0))
    seen, info = env.reset(seed=8)
    payoff, total, over = batch.reward[0].astype(np.int64), 0.0, False
    while not batch.done[0]:
        action = memory.actions(np.zeros(1, np.int64))
        if batch.seat[0] == seat:
            assert not over
            assert seen.tobytes() == batch.observation[0].tobytes()
            assert info["action_mask"].tobytes() == batch.mask[0].tobytes()
            assert (info["seat"], info["action_mask"].dtype) == (seat, np.int8)
            seen, reward, over, _, info = env.step(action[0])
            total += reward
        batch.step(action)
        memory.stepped()
        payoff += batch.reward[0]
    assert over
    assert total == payoff[seat]
    assert not info["action_mask"].any()
    assert seen.tobytes() == batch.observe(seat)[0].tobytes()
    names = ["me" if k == seat else rule for k in range(3)]
    assert env.record("me") == record_of_episode(batch, 0, agents=names, seed=8)
    verify(env.record("me"))


@pytest.mark.parametrize("seat", ["rotate", "random"])
@pytest.mark.parametrize("opponents", ["random", ["random", "lowest", "tally"]])
def test_a_seeded_reset_repeats_all_there_is_and_keeps_the_rules(opponents: Any, seat: str) -> None:
    env = SeatEnv("skip", 4, opponents=opponents, seat=seat, stake=2)

    def run(seed: int) -> tuple[Any, ...]:
        env.action_space.seed(3)
        first = played(env, seed=seed)
        return first, env.record(), played(env), env._tables.learner[0]

    one = run(5)
    played(env)
    assert run(5) == one
    assert run(6) != one
    assert env.setup == make_setup("nain_jaune", "skip", 4, stake=2)


def test_opponents_sit_in_order_from_the_learners_next_on() -> None:
    env = SeatEnv("djeco", 4, opponents=["lowest", "tally", "longest"], seat=2)
    played(env, seed=1)
    assert env.record()["agents"] == ["tally", "longest", "learner", "lowest"]
    assert [agent.name for agent in env.opponents] == ["lowest", "tally", "longest"]


def test_the_learner_rotates_from_where_the_seed_says() -> None:
    env = SeatEnv("djeco", 4)
    seats = [env.reset(seed=s)[1]["seat"] for s in range(20)]
    assert set(seats) == {0, 1, 2, 3}
    first = env.reset(seed=0)[1]["seat"]
    assert [env.reset()[1]["seat"] for _ in range(5)] == [(first + k) % 4 for k in range(1, 6)]


def test_random_seats_are_all_alike() -> None:
    env = SeatEnv("djeco", 3, seat="random")
    env.reset(seed=0)
    seats = np.bincount([env.reset()[1]["seat"] for _ in range(600)], minlength=3)
    assert seats.min() > 200 - 4.5 * (600 * 2 / 9) ** 0.5


class Cheat:
    """An agent that is asked for its turn only, and says what it saw."""

    name = "cheat"

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def act(self, decisions: DecisionBatch, rng: Any) -> Any:
        self.seen.append(decisions.tables.tobytes())
        return np.array([int(word).bit_length() - 1 for word in decisions.legal])


def test_opponents_see_redacted_tables_and_may_be_any_agent() -> None:
    cheat = Cheat()
    assert isinstance(cheat, Agent)
    env = SeatEnv("djeco", 2, opponents=cheat, seat=0)
    played(env, seed=2)
    tables = [np.frombuffer(seen, env.setup.game.table)[0] for seen in cheat.seen]
    assert tables
    for row in tables:
        record = np.zeros(1, env.setup.game.table)
        record[0] = row
        assert helper(env.setup).leaks(env.setup, record[0], 1) == []


def test_an_illegal_action_raises_and_changes_nothing_or_ends_the_episode() -> None:
    env = SeatEnv("djeco", 3)
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    before = everything(env._tables.batch)
    for action in (illegal, -1, 99, 1.5, None, 1 << 70, -(1 << 70)):
        with pytest.raises(IllegalActionError, match="legal: "):
            env.step(action)
    assert everything(env._tables.batch) == before
    for action in (illegal, -1, 99, 1 << 63, np.uint64((1 << 64) - 1)):
        harsh = SeatEnv("djeco", 3, illegal_reward=-7.5)
        harsh.reset(seed=1)
        _, reward, over, _, info = harsh.step(action)
        assert (reward, over, info["action_mask"].any()) == (-7.5, True, False)
        with pytest.raises(RecordError):
            harsh.record()
        for later in (illegal, 1 << 63):
            with pytest.raises(IllegalActionError, match="No episode is running"):
                harsh.step(later)
        harsh.reset()
        assert played(harsh)[0]


def test_after_the_end_and_before_the_beginning() -> None:
    env = SeatEnv("djeco", 3, render_mode="ansi")
    for call in (lambda: env.step(0), env.render, env.record):
        with pytest.raises((IllegalActionError, DealError, RecordError), match=r"reset\(\)"):
            call()
    env.reset(seed=1)
    with pytest.raises(RecordError, match="finished"):
        env.record()
    played(env)
    assert not env.action_masks().any()
    assert env.action_space.contains(env.action_space.sample())  # nothing is legal: any member, not always 0
    assert len({int(env.action_space.sample()) for _ in range(50)}) > 5
    with pytest.raises(IllegalActionError, match="No episode is running"):
        env.step(0)


def test_an_episode_begins_with_a_decision_of_the_learner() -> None:
    """With eight seats and few cards many rounds are over before one seat ever has a choice."""
    env = SeatEnv("skip", 8)
    env.reset(seed=0)
    for _ in range(300):
        _, info = env.reset()
        assert info["action_mask"].sum() > 1


def test_a_record_tells_the_seed_only_of_the_round_that_it_deals() -> None:
    """Where that round passes the learner by, another one is played, which begins with no seed."""
    env = SeatEnv("skip", 8)
    kept = {}
    for seed in range(40):
        played(env, seed=seed)
        fresh = Batch(env.setup, 1, seed=seed, skip_forced=False, autoreset=False)
        kept[seed] = log_of(env._tables.batch).opening[0].tobytes() == fresh.tables[0].tobytes()
        assert env.record()["seed"] == (seed if kept[seed] else None)
    assert 0 < sum(kept.values()) < len(kept)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize(
    ("game", "opponents"), [("NainJaune-v0", "random"), ("Batasaurus-v0", "cheapest@remember=0.5")], ids=["pots", "memory"]
)
def test_a_copy_goes_on_as_the_original_would(game: str, opponents: str, copied: Any) -> None:
    """For search: opponents, what they remember, and all generators are copied too, and nothing is shared."""
    wrapped = gymnasium.make(game, opponents=opponents, seat="random")
    wrapped.reset(seed=5)
    wrapped.step(wrapped.action_space.sample())
    env, other = wrapped.unwrapped, copied(wrapped).unwrapped
    assert isinstance(env, SeatEnv)
    before = env._tables.batch.tables.tobytes()
    there = [played_on(other), played(other), played(other)]  # each reset goes on where the last episode ended
    assert env._tables.batch.tables.tobytes() == before
    assert [played_on(env), played(env), played(env)] == there
    assert env.record() == other.record()


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"seat": 4}, RulesError, "a number from 0 to 3, 'rotate' or 'random', not 4"),
        ({"seat": np.zeros(2)}, RulesError, "a number from 0 to 3, 'rotate' or 'random', not array"),
        ({"render_mode": np.zeros(2)}, RulesError, "Unknown render mode array"),
        ({"illegal_reward": []}, RulesError, r"^'illegal_reward' is a finite number or None, not \[\]\.$"),
        *(({"illegal_reward": one}, RulesError, f"a finite number or None, not {one}") for one in (math.nan, math.inf, True)),
        *(({"skip_forced": one}, RulesError, f"^skip_forced is True or False, not {one!r}") for one in ("no", 2, None)),
        ({"language": "de"}, RulesError, "Unknown language 'de'"),
        ({"seat": "dealer"}, RulesError, "not 'dealer'"),
        ({"opponents": ["lowest", "tally"]}, AgentError, "one opponent for all seats or 3, one for each of the others, not 2"),
        ({"opponents": "lowset"}, AgentError, "Did you mean 'lowest'"),
        ({"opponents": [None] * 3}, AgentError, "or a torch module, not None"),
        ({"opponents": [["x" * 10**6]] * 3}, AgentError, r"or a torch module, not .{1,200}\.$"),
        ({"opponents": int}, AgentError, "'int' was called to make a player, and gave 0: "),
        ({"opponents": lambda one: one}, AgentError, r"was called to make a player, and gave Setup\("),
        ({"opponents": lambda a, b, c: a}, AgentError, r"takes the observation and the mask, and '<lambda>' takes others\.$"),
        ({"seat": "x" * 10**6}, RulesError, r"'rotate' or 'random', not .{1,200}\.$"),
        ({"render_mode": "video"}, RulesError, "Unknown render mode 'video'"),
        ({"decline": "nevr"}, RulesError, "Did you mean 'never'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(arguments: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        SeatEnv("djeco", 4, **arguments)


def test_reset_refuses_what_does_not_fit() -> None:
    env = SeatEnv("djeco", 4)
    with pytest.raises(DealError, match="Unknown reset option 'pots'"):
        env.reset(options={"pots": [1] * 5})
    env.reset(seed=1)
    before = env._tables.batch.tables.tobytes()
    with pytest.raises(DealError, match=r"whole number from 0 to 18446744073709551615, not 1\.5"):
        env.reset(seed=1.5)  # type: ignore[arg-type]
    with pytest.raises(DealError, match="whole number from 0 to 18446744073709551615, not -1"):
        env.reset(seed=-1)
    assert env._tables.batch.tables.tobytes() == before


def test_whole_matches_are_episodes_too() -> None:
    env = SeatEnv("djeco", 3, episode="match", max_rounds=3)
    rewards, _ = played(env, seed=4)
    record = env.record()
    verify(record)
    assert len(rewards) > 3


# ---------------------------------------------------------------- what strangers bring


def test_the_checker_passes_where_no_library_for_pictures_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pygame", "resvg_py", "PIL", "matplotlib"):
        monkeypatch.setitem(sys.modules, library, None)
    env = gymnasium.make("NainJaune-v0", illegal_reward=-1)
    assert env.metadata["render_modes"] == ["ansi", "svg"]
    assert SeatVectorEnv(2).metadata["render_modes"] == ["ansi", "svg"]
    check_env(env.unwrapped)


def test_modes_that_are_not_installed_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    assert SeatEnv().metadata["render_modes"] == ["ansi", "rgb_array", "svg"]
    with pytest.raises(MissingLibraryError, match="pip install"):
        SeatEnv(render_mode="human")


def test_an_illegal_action_names_the_mask_and_the_option() -> None:
    for env in (SeatEnv("djeco", 3), SeatVectorEnv(1, "djeco", 3)):
        _, info = env.reset(seed=1)
        illegal = int(np.flatnonzero(np.ravel(info["action_mask"]) == 0)[0])
        with pytest.raises(IllegalActionError, match=r"not legal at table 0.*action_mask has the legal actions.*illegal_reward"):
            env.step(illegal if isinstance(env, SeatEnv) else np.array([illegal]))  # type: ignore[arg-type]


@pytest.mark.parametrize("made", [SeatEnv, lambda **rules: SeatVectorEnv(3, **rules)], ids=["single", "vector"])
def test_rules_without_any_decision_end_in_an_error(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reset_options, "MAX_REDEALS", 50)
    env = made(hand=1)
    with pytest.raises(RulesError, match=r"In 50 deals of Nain Jaune in a row there was no decision.*skip_forced=False"):
        env.reset(seed=1)
    observation, _ = made(hand=1, skip_forced=False).reset(seed=1)
    assert observation.any()


def highest(observations: Any, masks: Any) -> Any:
    """The highest legal action at every table; a pass where that is one."""
    assert observations.shape[0] == masks.shape[0]
    assert (observations.dtype, masks.dtype) == (np.uint8, np.bool_)
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Highest:
    """The same as an agent of ours."""

    name = "agent"

    def act(self, decisions: DecisionBatch, rng: Any) -> Any:
        return highest(decisions.observation, decisions.mask)


class WithMasks:
    """The same as sb3-contrib's models."""

    def predict(self, observation: Any, state: Any = None, deterministic: bool = False, action_masks: Any = None) -> Any:
        assert deterministic
        return highest(observation, action_masks), None


class Blind:
    """A model that looks at no mask."""

    def predict(self, observation: Any, *, deterministic: bool) -> Any:
        return np.zeros(len(observation), np.int64), None


def test_a_pool_is_no_name() -> None:
    with pytest.raises(AgentError, match=r"as in Pool\(\['tally', 'lowest'\]\), not 'tally'"):
        Pool("tally")


def test_opponents_may_be_functions_and_models() -> None:
    games = []
    for opponents in (Highest(), highest, WithMasks(), [highest, WithMasks(), Highest()], Pool([highest, WithMasks()])):
        env = SeatEnv("djeco", 4, opponents=opponents, seat=1)  # type: ignore[arg-type]
        env.action_space.seed(3)
        games.append((played(env, seed=2), env.record("x")["rounds"]))
        assert [name for name in env.record("x")["agents"] if name not in ("x", "agent", "highest", "WithMasks")] == []
        copied = copy.deepcopy(env)
        assert played(copied, seed=2)[0]
    assert all(game == games[0] for game in games)
    vector = SeatVectorEnv(3, "djeco", 4, opponents=highest)
    vector.reset(seed=1)
    for _ in range(5):
        vector.step(vector.action_space.sample())


@pytest.mark.parametrize(
    ("opponents", "error", "sentence"),
    [
        (Blind(), AgentError, "The agent 'Blind' chose an illegal action. Action 0 .* is not legal at table 0, seat"),
        (
            lambda observations, masks: None,
            AgentError,
            "was asked for 3 actions, .* and gave None; asked for one, .* it gave None",
        ),
        (5, AgentError, "or a torch module, not 5"),
    ],
)
def test_what_opponents_get_wrong_is_told(opponents: Any, error: type[Exception], sentence: str) -> None:
    def play_some() -> None:
        env = SeatEnv("djeco", 4, opponents=opponents, seat=1)
        for seed in range(30):
            played(env, seed=seed)

    with pytest.raises(error, match=sentence):
        play_some()


def test_a_model_of_sb3_contrib_is_an_opponent() -> None:
    model = MaskablePPO("MlpPolicy", SeatEnv("djeco", 3), n_steps=8, batch_size=8, seed=1, device="cpu")
    env = SeatEnv("djeco", 3, opponents=model)
    env.action_space.seed(1)
    first = played(env, seed=4)
    env.action_space.seed(1)
    assert played(env, seed=4) == first
    assert sorted(env.record()["agents"]) == ["MaskablePPO", "MaskablePPO", "learner"]


def test_a_zoo_player_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("nainjaune_agents.players.networks.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(MissingLibraryError, match=r"'zoo:strong' needs the package 'safetensors'.*pip install"):
        SeatEnv("djeco", 4, opponents="zoo:strong")
