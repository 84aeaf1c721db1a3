"""A search that stops where more determinizations would gain little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.search import AdaptiveSearchAgent
from nainjaune_agents.players.search.adaptive import POOLED, _paired, keep, unit_loss
from nainjaune_agents.players.search.values import PairedStats, Trial
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.prng import RowStreams, streams
from tests.support.positions import is_legal, small, turns

from .test_agent import Thinks


class Drawn:
    """Rollouts of known means: a number common to all actions at a table, and one of each action's own."""

    def __init__(self, means: list[float], common: float, own: float) -> None:
        self.means, self.common, self.own = np.array(means), common, own

    def values(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        rng = np.random.default_rng(tables["rng"].astype(np.uint64).tolist())
        noise = self.common * rng.normal(size=(len(tables), 1)) + self.own * rng.normal(size=(len(tables), len(self.means)))
        return np.where(actions[:, None] >> np.arange(len(self.means)) & 1, self.means + noise, 0)


def one_decision(tables: int = 1) -> tuple[DecisionBatch, list[int]]:
    (decisions,) = turns(small(), seed=10, tables=tables, steps=1)
    return decisions, legal_actions(int(decisions.legal[0]))


def test_what_is_clear_in_paired_differences_ends_after_the_first_phase() -> None:
    """Payoffs vary a hundred times as much as their differences."""
    decisions, legal = one_decision()
    means = [float(action) for action in range(24)]
    values = AdaptiveSearchAgent("clear", Drawn(means, 100.0, 0.1), 32).evaluate_actions(decisions, np.random.default_rng(0))
    assert values.action.tolist() == [legal[-1]]
    assert values.count[0, legal].tolist() == [8] * len(legal)
    assert values.error[0, legal[0]] > 10


def test_only_actions_that_may_be_best_are_tried_further() -> None:
    decisions, legal = one_decision()
    means = [-20.0] * 24
    means[legal[0]] = means[legal[1]] = 0.0
    values = AdaptiveSearchAgent("close", Drawn(means, 5.0, 1.0), 32, prior=None).evaluate_actions(
        decisions, np.random.default_rng(1)
    )
    assert values.count[0, legal[:2]].min() > 8
    assert values.count[0, legal[2:]].tolist() == [8] * (len(legal) - 2)
    assert values.action[0] in legal[:2]
    assert np.isnan(np.delete(values.mean[0], legal)).all()


def test_equal_actions_go_to_the_last_phase_only_without_a_prior() -> None:
    decisions, legal = one_decision()
    counts, nats = [], [-50.0] * 24
    nats[legal[0]], nats[legal[1]] = 0.0, -1.5
    for prior in (None, Thinks(nats)):
        most = 0
        for seed in range(12):
            agent = AdaptiveSearchAgent("equal", Drawn([0.0] * 24, 5.0, 1.0), 16, prior=prior)
            most = max(most, int(agent.evaluate_actions(decisions, np.random.default_rng(seed)).count.max()))
        counts.append(most)
    assert counts[0] == 64
    assert counts[1] < 64


def test_the_prior_decides_where_all_rollouts_are_equal_and_bounds_what_is_tried() -> None:
    decisions, legal = one_decision()
    nats = [-2.1] * 24
    nats[legal[1]], nats[legal[0]] = 0.0, -1.9
    agent = AdaptiveSearchAgent("sure", Drawn([0.0] * 24, 5.0, 0.0), 16, prior=Thinks(nats))
    values = agent.evaluate_actions(decisions, np.random.default_rng(0))
    assert values.action.tolist() == [legal[1]]
    assert np.flatnonzero(values.count[0]).tolist() == sorted(legal[:2])
    assert agent.act(decisions, np.random.default_rng(0)).tolist() == [legal[1]]


def test_a_decision_is_the_same_among_others() -> None:
    (decisions,) = turns(small(4), seed=9, tables=6, steps=1)
    agent = load_agent("tally@adaptive=12", small(4))
    assert isinstance(agent, AdaptiveSearchAgent)
    together = agent.evaluate_actions(decisions, RowStreams(streams(3, 6), np.arange(6)))
    assert len(set(together.count.max(axis=1))) > 1
    assert is_legal(decisions, together.action)
    for i in range(6):
        single = DecisionBatch(decisions._batch, np.array([i]))
        alone = agent.evaluate_actions(single, RowStreams(streams(3, 6)[i : i + 1], np.arange(1)))
        for name in ("mean", "error", "count", "action"):
            assert getattr(alone, name).tobytes() == getattr(together, name)[i : i + 1].tobytes()


def test_paired_deviations_are_those_of_the_differences() -> None:
    values = np.random.default_rng(2).normal(size=(40, 3)) * [1, 2, 3]
    stats, left, row = PairedStats(1, 3), np.ones((1, 3), bool), np.array([0])
    for part in (values[:15], values[15:]):
        stats.add(Trial(row, np.arange(3), np.array([len(part)]), part[..., None]), left)
    difference, deviation = _paired(stats, row, left, row, 40)
    apart = values - values[:, :1]
    variance = apart.var(axis=0, ddof=1)
    assert difference[0] == pytest.approx(apart.mean(axis=0))
    assert deviation[0] == pytest.approx(np.sqrt((POOLED * variance.sum() / 2 + 39 * variance) / (POOLED + 39)))
    leader, kept = keep(stats, row, left, np.zeros((1, 3)), 40, 0.0)
    assert leader[0] == values.mean(axis=0).argmax()
    assert kept[0, leader[0]]


def test_the_expected_gain_of_knowing() -> None:
    assert unit_loss(np.array([0.0, 1.0, 2.0, 40.0])) == pytest.approx([0.3989423, 0.0833155, 0.0084907, 0.0], abs=1e-6)
