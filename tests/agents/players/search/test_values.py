"""Running sums of outcomes, checked with NumPy on the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from nainjaune_agents.players.search.agent import typical_error
from nainjaune_agents.players.search.values import ActionStats, PairedStats, Trial, as_rows


def trial(rows: list[int], actions: list[int], outcomes: object) -> Trial:
    """Outcomes ``(k, W, M, C)`` of as many determinizations of each row."""
    values = np.array(outcomes, float)
    return Trial(np.array(rows), np.array(actions), np.full(len(rows), values.shape[1]), values.reshape(-1, *values.shape[2:]))


def test_means_and_errors_are_those_of_the_determinizations_that_were_tried() -> None:
    """An action that was dropped is compared with the others over the determinizations of both."""
    values = np.random.default_rng(1).integers(-9, 10, (50, 3, 2)).astype(float)
    sums = PairedStats(2, 3, 2)
    for part, actions in ((values[:20], [0, 1, 2]), (values[20:30, [0, 2]], [0, 2]), (values[30:, [2]], [2])):
        sums.add(trial([1], actions, part[None]), np.ones((1, len(actions)), bool))
    tried = [30, 20, 50]
    assert sums.count.tolist() == [[0, 0, 0], tried]
    assert np.isnan(sums.mean()[0]).all()
    assert np.isnan(sums.ahead(np.zeros(2, np.int64))[0]).all()
    for action, count in enumerate(tried):
        own = values[:count, action]
        assert sums.mean()[1, action] == pytest.approx(own.mean(axis=0))
        assert sums.error()[1, action] == pytest.approx(own.std(axis=0, ddof=1) / np.sqrt(count))
        for of, other in enumerate(tried):
            common = min(count, other)
            apart = values[:common, of] - values[:common, action]
            assert sums.ahead(np.array([0, of]))[1, action] == pytest.approx(apart.mean(axis=0))
            error = apart.std(axis=0, ddof=1) / np.sqrt(common)
            assert sums.ahead_error(np.array([0, of]))[1, action] == pytest.approx(error, abs=1e-6)


def test_actions_with_equal_outcomes_differ_by_exactly_nothing() -> None:
    """Centred payoffs of five seats are fifths, whose squares are rounded: noise that a search would try to reduce."""
    decisions = 20
    sums, values = PairedStats(decisions, 2), np.random.default_rng(1).integers(-60, 60, (decisions, 30, 1, 1)) / 5
    for part in np.split(values, [7, 20], axis=1):
        sums.add(trial([*range(decisions)], [0, 1], part.repeat(2, axis=2)), np.ones((decisions, 2), bool))
    for figures in (sums.ahead, sums.ahead_error):
        assert not figures(np.zeros(decisions, np.int64)).any()


def test_decisions_that_try_different_actions_are_added_together() -> None:
    sums = PairedStats(3, 3)
    tried = np.array([[True, True, False], [False, True, True]])
    sums.add(trial([0, 2], [0, 1, 2], [[[[1], [5], [0]], [[4], [5], [0]]], [[[0], [7], [1]], [[0], [7], [2]]]]), tried)
    assert sums.count.tolist() == [[2, 2, 0], [0, 0, 0], [0, 2, 2]]
    assert sums.mean()[[0, 0, 2, 2], [0, 1, 1, 2], 0].tolist() == [2.5, 5, 7, 1.5]
    assert sums.error()[0, :2, 0].tolist() == pytest.approx([1.5, 0])
    ahead = sums.ahead(np.array([1, 0, 2]))[..., 0]
    assert ahead[[0, 2]] == pytest.approx(np.array([[2.5, 0, np.nan], [np.nan, -5.5, 0]]), nan_ok=True)
    assert np.isnan(sums.mean()).sum() == 5


def test_a_typical_error_of_single_payoffs_is_their_spread() -> None:
    sums = ActionStats(3, 3)
    tried = as_rows(np.array([0b011, 0b111, 0b011]), 3)
    payoffs = np.array([[3.0, 4, 0], [0, 0, 0], [1, 3, 0]])
    sums.add(trial([0, 1, 2], [0, 1, 2], payoffs[:, None, :, None]), tried)
    assert typical_error(sums).tolist() == pytest.approx([12.5**0.5, 1, 5**0.5])
    sums.add(trial([2], [0], [[[[5.0]]]]), np.ones((1, 1), bool))
    assert typical_error(sums)[2] == pytest.approx(2)
