"""RLlib's environment: who is asked, what RLlib's own books say each seat was paid, and the same games as everywhere."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np
import pytest
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from nainjaune_env import Batch, game_names, get_game
from nainjaune_env.core.errors import DealError, IllegalActionError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.envs.rllib import TableEnv
from tests.rllib.training import ppo
from tests.support.contract import advance, all_setups, helper, payoffs, single

PRESETS = [{"game": game, "preset": preset} for game in game_names() for preset in get_game(game).presets]
every_preset = pytest.mark.parametrize("settings", PRESETS, ids=lambda settings: settings["preset"])


class Remembering(TableEnv):
    """Keeps what the seats' payoffs were at the end of each episode."""

    ends: ClassVar[list[dict[str, int]]] = []

    def step(self, action_dict: Any) -> Any:
        outcome = super().step(action_dict)
        if outcome[2]["__all__"]:
            self.ends.append(dict(zip(self.possible_agents, payoffs(self.table._batch), strict=True)))
        return outcome


@every_preset
def test_rllibs_own_books_pay_every_seat_its_payoff(settings: dict[str, Any]) -> None:
    """RLlib's runner samples with the masking module: nothing illegal (it would raise), and nothing paid is lost."""
    Remembering.ends.clear()
    config = ppo(settings, Remembering).env_runners(num_envs_per_env_runner=1)
    runner = MultiAgentEnvRunner(config=config)
    episodes = runner.sample(num_episodes=10)
    runner.stop()
    assert len(episodes) == 10
    for episode, end in zip(episodes, Remembering.ends, strict=False):
        assert episode.is_terminated
        returns = {agent: part.get_return() for agent, part in episode.agent_episodes.items()}
        assert returns == {agent: end[agent] for agent in returns}
        for part in episode.agent_episodes.values():
            masks = part.get_observations()["action_mask"]
            assert masks[np.arange(len(part)), part.get_actions()].all()


@every_preset
@pytest.mark.parametrize("skip_forced", [True, False])
def test_same_seed_same_games_as_a_batch(settings: dict[str, Any], skip_forced: bool) -> None:
    env = TableEnv({**settings, "skip_forced": skip_forced})
    setup = env.table.setup
    layout = setup.layout
    batch = Batch(setup, 1, seed=5, skip_forced=skip_forced, autoreset=False)
    observations, _ = env.reset(seed=5)
    draws = streams(5, 1)
    while not batch.done[0]:
        ((agent, seen),) = observations.items()
        assert agent == f"seat_{batch.seat[0]}"
        assert env.observation_spaces[agent].contains(seen)
        assert seen["action_mask"].tolist() == batch.mask[0].tolist()
        np.testing.assert_allclose(seen["observations"] * layout.scale + layout.zero, batch.observation[0], atol=1e-4)
        action = batch.sample(draws)
        batch.step(action)
        observations, rewards, terminated, truncated, _ = env.step({agent: action[0]})
        assert all(type(reward) is float for reward in rewards.values())
        assert terminated == {"__all__": bool(batch.done[0])}
        assert truncated == {"__all__": False}
    assert observations == {}
    assert set(rewards) == set(env.possible_agents)


@pytest.mark.parametrize("setup", all_setups())
def test_n6_what_an_agent_is_handed_follows_from_what_its_seat_may_know(setup: Any) -> None:
    rng = random.Random(1)
    one, two = (
        TableEnv({"game": setup.game.name, "preset": setup.preset, "players": setup.players, "skip_forced": False}) for _ in "ab"
    )
    differ = 0
    for seed in range(8):
        played = single(setup, seed=seed)
        advance(played, rng.randrange(12), rng)
        if not played.legal[0]:
            continue
        table = played.tables[0]
        first, _ = one.reset(options={"table": table})
        reshuffled = helper(setup).reshuffle(setup, table, int(table.seat), rng)
        other, _ = two.reset(options={"table": reshuffled})
        assert list(first) == list(other) == [f"seat_{table.seat}"]
        for key, value in first[f"seat_{table.seat}"].items():
            np.testing.assert_array_equal(value, other[f"seat_{table.seat}"][key])
        # not by state(): what no seat sees any more, as the symbols of Signal Lamps, is not in it
        differ += any((table[name] != reshuffled[name]).any() for name in table.dtype.names if name != "rng")
    assert differ


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    env = TableEnv({"players": 3})
    with pytest.raises(IllegalActionError, match="reset"):
        env.step({"seat_0": 0})
    observations, _ = env.reset(seed=2)
    ((agent, seen),) = observations.items()
    other = next(name for name in env.possible_agents if name != agent)
    good = int(np.flatnonzero(seen["action_mask"])[0])
    before = env.table._batch.tables.tobytes()
    for actions in ({}, {other: good}, {agent: good, other: good}):
        with pytest.raises(IllegalActionError, match=f"Expected an action of {agent}, who is at turn, and of nobody else; got"):
            env.step(actions)
    for bad in (*np.flatnonzero(seen["action_mask"] == 0), 1.0, None):
        with pytest.raises(IllegalActionError, match="legal"):
            env.step({agent: bad})
    assert env.table._batch.tables.tobytes() == before
    while observations:
        ((agent, seen),) = observations.items()
        observations = env.step({agent: int(np.flatnonzero(seen["action_mask"])[0])})[0]
    with pytest.raises(IllegalActionError, match="reset"):
        env.step({agent: 0})


def test_an_episode_without_a_choice_is_passed_over() -> None:
    env = TableEnv({"players": 2})
    plies = single(env.table.setup, seed=3)
    draws = streams(3, 1)
    while True:  # to a table from where nobody has a choice any more
        asked = Batch(env.table.setup, 1, autoreset=False)
        asked.set_tables(0, plies.tables)
        if asked.done[0]:
            break
        plies.step(plies.sample(draws))
    observations, _ = env.reset(options={"table": plies.tables[0].copy()})
    ((agent, seen),) = observations.items()
    assert seen["action_mask"].sum() > 1
    assert not env.table.terminations[agent]


def test_settings_seeds_and_options() -> None:
    env = TableEnv(EnvContext({"preset": "skip", "players": 5, "stake": 2}, worker_index=0))
    assert isinstance(env, MultiAgentEnv)
    assert env.table.setup == get_game("nain_jaune").setup("skip", 5, stake=2)
    first, _ = env.reset(seed=1)
    env.reset()
    again, _ = env.reset(seed=1, options={"start": {}})
    for agent, seen in first.items():
        np.testing.assert_array_equal(seen["observations"], again[agent]["observations"])
    with pytest.raises(DealError, match="Unknown reset option"):
        env.reset(options={"pots": 1})
    with pytest.raises(RulesError):
        TableEnv({"presets": "skip"})
