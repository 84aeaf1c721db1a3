"""alpha-rank: chains worked out by hand and by linear algebra, OpenSpiel's, and what happens where edges are not certain."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from open_spiel.python.egt import alpharank as open_spiel

from nainjaune_agents.stats.alpharank import EPSILON, alpha_rank, masses, stationary
from nainjaune_agents.stats.intervals import Z_95

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)
squares = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(-3, 3), min_size=k, max_size=k), min_size=k, max_size=k)
)
CYCLE = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_two_agents_by_hand() -> None:
    """From the better one to the worse with EPSILON, back with 1 - EPSILON: time is shared in these proportions."""
    np.testing.assert_allclose(alpha_rank(np.array([[9.0, 0.5], [-0.5, 9.0]])), [1 - EPSILON, EPSILON])


def test_equal_agents_are_equal() -> None:
    np.testing.assert_allclose(alpha_rank(np.full((5, 5), 2.5)), [0.2] * 5)
    assert alpha_rank(np.zeros((1, 1))).tolist() == [1.0]


@some
@given(squares)
def test_it_is_open_spiels(square: list[list[int]]) -> None:
    edges = np.array(square, float)
    _, _, theirs, _, _ = open_spiel.compute([edges], use_inf_alpha=True, inf_alpha_eps=EPSILON)
    np.testing.assert_allclose(alpha_rank(edges), theirs, rtol=1e-6, atol=1e-9)


@some
@given(squares, st.integers(0, 99))
def test_the_stationary_share_stays_as_it_is(square: list[list[int]], seed: int) -> None:
    """Also where rates lie nine orders of magnitude apart; and of several chains each is by itself."""
    k = len(square)
    chains = 10.0 ** (np.random.default_rng(seed).uniform(-9, 0, (3, k, k))) / k
    chains[:, range(k), range(k)] = 0
    shares = stationary(chains)
    assert shares.shape == (3, k)
    for chain, share in zip(chains, shares, strict=True):
        whole = chain + np.diag(1 - chain.sum(axis=1))
        np.testing.assert_allclose(share @ chain, share * chain.sum(axis=1), rtol=1e-9)
        np.testing.assert_allclose(share @ whole, share)
        assert share.sum() == pytest.approx(1)
        assert (stationary(chain) == share).all()


def test_only_signs_count_and_the_diagonal_does_not() -> None:
    one = alpha_rank(CYCLE + np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]]))
    np.testing.assert_array_equal(one, alpha_rank(100 * CYCLE + np.diag([5.0, -7, np.nan])))


def between(edges: NDArray[np.float64], half: float) -> Any:
    """Of advantages whose errors are independent; ``edges`` are antisymmetric, so they are advantages, too."""
    pairs = list(combinations(range(len(edges)), 2))
    return masses(edges, pairs, np.full(len(pairs), half), np.eye(len(pairs)), rng())


def test_what_is_certain_is_certain() -> None:
    edges = np.array([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]])
    for half in (0.0, 0.4):  # 1 is five standard errors from 0
        found = between(edges, half)
        np.testing.assert_array_equal(found.mass, alpha_rank(edges))
        np.testing.assert_array_equal(found.low, found.mass)
        np.testing.assert_array_equal(found.high, found.mass)


def test_a_pair_that_is_not_told_apart_may_be_either_way() -> None:
    edges = np.array([[0.0, 0.01, 2], [-0.01, 0, 2], [-2, -2, 0]])
    found = between(edges, 0.2)
    best, worse = alpha_rank(np.sign(edges))[:2]
    np.testing.assert_allclose(found.mass[:2], [best, worse])
    np.testing.assert_allclose(found.low[:2], worse)
    np.testing.assert_allclose(found.high[:2], best)
    np.testing.assert_array_equal(found.low[2], found.high[2])


def test_the_sign_of_an_advantage_turns_as_often_as_its_interval_says() -> None:
    """1 is 1.96 standard errors of 0.51 from 0, and as far as 2.5 % of the draws."""
    edges = np.array([[0.0, 1], [-1, 0]])
    assert between(edges, 1.1).low[0] == pytest.approx(EPSILON)
    assert between(edges, 0.9).low[0] == pytest.approx(1 - EPSILON)


def test_masses_are_those_of_a_bootstrap_over_deals() -> None:
    """The share of deals drawn anew, all pairs of a deal together, in which the third agent comes out best."""
    deals = np.random.default_rng(5).normal(size=(400, 3)) @ np.array([[0.3, 1, 1.05], [0, 0.3, 0.3], [0, 0, 0.3]]) + [
        2,
        0.08,
        0.07,
    ]
    pairs = [(0, 1), (0, 2), (1, 2)]

    def matrix(means: NDArray[np.float64]) -> NDArray[np.float64]:
        square = np.zeros((*means.shape[:-1], 3, 3))
        for number, (one, other) in enumerate(pairs):
            square[..., one, other], square[..., other, one] = means[..., number], -means[..., number]
        return square

    drawn = np.random.default_rng(6).integers(len(deals), size=(2000, len(deals)))
    by_bootstrap = np.quantile(alpha_rank(matrix(deals[drawn].mean(axis=1))), (0.025, 0.975), axis=0)
    half = Z_95 * deals.std(axis=0, ddof=1) / np.sqrt(len(deals))
    found = masses(matrix(deals.mean(axis=0)), pairs, half, np.corrcoef(deals.T), rng())
    np.testing.assert_allclose([found.low, found.high], by_bootstrap)
    apart = masses(matrix(deals.mean(axis=0)), pairs, half, np.eye(3), rng())
    assert not np.allclose([apart.low, apart.high], by_bootstrap)


def test_an_advantage_without_an_interval_may_have_either_sign() -> None:
    edges = np.array([[0.0, 1e-9], [-1e-9, 0]])
    found = masses(edges, [(0, 1)], np.array([np.nan]), np.eye(1), rng())
    np.testing.assert_allclose([found.low, found.high], [[EPSILON] * 2, [1 - EPSILON] * 2])
