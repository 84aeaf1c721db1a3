"""Flat Monte Carlo with sequential halving."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.players.search import SearchAgent, rollouts_by, searching
from nainjaune_agents.players.search.agent import schedule
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.contract import helper
from tests.support.positions import is_legal, small, turns
from tests.test_agent import untrained

PERFECT = make_setup("batasaurus", None, 3, memory="perfect")
SETUPS = [make_setup("nain_jaune", "djeco", 3), small(4), PERFECT]
both = pytest.mark.parametrize("setup", SETUPS, ids=["djeco", "classic", "batasaurus"])


def searchers(setup: Setup, deals: int = 6) -> list[SearchAgent]:
    simple = [name for name in ("random", "lowest", "tally", "mirror") if name in heuristics(setup.game.name)]
    agents: list[Agent] = [load_agent(name, setup) for name in simple]
    agents += [untrained(setup), untrained(setup, "drawn", stochastic=True)]
    flat = [SearchAgent(agent.name, rollouts_by(agent, setup), deals) for agent in agents]
    return [*flat, searching(untrained(setup), deals, setup)]


class Known:
    """Rollouts that come to what they are told, and note what they are asked."""

    def __init__(self, worth: list[float]) -> None:
        self.worth = np.array(worth)
        self.asked: list[tuple[bytes, int]] = []

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        self.asked += [(table.tobytes(), int(word)) for table, word in zip(tables, actions, strict=True)]
        return np.where(actions[:, None] >> np.arange(len(self.worth)) & 1, self.worth, 0)


def first_decisions(tables: int) -> DecisionBatch:
    return next(turns(small(), seed=10, tables=tables, steps=1))


@both
def test_what_is_hidden_moves_no_search(setup: Setup) -> None:
    """The same deal but for what the seat cannot know, the same generator: the same values to the last bit."""
    mixer, players = random.Random(1), searchers(setup)
    for step, decisions in enumerate(turns(setup, seed=7, tables=4, steps=3)):
        seen = decisions._batch
        other = Batch(setup, 4)
        other.set_tables(
            np.arange(4),
            np.array([helper(setup).reshuffle(setup, row, int(row.seat), mixer) for row in seen.tables]),
            trusted=True,
        )
        again = DecisionBatch(other, np.arange(4))
        for agent in players:
            one = agent.evaluate_actions(decisions, np.random.default_rng(step))
            two = agent.evaluate_actions(again, np.random.default_rng(step))
            assert one.mean.tobytes() == two.mean.tobytes(), agent.name
            actions = [agent.act(each, np.random.default_rng(step)) for each in (decisions, again)]
            assert actions[0].tolist() == actions[1].tolist() == one.action.tolist(), agent.name
            assert is_legal(decisions, actions[0])


@both
def test_a_search_touches_no_table_and_draws_from_its_generator_alone(setup: Setup) -> None:
    (decisions,) = turns(setup, seed=8, tables=5, steps=1)
    before = decisions._batch.tables.copy()
    for agent in searchers(setup):
        first = agent.evaluate_actions(decisions, np.random.default_rng(1))
        assert decisions._batch.tables.tobytes() == before.tobytes()
        again = agent.evaluate_actions(decisions, np.random.default_rng(1))
        assert first.mean.tobytes() == again.mean.tobytes()
        other = agent.evaluate_actions(decisions, np.random.default_rng(2))
        if setup is not PERFECT:  # before a battle nothing is hidden there
            assert first.mean.tobytes() != other.mean.tobytes()


@both
def test_a_decision_is_the_same_among_others(setup: Setup) -> None:
    """With a generator for each row, how many decisions come at once makes no difference."""
    (decisions,) = turns(setup, seed=9, tables=5, steps=1)
    for agent in searchers(setup)[:-3]:  # a network may round otherwise with more rows
        together = agent.evaluate_actions(decisions, RowStreams(streams(3, 5), np.arange(5)))
        for i in range(5):
            alone = agent.evaluate_actions(
                DecisionBatch(decisions._batch, np.array([i])), RowStreams(streams(3, 5)[i : i + 1], np.arange(1))
            )
            assert alone.mean.tobytes() == together.mean[i : i + 1].tobytes()


def test_actions_are_tried_in_the_same_determinizations_and_the_worse_half_is_given_up() -> None:
    worth = [float(action % 7) for action in range(24)]
    decisions = first_decisions(4)
    rollouts = Known(worth)
    values = SearchAgent("known", rollouts, 12).evaluate_actions(decisions, np.random.default_rng(0))
    assert len({table for table, _ in rollouts.asked}) == len(rollouts.asked)  # each table once, with all that is tried in it
    for i, word in enumerate(decisions.legal):
        legal = legal_actions(int(word))
        ranked = sorted(legal, key=lambda action: (-worth[action], action))
        phases = max((len(legal) - 1).bit_length(), 1)
        count, left = dict.fromkeys(legal, 0), ranked
        for _ in range(phases):
            for action in left:
                count[action] += 12 * len(legal) // (phases * len(left))
            left = left[: (len(left) + 1) // 2]
        assert len(left) == 1
        assert values.action[i] == left[0]
        assert {action: int(values.count[i, action]) for action in legal} == count
        assert sum(count.values()) <= 12 * len(legal)
        assert [values.mean[i, action] for action in legal] == [worth[action] for action in legal]
        assert np.isnan(np.delete(values.mean[i], legal)).all()
        assert values.count[i].sum() == sum(count.values())


def test_memory_holds_the_determinizations_of_some_decisions_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small(4)
    (decisions,) = turns(setup, seed=9, tables=6, steps=1)
    agent = searching(heuristics("nain_jaune")["tally"], 10, setup)
    whole = agent.evaluate_actions(decisions, np.random.default_rng(1))
    for count in (1, 50):
        monkeypatch.setattr("nainjaune_agents.players.search.agent.DETERMINIZATIONS", count)
        parts = agent.evaluate_actions(decisions, np.random.default_rng(1))
        for field in ("mean", "error", "count", "action"):
            assert getattr(parts, field).tobytes() == getattr(whole, field).tobytes()


def test_the_schedule() -> None:
    table = schedule(np.array([1, 2, 3, 4, 9]), 12, halving=True)
    assert table.tolist() == [[12, 12, 6, 6, 3], [0, 0, 9, 12, 5], [0, 0, 0, 0, 9], [0, 0, 0, 0, 13]]
    assert schedule(np.array([1, 9]), 12, halving=False).tolist() == [[12, 12]]
    assert schedule(np.array([16]), 1, halving=True).tolist() == [[1], [1], [1], [2]]
    assert schedule(np.zeros(0, np.int64), 5, halving=True).shape == (1, 0)


def test_without_halving_all_actions_are_tried_alike() -> None:
    decisions = first_decisions(4)
    values = SearchAgent("known", Known([float(a) for a in range(24)]), 9, halving=False).evaluate_actions(
        decisions, np.random.default_rng(0)
    )
    assert (values.count[decisions.mask] == 9).all()
    assert (values.count[~decisions.mask] == 0).all()
    assert values.action.tolist() == [max(legal_actions(int(word))) for word in decisions.legal]


class Thinks:
    """A prior that says the same of each action wherever it is asked."""

    def __init__(self, nats: list[float]) -> None:
        self.nats = np.array(nats, np.float32)

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        return np.tile(self.nats, (len(observation), 1))


def test_what_the_prior_takes_for_very_unlikely_is_not_tried() -> None:
    decisions = first_decisions(8)
    nats = [-1.5 * action for action in range(24)]
    agent = SearchAgent("known", Known([float(action) for action in range(24)]), 6, prior=Thinks(nats))
    values, actions = agent.evaluate_actions(decisions, np.random.default_rng(0)), agent.act(decisions, np.random.default_rng(0))
    for i, word in enumerate(decisions.legal):
        legal = legal_actions(int(word))
        likely = [action for action in legal if nats[action] - nats[legal[0]] > -np.log(1000)]
        assert np.flatnonzero(values.count[i]).tolist() == likely
        assert actions[i] == values.action[i] == likely[-1]
    tried = (values.count > 0).sum(axis=1)
    assert set(tried) & {2, 3, 4}
    assert (tried < [len(legal_actions(int(word))) for word in decisions.legal]).any()


def test_where_the_prior_is_sure_nothing_is_searched() -> None:
    decisions = first_decisions(4)
    rollouts = Known([float(action) for action in range(24)])
    actions = SearchAgent("sure", rollouts, 6, prior=Thinks([-10.0 * a for a in range(24)])).act(
        decisions, np.random.default_rng(0)
    )
    assert actions.tolist() == [legal_actions(int(word))[0] for word in decisions.legal]
    assert rollouts.asked == []


class Noisy:
    """Rollouts that say of a coin at the table, the same for all actions but for what they are worth."""

    def __init__(self, worth: list[float]) -> None:
        self.worth = np.array(worth)

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        coin = (tables["rng"] >> np.uint64(63)).astype(float)[:, None]
        return np.where(actions[:, None] >> np.arange(len(self.worth)) & 1, self.worth + 100 * coin, 0)


@pytest.mark.parametrize("halving", [True, False])
def test_a_nat_of_the_prior_is_worth_a_fifth_of_a_standard_error(halving: bool) -> None:
    """100 determinizations an action, means that are off by 5, common to all: what the prior favours by a nat may be 1 worse."""
    decisions = first_decisions(1)
    first, second = legal_actions(int(decisions.legal[0]))[:2]
    for nats, worse, expected in ((1.0, 0.6, first), (1.0, 1.4, second), (3.0, 2.6, first), (3.0, 3.4, second)):
        worth, prior = [0.0] * 24, [-50.0] * 24
        worth[second], prior[first], prior[second] = worse, nats, 0.0
        agent = SearchAgent("noisy", Noisy(worth), 100, halving=halving, prior=Thinks(prior))
        assert agent.act(decisions, np.random.default_rng(0)).tolist() == [expected], (nats, worse)


@pytest.mark.parametrize("halving", [True, False])
def test_the_prior_keeps_its_weight_where_actions_are_tried_once(halving: bool) -> None:
    """One determinization each, with payoffs of about 100 or 0: five nats outweigh a difference of 1, and not one of 500."""
    decisions = first_decisions(1)
    first, second = legal_actions(int(decisions.legal[0]))[:2]
    worth, prior = [-50.0] * 24, [-50.0] * 24
    worth[first], worth[second], prior[first], prior[second] = 50.0, 51.0, 0.0, -5.0
    chosen = []
    for better in (1.0, 500.0):
        worth[second] = worth[first] + better
        agent = SearchAgent("noisy", Noisy(worth), 1, halving=halving, prior=Thinks(prior))
        chosen += agent.act(decisions, np.random.default_rng(0)).tolist()
    assert chosen == [first, second]


def test_nothing_is_searched_where_there_is_no_choice() -> None:
    setup = small()
    batch = Batch(setup, 40, seed=3, skip_forced=False)
    draws = streams(3, 40)
    for _ in range(5):
        batch.step(batch.sample(draws))
    decisions = DecisionBatch(batch, np.arange(40))
    rollouts = Known([0.0] * 24)
    agent = SearchAgent("known", rollouts, 3)
    forced = (decisions.legal & (decisions.legal - 1)) == 0
    assert 5 < forced.sum() < 35
    assert is_legal(decisions, agent.act(decisions, np.random.default_rng(0)))
    asked = len(rollouts.asked)
    values = agent.evaluate_actions(decisions, np.random.default_rng(0))
    assert (values.count[forced].sum(axis=1) == 3).all()
    assert len(rollouts.asked) == 2 * asked + 3 * forced.sum()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tally@search=0", r"a whole number of deals from 1 to 10000 after @search=, not 0\."),
        ("tally@search=nan", r"a whole number of deals from 1 to 10000 after @search=, not nan\."),
        ("tally@adaptive=7", "from 8 to 10000 after @adaptive="),
        ("tally@search=few", r"After @search= comes a number, not 'few'\."),
        ("tally@search=5@search=5", r"tally@search=5 searches already; a search over it would search at every decision"),
        ("tally@search=8@adaptive=8", "searches already"),
        ("tally@search=3,rollouts=nobody", "agent 'nobody'"),
        ("tally@search=3,objective=mine", "'mine'"),
        (
            "tally@search=5,inference=policy",
            r"needs the probabilities of actions, so a network, not 'tally': a network computes them from observations alone\.",
        ),
        ("tally@search=5,inference=all", r"inference of a search.*'all'.*none, policy"),
        ("tally@search=5,worlds=policy", r"a search ,objective=centred, ,inference=policy or ,rollouts=AGENT, not '5,worlds="),
        ("tally@heed=1,inference=policy", r"After the number of @heed= comes nothing"),
    ],
)
def test_searches_that_there_are_not(name: str, says: str) -> None:
    with pytest.raises(AgentError, match=says):
        load_agent(name, small())


def test_inference_needs_a_game_with_a_history() -> None:
    with pytest.raises(AgentError, match="Batasaurus has no history of play for agents"):
        load_agent("random@search=5,inference=policy", PERFECT)


def test_a_search_over_a_net_has_its_policy_for_a_prior() -> None:
    """Also where it plays its likeliest action alone: what it thinks of the others is what counts."""
    setup, decisions = small(), first_decisions(8)
    net = untrained(setup)
    with torch.no_grad():
        net.net.policy.weight *= 4
    shares = NetAgent("drawn", net.net, stochastic=True).probabilities(decisions)
    values = searching(net, 2, setup).evaluate_actions(decisions, np.random.default_rng(0))
    against_best = shares / shares.max(axis=1, keepdims=True)
    assert (values.count[against_best > 0.0012] > 0).all()
    assert (values.count[against_best < 0.0008] == 0).all()
    assert (against_best[decisions.mask] < 0.0008).any()
    assert ((values.count > 0).sum(axis=1) > 1).any()


def test_another_agent_may_play_the_rollouts() -> None:
    setup = make_setup()
    (decisions,) = turns(setup, seed=10, tables=8, steps=1)

    def values(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        agent = load_agent(name, setup)
        assert agent.name == name
        assert isinstance(agent, SearchAgent)
        values = agent.evaluate_actions(decisions, np.random.default_rng(0))
        return values.mean, values.count

    own, own_count = values("random@search=3")
    other, count = values("random@search=3,rollouts=tally")
    expected, _ = values("tally@search=3")
    np.testing.assert_array_equal(other, expected)  # neither has a prior
    assert not np.array_equal(own, other, equal_nan=True)
    np.testing.assert_array_equal(count > 0, own_count > 0)
    _, by_network = values("zoo:strong@search=3")
    _, by_rule = values("zoo:strong@search=3,rollouts=closer")
    np.testing.assert_array_equal(by_rule > 0, by_network > 0)  # the network remains the prior
    assert load_agent("tally@search=3,rollouts=tally", setup).name == "tally@search=3"


def test_a_search_for_the_centred_payoff_is_named_by_its_objective() -> None:
    setup = small()
    agent = load_agent("tally@search=3,objective=centred", setup)
    assert agent.name == "tally@search=3,objective=centred"
    assert load_agent("tally@search=3,objective=own", setup).name == "tally@search=3"
    (decisions,) = turns(setup, seed=10, tables=8, steps=1)
    own, centred = (
        searching(load_agent("random", setup), 40, setup, objective=objective)
        .evaluate_actions(decisions, np.random.default_rng(0))
        .mean
        for objective in ("own", "centred")
    )
    assert np.nanmean(centred) > np.nanmean(own) + 1  # what stays in the pots is no loss
