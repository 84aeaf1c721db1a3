"""The protocol: what a turn shows, and that nobody's action depends on what is hidden."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.agent import Agent, Turn
from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.net_agent import ROWS, NetAgent
from nainjaune_agents.networks import PolicyValueNet
from nainjaune_env.batch import Batch
from nainjaune_env.spec import Setup
from tests.agents.positions import is_legal, small, turns
from tests.contract import all_setups, helper


def untrained(setup: Setup, name: str = "net", *, stochastic: bool = False) -> NetAgent:
    """A net with a will: its last layers are scaled up, so that it does not play as good as at random."""
    net = PolicyValueNet(setup.layout, len(setup.game.actions), [16], torch.Generator().manual_seed(1))
    with torch.no_grad():
        net.policy.weight *= 300
    return NetAgent(name, net, stochastic=stochastic)


def agents(setup: Setup) -> list[Agent]:
    return [*heuristics(setup.game.name).values(), untrained(setup), untrained(setup, "drawn", stochastic=True)]


@pytest.mark.parametrize("setup", all_setups())
def test_what_is_hidden_moves_nobody(setup: Any) -> None:
    """The same deal but for what the seat cannot know, the same generator: the same action."""
    mixer = random.Random(1)
    for turn in turns(setup, seed=7, tables=6, steps=8):
        seen = turn._batch
        other = Batch(setup, 6)
        rows = [helper(setup).reshuffle(setup, row, int(row.seat), mixer) for row in seen.tables]
        other.set_tables(np.arange(6), np.array(rows))
        assert (other.seat == seen.seat).all()
        for agent in agents(setup):
            one = agent.act(turn, np.random.default_rng(1))
            two = agent.act(Turn(other, turn.index), np.random.default_rng(1))
            assert one.tolist() == two.tolist()


def test_a_turns_tables_are_redacted_copies() -> None:
    setup = small()
    for turn in turns(setup, seed=8, tables=5, steps=20):
        before = turn._batch.tables.copy()
        for row in turn.tables:
            assert helper(setup).leaks(setup, row, int(row.seat)) == []
        turn.tables["stack"] = 999
        assert turn._batch.tables.tobytes() == before.tobytes()


def test_a_turn_shows_its_own_tables_in_order() -> None:
    batch = Batch(small(4), 9, seed=9)
    turn = Turn(batch, np.array([7, 2, 2]))
    assert turn.setup is batch.setup
    for part, whole in ((turn.observation, batch.observation), (turn.legal, batch.legal), (turn.mask, batch.mask)):
        assert np.array_equal(part, whole[[7, 2, 2]])
    assert turn.tables["seat"].tolist() == batch.seat[[7, 2, 2]].tolist()
    assert turn.tables.tobytes() == batch.redacted([7, 2, 2]).tobytes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        turn.index = np.arange(3)  # type: ignore[misc]


def test_the_protocol_can_be_asked_for() -> None:
    assert all(isinstance(agent, Agent) for agent in agents(small()))
    assert not isinstance(object(), Agent)


def test_one_table_is_a_batch_of_one() -> None:
    """How many decisions come at once makes no difference to those without chance."""
    setup = small()
    for turn in turns(setup, seed=10, tables=7, steps=5):
        for agent in agents(setup):
            if agent.name in ("random", "drawn"):
                continue
            together = agent.act(turn, np.random.default_rng(0))
            alone = [agent.act(Turn(turn._batch, np.array([i])), np.random.default_rng(0))[0] for i in range(7)]
            assert together.tolist() == alone


def test_a_net_agent_takes_more_decisions_than_go_through_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small()
    (turn,) = turns(setup, seed=11, tables=50, steps=1)
    whole = untrained(setup).act(turn, np.random.default_rng(0))
    monkeypatch.setattr("nainjaune_agents.net_agent.ROWS", 7)
    assert untrained(setup).act(turn, np.random.default_rng(0)).tolist() == whole.tolist()
    assert ROWS > 7


def test_a_net_agent_draws_as_its_policy_says_or_takes_the_likeliest() -> None:
    setup = small()
    batch = Batch(setup, 1, seed=12)
    agent, drawn = untrained(setup), untrained(setup, stochastic=True)
    logits, _ = agent.net.evaluate(batch.observation)
    p = np.where(batch.mask[0], np.exp(logits[0].astype(np.float64)), 0)
    p /= p.sum()
    many = Turn(batch, np.zeros(20_000, np.int64))
    assert (agent.act(many, np.random.default_rng(0)) == p.argmax()).all()
    actions = drawn.act(many, np.random.default_rng(0))
    assert is_legal(many, actions)
    shares = np.bincount(actions, minlength=p.size) / 20_000
    assert np.abs(shares - p).max() < 4.5 * 0.5 / 20_000**0.5
    assert 0.05 < p.max() < 0.95
