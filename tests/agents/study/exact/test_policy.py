"""Agents have the same policy on a tree as at tables, with and without memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.exact.batasaurus import ExactAgent
from nainjaune_agents.players.heuristics import RandomAgent
from nainjaune_agents.study.exact import policy as module
from nainjaune_agents.study.exact.policy import tabular
from nainjaune_agents.study.exact.response import best_response_gains
from nainjaune_agents.study.exact.tree import Tree, build_tree
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import make_setup
from tests.agents.measure.arena.scripted import Answers, Chance, Last

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def tree() -> Tree:
    return build_tree(make_setup("batasaurus", players=2, memory="perfect", dinosaurs=4))


class Counter:
    """Plays its k-th lowest card at its k-th decision, counting in its memory; it has no ``probabilities``."""

    name = "counter"

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        return np.dtype((np.int16, (1,)))

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        decisions.state[:, 0] += 1
        return np.array([self.card(int(word), int(k)) for word, k in zip(decisions.legal, decisions.state[:, 0], strict=True)])

    def card(self, word: int, k: int) -> int:
        cards = [a for a in range(63) if word >> a & 1]
        return cards[(k - 1) % len(cards)]


class LikelyCounter(Counter):
    """The same with ``probabilities``."""

    def probabilities(self, decisions: DecisionBatch) -> NDArray[np.float64]:
        return np.eye(decisions.num_actions)[self.act(decisions, RNG)]


def test_random_is_uniform(tree: Tree) -> None:
    assert (tabular(tree, RandomAgent(), RNG) == tree.uniform()).all()


def lowest(decisions: DecisionBatch) -> NDArray[np.int64]:
    return np.bitwise_count((decisions.legal & -decisions.legal) - 1).astype(np.int64)


@pytest.mark.parametrize(("agent", "at"), [(Answers(lowest), 0), (Last("last"), -1)])
def test_actions_that_do_not_depend_on_chance(tree: Tree, agent: Agent, at: int) -> None:
    policy = tabular(tree, agent, RNG)
    ends = tree.infosets.start[:-1] if at == 0 else tree.infosets.start[1:] - 1
    assert policy.sum() == tree.num_infosets
    assert (policy[ends] == 1).all()


@pytest.mark.parametrize("agent", [Counter(), LikelyCounter()])
def test_what_is_remembered_follows_a_seats_decisions(tree: Tree, agent: Counter) -> None:
    policy = tabular(tree, agent, RNG)
    sets = tree.infosets
    for infoset in range(tree.num_infosets):
        actions = sets.action[sets.start[infoset] : sets.start[infoset + 1]]
        word = sum(1 << int(action) for action in actions)
        chosen = actions[policy[sets.start[infoset] : sets.start[infoset + 1]] == 1]
        assert chosen.tolist() == [agent.card(word, int(tree.depth[infoset]) + 1)]


def test_an_agent_with_random_actions_is_refused(tree: Tree) -> None:
    with pytest.raises(AgentError, match=r"The agent 'chance' draws its action at random .* several draws \(--draws\)\."):
        tabular(tree, Chance(), RNG)


def test_it_is_asked_as_often_as_is_said_and_its_answers_counted(tree: Tree) -> None:
    once = [tabular(tree, Chance(), np.random.default_rng(seed), draws=1) for seed in range(10)]
    many = tabular(tree, Chance(), np.random.default_rng(1), draws=200)
    assert set(np.concatenate(once).tolist()) == {0.0, 1.0}
    assert many * 200 == pytest.approx(np.round(many * 200), abs=1e-9)
    assert np.abs(many - tree.uniform()).max() < 0.18  # five standard errors
    truth = best_response_gains(tree, tree.uniform()).mean_gain
    assert best_response_gains(tree, many).mean_gain == pytest.approx(truth, abs=0.1)
    assert np.mean([best_response_gains(tree, policy).mean_gain for policy in once]) > truth + 0.3


class Dreamer(Counter):
    """Only its memory is random, and decides later."""

    def act(self, decisions: DecisionBatch, rng: np.random.Generator) -> NDArray[np.int64]:
        first = decisions.state[:, 0] == 0
        actions = super().act(decisions, rng)
        decisions.state[first, 0] += rng.integers(2, size=first.sum(), dtype=np.int16)
        return actions


@pytest.mark.parametrize(("draws", "says"), [({}, "draws its action at random"), ({"draws": 20}, "draws its memory at random")])
def test_a_random_memory_is_refused(tree: Tree, draws: dict[str, int], says: str) -> None:
    with pytest.raises(AgentError, match=says):
        tabular(tree, Dreamer(), RNG, **draws)


def test_illegal_actions_are_refused(tree: Tree) -> None:
    with pytest.raises(AgentError, match="A policy holds probabilities"):
        tabular(tree, Answers(lambda decisions: np.full(len(decisions.index), 11)), RNG)


@pytest.mark.parametrize("given", [None, [0.5], np.ones(3), np.zeros((2, 2))])
def test_what_are_no_probabilities_is_refused(tree: Tree, given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LikelyCounter, "probabilities", lambda self, decisions: given)
    with pytest.raises(AgentError, match=r"The agent 'counter' was asked for probabilities of shape \(\d+, 13\), not below 0"):
        tabular(tree, LikelyCounter(), RNG)


def test_pieces_make_the_same_policy(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [tabular(tree, agent, RNG) for agent in (ExactAgent(), Counter())]
    monkeypatch.setattr(module, "CHUNK", 7)
    for agent, policy in zip((ExactAgent(), Counter()), whole, strict=True):
        assert (tabular(tree, agent, RNG) == policy).all()
