"""Advantages against their definition, summed up the slow way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nainjaune_agents.trainers.ppo import gae

some = settings(max_examples=200, deadline=None, derandomize=True, database=None)
chips = st.integers(-200, 200).map(float)


@st.composite
def rollouts(draw: st.DrawFn) -> tuple[Any, Any, Any, Any]:
    sequences = draw(st.integers(1, 5))
    sequence = draw(st.lists(st.integers(0, sequences - 1), max_size=25))
    so_far = draw(st.lists(chips, min_size=len(sequence), max_size=len(sequence)))
    value = draw(st.lists(chips, min_size=len(sequence), max_size=len(sequence)))
    final = draw(st.lists(chips, min_size=sequences, max_size=sequences))
    return np.array(sequence, np.int64), *(np.array(x, np.float32) for x in (so_far, value, final))


def naive(sequence: Any, so_far: Any, value: Any, final: Any, lam: float) -> list[float]:
    """A(i) = sum over j >= i along the sequence of lambda^(j-i) (r(j) + V(j+1) - V(j)), V past the end being 0."""
    out = [0.0] * len(sequence)
    for c in range(len(final)):
        steps = [t for t in range(len(sequence)) if sequence[t] == c]
        payoffs = [float(so_far[t]) for t in steps] + [float(final[c])]
        values = [float(value[t]) for t in steps] + [0.0]
        delta = [payoffs[k + 1] - payoffs[k] + values[k + 1] - values[k] for k in range(len(steps))]
        for i, t in enumerate(steps):
            out[t] = sum(lam ** (j - i) * delta[j] for j in range(i, len(steps)))
    return out


@some
@given(rollouts(), st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_the_definition(rollout: Any, lam: float) -> None:
    assert gae(*rollout, lam).tolist() == pytest.approx(naive(*rollout, lam), abs=0.05)


def test_by_hand() -> None:
    """Seat 0 decides at +0 and +4 and ends with +10; seat 1 decides once, at -3, and ends with -10."""
    sequence, so_far = np.array([0, 1, 0]), np.array([0, -3, 4], np.float32)
    value, final = np.array([5, -6, 7], np.float32), np.array([10, -10], np.float32)
    assert gae(sequence, so_far, value, final, 0.0).tolist() == [4 + 7 - 5, -7 + 6, 6 - 7]
    assert gae(sequence, so_far, value, final, 0.5).tolist() == [6 - 0.5, -1, -1]
    assert gae(sequence, so_far, value, final, 1.0).tolist() == [5, -1, -1]
