"""Rollouts, compiled and through a batch, against rounds played one ply at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.search.rollouts import BatchedRollouts, CompiledRollouts, rollouts_by
from nainjaune_env.agent import Agent, Turn
from nainjaune_env.batch import Batch, legal_actions
from nainjaune_env.prng import streams
from nainjaune_env.registry import make_setup
from nainjaune_env.spec import Setup
from tests.agents.positions import small
from tests.contract import payoffs
from tests.test_agent import untrained

PERFECT = make_setup("batasaurus", None, 3, memory="perfect")
setups = pytest.mark.parametrize("setup", [small(), make_setup("nain_jaune", "djeco", 4), PERFECT])


def positions(setup: Setup, *, skip_forced: bool = True, steps: int = 4) -> Batch:
    batch, draws = Batch(setup, 12, seed=5, skip_forced=skip_forced), streams(5, 12)
    for _ in range(steps):
        batch.step(batch.sample(draws))
    return batch


def by_hand(setup: Setup, agent: Agent, world: Any, action: int) -> int:
    """The payoff of the seat to act, the round played by `agent` a ply at a time."""
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    batch.set_tables(0, world)
    seat = int(batch.seat[0])
    batch.step([action])
    while batch.legal[0]:
        batch.step(agent.act(Turn(batch, np.arange(1)), np.random.default_rng(0)))
    return payoffs(batch)[seat]


@setups
@pytest.mark.parametrize("skip_forced", [True, False])
def test_rollouts_come_to_what_rounds_played_by_hand_do(setup: Setup, skip_forced: bool) -> None:
    batch = positions(setup, skip_forced=skip_forced)
    worlds = batch.tables
    for name in list(heuristics(setup.game.name))[1:]:
        agent = heuristics(setup.game.name)[name]
        expected = np.zeros((12, batch.num_actions))
        for w, word in enumerate(batch.legal):
            for action in legal_actions(int(word)):
                expected[w, action] = by_hand(setup, agent, worlds[w], action)
        for rollouts in (rollouts_by(agent, setup), BatchedRollouts(setup, agent)):
            before = worlds.tobytes()
            assert rollouts.values(worlds, batch.legal).tolist() == expected.tolist(), (name, type(rollouts))
            assert worlds.tobytes() == before


def test_rules_of_thumb_and_chance_are_compiled_and_nets_are_not() -> None:
    setup = small()
    for name, agent in heuristics("nain_jaune").items():
        assert isinstance(rollouts_by(agent, setup), CompiledRollouts), name
    assert isinstance(rollouts_by(untrained(setup), setup), BatchedRollouts)


@setups
def test_only_the_actions_asked_for_are_tried(setup: Setup) -> None:
    batch = positions(setup)
    some = batch.legal & -batch.legal
    for agent in (heuristics(setup.game.name)["random"], untrained(setup)):
        values = rollouts_by(agent, setup).values(batch.tables, some)
        tried = (some[:, None] >> np.arange(batch.num_actions) & 1).astype(bool)
        assert (values[~tried] == 0).all()
        assert values[tried].any()


@setups
def test_rollouts_at_random_draw_every_action_alike(setup: Setup) -> None:
    """On average they come to what a batch played at random comes to."""
    batch = positions(setup)
    action = int(batch.legal[0] & -batch.legal[0]).bit_length() - 1
    many = 4000
    worlds = np.repeat(batch.tables[:1], many)
    worlds["rng"] = streams(1, many)
    seat = int(batch.seat[0])
    found = rollouts_by(heuristics(setup.game.name)["random"], setup).values(worlds, np.full(many, 1 << action))[:, action]
    played = Batch(setup, many, autoreset=False, skip_forced=False)
    played.set_tables(np.arange(many), worlds)
    total = played.reward[:, seat].astype(np.int64)
    played.step(np.full(many, action))
    draws = streams(2, many)
    while True:
        total += played.reward[:, seat]
        if played.done.all():
            break
        played.step(played.sample(draws))
    apart = abs(found.mean() - total.mean())
    assert apart < 4 * np.sqrt((found.var() + total.var()) / many)
    assert found.std() > 0


def test_more_tables_than_are_played_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small()
    batch = positions(setup)
    agent = heuristics("nain_jaune")["tally"]
    whole = BatchedRollouts(setup, agent).values(batch.tables, batch.legal)
    monkeypatch.setattr("nainjaune_agents.search.rollouts.ROWS", 5)
    assert BatchedRollouts(setup, agent).values(batch.tables, batch.legal).tolist() == whole.tolist()
