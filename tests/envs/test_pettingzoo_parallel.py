"""The parallel form: who waits and who acts, rewards, seeds. PettingZoo's own tests of it are in ``test_pettingzoo_suite``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nainjaune_env
from nainjaune_env import Batch, game_names, get_game, make_setup
from nainjaune_env.core.errors import AgentError, IllegalActionError, RulesError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import verify_record
from tests.envs.playing import choose_all, play, play_parallel
from tests.support.contract import all_setups, payoffs, single

PRESETS = [(game, preset) for game in game_names() for preset in get_game(game).presets]
FORCED_ENDS = [(game, preset) for game, preset in PRESETS if game != "signal_lamps"]
"""Presets where the last plies of a round can be forced; in Signal Lamps the last ply of every seat is a choice (L2.3)."""


def batch_of(env: Any) -> Batch:
    batch: Batch = env.unwrapped._batch
    return batch


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize("setup", all_setups())
def test_same_seed_same_games_as_a_batch(setup: Setup, skip_forced: bool) -> None:
    """Step by step: observations, masks, and each agent's own reward."""
    players = setup.players
    env = nainjaune_env.parallel_env(setup.preset, players, game=setup.game.name, skip_forced=skip_forced)
    batch = Batch(setup, 1, seed=players, skip_forced=skip_forced, autoreset=False)
    observations, infos = env.reset(seed=players)
    draws = streams(5, 1)
    while not batch.done[0]:
        for agent, seen in observations.items():
            seat = int(agent.removeprefix("seat_"))
            np.testing.assert_array_equal(seen["observation"], batch.observe(seat)[0])
            at_turn = batch.mask[0] if seat == batch.seat[0] else np.zeros(batch.num_actions)
            np.testing.assert_array_equal(seen["action_mask"], [*at_turn, seat != batch.seat[0]])
            np.testing.assert_array_equal(infos[agent]["action_mask"], seen["action_mask"])
            assert env.observation_space(agent).contains(seen)
        actions = dict.fromkeys(env.agents, env.no_op)
        actions[f"seat_{batch.seat[0]}"] = int(batch.sample(draws)[0])
        batch.step([actions[f"seat_{batch.seat[0]}"]])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert list(rewards.values()) == batch.reward[0].tolist()
        assert all(type(reward) is int for reward in rewards.values())
        assert list(terminations.values()) == [bool(batch.done[0])] * players
        assert not any(truncations.values())
    assert env.agents == []
    for agent, seen in observations.items():  # the last observation is every agent's
        np.testing.assert_array_equal(seen["observation"], batch.observe(int(agent.removeprefix("seat_")))[0])
        assert np.flatnonzero(seen["action_mask"]).tolist() == [env.no_op]
        assert infos[agent].keys() == {"action_mask"}
        np.testing.assert_array_equal(infos[agent]["action_mask"], seen["action_mask"])


@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize(("game", "preset"), PRESETS)
def test_the_same_records_as_turn_by_turn(game: str, preset: str, episode: Any) -> None:
    together = nainjaune_env.parallel_env(preset, game=game, episode=episode)
    in_turn = nainjaune_env.env(preset, game=game, episode=episode, skip_forced=False)
    observations, _ = together.reset(seed=4)
    in_turn.reset(seed=4)
    returns = play_parallel(together, np.random.default_rng(4), observations)
    assert play(in_turn, np.random.default_rng(4)) == returns
    record = together.unwrapped.record()
    assert record == in_turn.record()
    assert verify_record(record)


