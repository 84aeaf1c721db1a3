"""How episodes begin: seeds, the generator going on, and the options of ``reset``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nainjaune_env
from nainjaune_env import Batch
from nainjaune_env.core.errors import DealError
from nainjaune_env.core.prng import streams


@pytest.mark.parametrize("skip_forced", [True, False])
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("start", ["fresh", "carried", {"pots": [9, 0, 0, 3, 1]}])
def test_same_seed_same_games_as_a_batch(skip_forced: bool, episode: Any, start: Any) -> None:
    env = nainjaune_env.env(preset="skip", players=3, skip_forced=skip_forced, episode=episode, start=start)
    batch = Batch(env.setup, 1, seed=11, skip_forced=skip_forced, episode=episode, start=start)
    env.reset(seed=11)
    generator = streams(5, 1)
    for _ in range(3):  # later episodes: reset() without a seed goes on as autoreset does
        over = False
        while not over:
            agent = env.agent_selection
            assert agent == f"seat_{batch.seat[0]}"
            seen = env.observe(agent)
            np.testing.assert_array_equal(seen["observation"], batch.observation[0])
            np.testing.assert_array_equal(seen["action_mask"], batch.mask[0])
            action = batch.sample(generator)
            batch.step(action)
            env.step(action[0])
            assert list(env.rewards.values()) == batch.reward[0].tolist()
            over = any(env.terminations.values())
            assert over == batch.done[0]
        env.reset()


def test_without_any_seed_games_differ() -> None:
    states = []
    for _ in range(2):
        env = nainjaune_env.env()
        env.reset()
        states.append(env.state())
    assert (states[0] != states[1]).any()


def test_options_that_do_not_fit_are_refused_and_change_nothing() -> None:
    env = nainjaune_env.env()
    env.reset(seed=4)
    before = env.unwrapped._batch.tables.tobytes()
    table = env.unwrapped._batch.tables[0].copy()
    over = table.copy()
    over["stage"] = 1
    debt, twice = table.copy(), table.copy()
    debt["pot"][0] = -(2**31)
    twice["hand"][1] = twice["hand"][0]
    for options, said in (
        ({"pots": [1] * 5}, "Unknown reset option 'pots'.*Valid: start, table"),
        ({"start": {"pots": [1, 2]}}, "shape"),
        ({"start": {"pot": [1] * 5}}, "'pots'"),
        ({"start": "carried"}, "values by name"),
        ({"start": {"pots": [1.5] * 5}}, "whole numbers"),
        (5, " not 5"),
        (["start"], " not "),
        ({"table": None}, "one record"),
        ({"table": [1, 2]}, "one record"),
        ({"table": env.unwrapped._batch.tables}, "one record"),
        ({"table": over}, "ROUND_OVER"),
        ({"table": debt}, r"^This table cannot occur: expected 0 to 268435456 chips in a pot"),
        ({"table": twice}, r"^This table cannot occur: expected every card in one hand"),
    ):
        with pytest.raises(DealError, match=said):
            env.reset(options=options)
    with pytest.raises(DealError, match="no seed"):
        env.reset(seed=1, options={"table": table})
    assert env.unwrapped._batch.tables.tobytes() == before
