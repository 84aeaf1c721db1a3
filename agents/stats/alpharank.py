"""alpha-rank: the long-run shares of agents in a population in which better agents replace worse ones.

All members of the population play the same agent. Now and then one member tries another agent, and the population adopts it if
it does better among them than theirs does among its like. The mass of an agent is the share of time during which the population
plays it. Agents that beat each other in a cycle share the mass along the cycle, which no rating on one scale can show. Only the
signs of edges count, not their size: this is the limit of strong selection.

Omidshafiei et al., "alpha-rank: multi-agent evaluation by evolution", Scientific Reports 9, 2019: one population, infinite alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .intervals import Z_95

EPSILON = 0.01
"""Probability of adopting the worse of two agents; it keeps the Markov chain irreducible."""
DRAWS = 1000
"""Samples of the advantages that :func:`masses` takes its intervals from."""


@dataclass(frozen=True)
class Masses:
    """alpha-rank of k agents, with intervals."""

    mass: NDArray[np.float64]
    """``(k,)`` from the estimated edges; sums to 1."""
    low: NDArray[np.float64]
    """``(k,)``: 2.5 % quantile of the masses when advantages vary within their intervals; ``high`` is the 97.5 % quantile."""
    high: NDArray[np.float64]


def alpha_rank(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the masses ``(..., k)`` from ``edges (..., k, k)`` of the row agent over the column agent; ignores the diagonal."""
    better = np.sign(edges - edges.swapaxes(-1, -2))  # is the row better than the column?
    adopted = np.where(better > 0, 1 - EPSILON, np.where(better < 0, EPSILON, 0.5))
    return stationary(adopted.swapaxes(-1, -2) / max(edges.shape[-1] - 1, 1))


def stationary(chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the stationary distributions ``(..., k)`` of Markov chains ``(..., k, k)`` with transitions from row to column.

    Ignores the diagonal, which is 1 minus the rest of the row. Uses the elimination of Grassmann, Taksar and Heyman (1985), which
    has no subtraction and so no cancellation.
    """
    rates = np.array(chain, np.float64)
    for last in range(rates.shape[-1] - 1, 0, -1):
        rates[..., :last, last] /= rates[..., last, :last].sum(axis=-1)[..., None]
        rates[..., :last, :last] += rates[..., :last, last, None] * rates[..., None, last, :last]
    mass = np.ones(rates.shape[:-1])
    for state in range(1, rates.shape[-1]):
        mass[..., state] = (mass[..., :state] * rates[..., :state, state]).sum(axis=-1)
    shares: NDArray[np.float64] = mass / mass.sum(axis=-1, keepdims=True)
    return shares


def masses(
    mean: NDArray[np.float64],
    pairs: Sequence[tuple[int, int]],
    half: NDArray[np.float64],
    correlation: NDArray[np.float64],
    rng: np.random.Generator,
) -> Masses:
    """Returns alpha-rank from the mean advantages ``mean (k, k)`` of the row agent over the column agent, with intervals.

    ``half (P,)`` are the 95 % half-widths of the advantages of the P ``pairs``, and ``correlation (P, P)`` the correlations of
    their errors: all pairs play the same deals, and errors of pairs that share an agent are far from independent. Masses depend
    on signs alone, and the sign of an advantage near 0 is uncertain (Rowland et al., "Multiagent evaluation under incomplete
    information", 2019). With a half-width of nan, any sign is as likely.
    """
    rows, columns = np.array(pairs).T
    known = ~np.isnan(half)
    noise = rng.multivariate_normal(np.zeros(len(half)), correlation, DRAWS, check_valid="ignore", method="eigh")
    sampled = np.where(known, mean[rows, columns] + noise * np.where(known, half, 0) / Z_95, noise)
    samples = np.zeros((DRAWS, *mean.shape))
    samples[:, rows, columns], samples[:, columns, rows] = sampled, -sampled
    low, high = np.quantile(alpha_rank(samples), (0.025, 0.975), axis=0)
    return Masses(alpha_rank(mean), low, high)