def test_what_is_not_legal_is_refused_and_changes_nothing() -> None:
    env = nainjaune_env.parallel_env()
    observations, _ = env.reset(seed=2)
    acting = env.unwrapped.agent_selection
    other = next(agent for agent in env.agents if agent != acting)
    mask = observations[acting]["action_mask"]
    good = choose_all(observations, np.random.default_rng(2))
    before = batch_of(env).tables.tobytes()
    legal = [f"{a} ({env.setup.game.actions[a]})" for a in np.flatnonzero(mask)]
    for bad in [*np.flatnonzero(mask == 0), env.no_op + 1, -1, 1.0, True, None, "5"]:
        with pytest.raises(IllegalActionError) as caught:
            env.step({**good, acting: bad})
        assert all(name in str(caught.value) for name in legal)
    named = {0: f"0 ({env.setup.game.actions[0]})", -1: f"-1 (actions are 0 to {env.no_op})", None: "None"}
    waits = rf"^{other} is not at turn, where only {env.no_op} \(to wait\) is legal"
    for bad in [*range(env.no_op), env.no_op + 1, -1, float(env.no_op), True, None]:
        with pytest.raises(IllegalActionError, match=waits) as caught:
            env.step({**good, other: bad})
        assert bad not in named or str(caught.value).endswith(f"is legal, not {named[bad]}.")
    with pytest.raises(IllegalActionError, match=rf"^{acting} is to act, where {env.no_op} \(to wait\) is not legal; legal: "):
        env.step({**good, acting: env.no_op})
    for missing in ({acting: good[acting]}, {**good, "seat_9": 0}, {}):
        with pytest.raises(IllegalActionError, match=r"^Expected a mapping from agents to their actions, and got None\.$"):
            env.step(None)  # type: ignore[arg-type]
        with pytest.raises(IllegalActionError, match="one action of each of seat_0, seat_1, seat_2, seat_3, and got those of "):
            env.step(missing)
    assert batch_of(env).tables.tobytes() == before
    env.step({agent: np.int64(action) for agent, action in good.items()})
    assert batch_of(env).tables.tobytes() != before


def test_calls_out_of_order_and_unknown_agents() -> None:
    env = nainjaune_env.parallel_env(render_mode="ansi")
    with pytest.raises(IllegalActionError, match="reset"):
        env.step({})
    with pytest.raises(AssertionError, match="reset"):  # PettingZoo's own
        env.render()
    for ask in (env.observation_space, env.action_space):
        with pytest.raises(AgentError, match=r"'seat_9'.*seat_0, seat_1, seat_2, seat_3"):
            ask("seat_9")
    observations, _ = env.reset(seed=0)
    assert "seat 1" in env.render()
    play_parallel(env, np.random.default_rng(0), observations)
    with pytest.raises(IllegalActionError, match="reset"):
        env.step({})
    with pytest.raises(RulesError, match="render mode"):
        nainjaune_env.parallel_env(render_mode="rgb")


@pytest.mark.parametrize(("game", "preset"), FORCED_ENDS)
def test_rewards_of_plies_made_before_the_first_step_are_handed_out(game: str, preset: str) -> None:
    """Plies without a choice can end a round, or the whole episode, as it is dealt. No reset hands out a reward."""
    setup = make_setup(game, preset)
    plies, asked = single(setup, seed=3), Batch(setup, 1, autoreset=False)
    draws = streams(3, 1)
    late: list[Any] = []  # tables from where nobody has a choice any more
    while len(late) < 3:
        asked.set_tables(0, plies.tables)
        if asked.done[0]:
            late.append(plies.tables[0].copy())
            plies.reset()
        else:
            plies.step(plies.sample(draws))
    for table in late:
        for episode in ("round", "match"):
            env = nainjaune_env.parallel_env(preset, game=game, skip_forced=True, episode=episode)
            in_turn = nainjaune_env.env(preset, game=game, skip_forced=True, episode=episode)
            observations, infos = env.reset(options={"table": table})
            in_turn.reset(options={"table": table})
            assert set(observations) == set(infos) == set(env.possible_agents) == set(env.agents)
            returns = play_parallel(env, np.random.default_rng(0), observations)
            assert returns == play(in_turn, np.random.default_rng(0))
            assert any(returns.values())
            if episode == "round":
                assert list(returns.values()) == payoffs(batch_of(env))
