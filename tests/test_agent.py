"""The protocol: what a turn shows, and that nobody's action depends on what is hidden."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.heuristics import RandomAgent, heuristics, modifiers
from nainjaune_agents.players.networks.net_agent import ROWS, NetAgent
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, StochasticPolicy, check_agents
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.contract import all_setups, helper
from tests.support.networks import mlp
from tests.support.positions import asked, is_legal, small, stirred, turns, with_memory_of


def untrained(setup: Setup, name: str = "net", *, stochastic: bool = False, recurrent: int = 0) -> NetAgent:
    """A net with a will: its last layers are scaled up, so that it does not play as good as at random."""
    net = mlp(setup, [16], recurrent=recurrent, seed=1)
    if recurrent:
        return NetAgent(name, stirred(net), stochastic=stochastic)
    with torch.no_grad():
        net.policy.weight *= 300
    return NetAgent(name, net, stochastic=stochastic)


def agents(setup: Setup) -> list[Agent]:
    simple = list(heuristics(setup.game.name).values())
    modified = [make(agent, 0.5) for make in modifiers(setup.game.name).values() for agent in simple if agent.name != "random"]
    nets = [untrained(setup), untrained(setup, "drawn", stochastic=True), untrained(setup, "remembers", recurrent=8)]
    return [*simple, *modified, *nets]


@pytest.mark.parametrize("setup", all_setups())
def test_what_is_hidden_moves_nobody(setup: Any) -> None:
    """The same deal but for what the seat cannot know, the same generator: the same action."""
    mixer = random.Random(1)
    players = agents(setup)
    for step, turns_of in enumerate(asked(setup, players, seed=7, tables=6, steps=20)):
        seen = turns_of[0]._batch
        other = Batch(setup, 6)
        rows = [helper(setup).reshuffle(setup, row, int(row.seat), mixer) for row in seen.tables]
        other.set_tables(np.arange(6), np.array(rows), trusted=True)
        assert (other.seat == seen.seat).all()
        for agent, decisions in zip(players, turns_of, strict=True):
            again = with_memory_of(decisions, other)
            one = agent.act(decisions, np.random.default_rng(step))
            two = agent.act(again, np.random.default_rng(step))
            assert one.tolist() == two.tolist(), agent.name
            if decisions._state is not None:
                assert decisions.state.tobytes() == again.state.tobytes(), agent.name


def test_a_turns_tables_are_redacted_copies() -> None:
    setup = small()
    for decisions in turns(setup, seed=8, tables=5, steps=20):
        before = decisions._batch.tables.copy()
        for row in decisions.tables:
            assert helper(setup).leaks(setup, row, int(row.seat)) == []
        decisions.tables["stack"] = 999
        assert decisions._batch.tables.tobytes() == before.tobytes()


def test_a_turn_shows_its_own_tables_in_order() -> None:
    batch = Batch(small(4), 9, seed=9)
    decisions = DecisionBatch(batch, np.array([7, 2, 2]))
    assert decisions.setup is batch.setup
    for part, whole in ((decisions.observation, batch.observation), (decisions.legal, batch.legal), (decisions.mask, batch.mask)):
        assert np.array_equal(part, whole[[7, 2, 2]])
    assert decisions.tables["seat"].tolist() == batch.seat[[7, 2, 2]].tolist()
    assert decisions.tables.tobytes() == batch.redacted([7, 2, 2]).tobytes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        decisions.index = np.arange(3)  # type: ignore[misc]


def test_the_protocol_can_be_asked_for() -> None:
    assert all(isinstance(agent, Agent) for agent in agents(small()))
    assert not isinstance(object(), Agent)
    assert isinstance(untrained(small()), RecurrentAgent)
    assert isinstance(untrained(small()), StochasticPolicy)
    random_agent = heuristics("patience")["random"]
    assert not isinstance(random_agent, RecurrentAgent)
    assert not isinstance(random_agent, StochasticPolicy)


@pytest.mark.parametrize("setup", [small(), make_setup("batasaurus")], ids=["nain_jaune", "batasaurus"])
def test_one_table_is_a_batch_of_one(setup: Setup) -> None:
    """How many decisions come at once makes no difference to those without chance."""
    players = [agent for agent in agents(setup) if agent.name not in ("random", "drawn") and "@" not in agent.name]
    for turns_of in asked(setup, players, seed=10, tables=7, steps=9):
        for agent, decisions in zip(players, turns_of, strict=True):
            each = [with_memory_of(decisions, decisions._batch, [i]) for i in range(7)]
            together = agent.act(decisions, np.random.default_rng(0))
            assert together.tolist() == [agent.act(one, np.random.default_rng(0))[0] for one in each]
            if decisions._state is not None:
                left = np.concatenate([one.state for one in each])
                assert decisions.state == pytest.approx(left, abs=1e-5)


@pytest.mark.parametrize("recurrent", [0, 8])
def test_a_net_agent_takes_more_decisions_than_go_through_at_once(recurrent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small()
    agent = untrained(setup, recurrent=recurrent)
    for (decisions,) in asked(setup, [agent], seed=11, tables=50, steps=3):
        with monkeypatch.context() as fewer:
            fewer.setattr("nainjaune_agents.players.networks.net_agent.ROWS", 7)
            again = with_memory_of(decisions, decisions._batch)
            in_parts = agent.act(again, np.random.default_rng(0))
        assert agent.act(decisions, np.random.default_rng(0)).tolist() == in_parts.tolist()
        if recurrent:
            assert decisions.state.any(axis=1).all()
            assert again.state == pytest.approx(decisions.state, abs=1e-5)
    assert ROWS > 7


def test_a_net_agent_draws_as_its_policy_says_or_takes_the_likeliest() -> None:
    setup = small()
    batch = Batch(setup, 1, seed=12)
    agent, drawn = untrained(setup), untrained(setup, stochastic=True)
    logits, _ = agent.net.evaluate(batch.observation)
    p = np.where(batch.mask[0], np.exp(logits[0].astype(np.float64)), 0)
    p /= p.sum()
    many = DecisionBatch(batch, np.zeros(20_000, np.int64))
    assert (agent.act(many, np.random.default_rng(0)) == p.argmax()).all()
    actions = drawn.act(many, np.random.default_rng(0))
    assert is_legal(many, actions)
    shares = np.bincount(actions, minlength=p.size) / 20_000
    assert np.abs(shares - p).max() < 4.5 * 0.5 / 20_000**0.5
    assert 0.05 < p.max() < 0.95


@pytest.mark.parametrize("recurrent", [0, 8])
@pytest.mark.parametrize("stochastic", [False, True])
def test_a_net_agents_probabilities(stochastic: bool, recurrent: int) -> None:
    """They are those of its policy, or all on the likeliest action; and it remembers as if it had acted."""
    setup = make_setup("batasaurus", None, 3)
    agent = untrained(setup, stochastic=stochastic, recurrent=recurrent)
    for (decisions,) in asked(setup, [agent], seed=13, tables=20, steps=9):
        again, third = with_memory_of(decisions, decisions._batch), with_memory_of(decisions, decisions._batch)
        shares = agent.probabilities(decisions)
        assert (shares.shape, shares.dtype) == ((20, len(setup.game.actions)), np.float64)
        assert shares.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-12)
        assert (shares[~decisions.mask] == 0).all()
        actions = agent.act(again, np.random.default_rng(0))
        if recurrent:
            assert decisions.state.tobytes() == again.state.tobytes()
        if stochastic:
            logits, _ = agent.net.evaluate(decisions.observation, third._state)
            rows = np.where(decisions.mask, np.exp(logits.astype(np.float64)), 0)
            assert shares == pytest.approx(rows / rows.sum(axis=1, keepdims=True), rel=1e-5)
            assert (shares[decisions.mask] > 0).all()
        else:
            assert shares[np.arange(20), actions].tolist() == [1.0] * 20


def test_probabilities_of_great_logits_are_finite() -> None:
    setup = small()
    agent = untrained(setup, stochastic=True)
    with torch.no_grad():
        agent.net.policy.weight *= 1e5
    (decisions,) = turns(setup, seed=14, tables=30, steps=1)
    shares = agent.probabilities(decisions)
    assert np.isfinite(shares).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(30))


@pytest.mark.parametrize("other", ["closer", None, RandomAgent, 3])
def test_what_is_no_agent_is_refused(other: object) -> None:
    check_agents([RandomAgent()])
    with pytest.raises(AgentError, match=r"An agent has a name and act\(decisions, rng\), unlike"):
        check_agents([RandomAgent(), other])
    with pytest.raises(AgentError, match="An agent has a name"):
        OwnGame(make_setup(), 1).check([RandomAgent(), other])  # type: ignore[list-item]
