"""Drawing from masked logits: the distribution is the softmax over what is legal, and nothing else ever comes out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from nainjaune_agents.base.sampling import greedy, sample

A = 24
some = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def softmax(logits: NDArray[np.float32], word: int) -> NDArray[np.float64]:
    """The slow, obvious reference for one row."""
    legal = np.array([word >> a & 1 for a in range(len(logits))], bool)
    weights = np.where(legal, np.exp(logits.astype(np.float64) - logits[legal].max()), 0.0)
    result: NDArray[np.float64] = weights / weights.sum()
    return result


class Fixed(np.random.Generator):
    """A generator whose uniform numbers are given."""

    def __init__(self, values: list[float]) -> None:
        super().__init__(np.random.PCG64(0))
        self.values = np.array(values)

    def random(self, size: int) -> NDArray[np.float64]:  # type: ignore[override]
        assert size == self.values.size
        return self.values


extreme_rows = st.lists(st.sampled_from([-1e4, -1.0, 0.0, 3.0, 1e4, 3e38, -3e38]), min_size=A, max_size=A)
words = st.integers(1, 2**A - 1)
rows = st.lists(st.floats(-20, 20, width=32), min_size=A, max_size=A)


@some
@given(rows, words, st.floats(0, 1, exclude_max=True))
def test_a_draw_is_the_inverse_of_the_cumulated_softmax(row: list[float], word: int, uniform: float) -> None:
    logits = np.array([row], np.float32)
    (action,), (log_prob,) = sample(logits, np.array([word]), Fixed([uniform]))
    p = softmax(logits[0], word)
    assert word >> int(action) & 1
    assert p[:action].sum() <= uniform + 1e-9
    assert p[: action + 1].sum() >= uniform - 1e-9
    assert log_prob == pytest.approx(math.log(p[action]), abs=1e-5)


@some
@given(extreme_rows, words, st.floats(0, 1, exclude_max=True))
def test_extreme_logits_never_draw_what_is_illegal_or_impossible(row: list[float], word: int, uniform: float) -> None:
    logits = np.array([row], np.float32)
    legal = [a for a in range(A) if word >> a & 1]
    (action,), (log_prob,) = sample(logits, np.array([word]), Fixed([uniform]))
    top = max(row[a] for a in legal)
    assert action in legal
    assert row[action] >= top - 100
    assert np.isfinite(log_prob)
    assert log_prob <= 1e-6
    (best,) = greedy(logits, np.array([word]))
    assert best == next(a for a in legal if row[a] == top)


@pytest.mark.parametrize("uniform", [0.0, 0.5, math.nextafter(1.0, 0.0)])
def test_the_ends_of_the_unit_interval(uniform: float) -> None:
    """A weight that has underflowed to 0 is not drawn, be it the first or the last."""
    logits = np.array([[-1e4, 0.0, 0.0, -1e4]], np.float32)
    (action,), _ = sample(logits, np.array([0b1111]), Fixed([uniform]))
    assert action == (1 if uniform < 0.5 else 2)


def test_what_rounding_leaves_over_goes_to_none_that_is_impossible() -> None:
    """Sums that come out a hair too small leave a rest after the last weight; the last weight here is 0."""
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(5000, A)).astype(np.float32)
    logits[:, -1] = -1e4
    actions, log_probs = sample(logits, np.full(5000, 2**A - 1), Fixed([math.nextafter(1.0, 0.0)] * 5000))
    assert (actions == A - 2).mean() > 0.99
    assert (actions != A - 1).all()
    assert (log_probs > -100).all()


def test_rows_are_independent_and_in_order() -> None:
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(50, A)).astype(np.float32)
    legal = rng.integers(1, 2**A, 50)
    uniform = rng.random(50)
    together = sample(logits, legal, Fixed(uniform.tolist()))
    for i in range(50):
        alone = sample(logits[i : i + 1], legal[i : i + 1], Fixed([uniform[i]]))
        assert (alone[0][0], alone[1][0]) == (together[0][i], together[1][i])
    assert together[0].dtype == np.int64
    assert together[1].dtype == np.float32


def test_one_number_is_drawn_a_row() -> None:
    """A policy's play depends on its generator's state alone, so this is part of what a seed means."""
    used, left = np.random.default_rng(3), np.random.default_rng(3)
    sample(np.zeros((7, A), np.float32), np.full(7, 0b11), used)
    left.random(7)
    assert used.random() == left.random()


def test_nothing_in_nothing_out() -> None:
    actions, log_probs = sample(np.zeros((0, A), np.float32), np.zeros(0, np.int64), np.random.default_rng(0))
    assert actions.shape == log_probs.shape == (0,)


@some
@given(st.lists(st.sampled_from([-1.0, 0.0, 2.0]), min_size=A, max_size=A), words)
def test_greedy_takes_the_largest_and_of_equal_ones_the_first(row: list[float], word: int) -> None:
    legal = [a for a in range(A) if word >> a & 1]
    (action,) = greedy(np.array([row], np.float32), np.array([word]))
    assert action == max(legal, key=lambda a: (row[a], -a))


def test_the_highest_action_a_word_can_hold() -> None:
    logits = np.zeros((1, 63), np.float32)
    word = np.array([1 << 62])
    assert sample(logits, word, np.random.default_rng(0))[0] == [62]
    assert greedy(logits, word) == [62]
