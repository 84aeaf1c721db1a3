"""alpha-rank: where a population ends up that keeps trying agents out against each other.

All play one agent; now and then one of them tries another, and all take it up if it does better among them than theirs does
among its like. The share of time that an agent is what all play is its mass. Where agents beat each other in a ring the masses
are shared out along it, which no ladder can show; by how much anyone is better is not asked: only signs count, the limit
of strong selection.

Omidshafiei et al., "alpha-rank: multi-agent evaluation by evolution", Scientific Reports 9, 2019: one population, infinite alpha.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .intervals import Z_95

EPSILON = 0.01
"""How often a worse agent is taken up all the same, beside a better one: from everywhere there is a way to everywhere."""
DRAWS = 1000


@dataclass(frozen=True)
class Masses:
    """alpha-rank of k agents, as far as their edges say."""

    mass: NDArray[np.float64]
    """``(k,)`` by the edges as they were found; their sum 1."""
    low: NDArray[np.float64]
    """``(k,)`` between this and ``high`` lie 95 % of the masses that edges as far off as their intervals allow would give."""
    high: NDArray[np.float64]


def alpha_rank(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The masses ``(..., k)`` of k agents, from ``edges (..., k, k)`` of the row over the column; no diagonal is read."""
    better = np.sign(edges - edges.swapaxes(-1, -2))  # the row than the column
    taken_up = np.where(better > 0, 1 - EPSILON, np.where(better < 0, EPSILON, 0.5))
    return stationary(taken_up.swapaxes(-1, -2) / max(edges.shape[-1] - 1, 1))


def stationary(chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """What share of time Markov chains ``(..., k, k)``, from the row to the column, spend in each state: ``(..., k)``.

    No diagonal is read: what a row's other numbers leave of 1 stays. By the elimination of Grassmann, Taksar and Heyman (1985),
    which subtracts nothing and so loses no digits.
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


def masses(edges: NDArray[np.float64], ci95: NDArray[np.float64], rng: np.random.Generator) -> Masses:
    """alpha-rank from ``edges (k, k)``, and how far it is to be trusted if they are off as their half-widths ``ci95 (k, k)`` say.

    A difference near 0 may have either sign, and masses follow signs alone (Rowland et al., "Multiagent evaluation under
    incomplete information", 2019). The two edges of a pair are taken to be off in opposite directions, which is nearly so: on
    deals where skill counts for more than on others one gains more and the other loses more.
    """
    mean, half = (np.where(np.eye(len(edges)), 0.0, given) for given in (edges, ci95))
    noise = rng.standard_normal((DRAWS, *mean.shape))
    noise = (noise - noise.swapaxes(-1, -2)) / np.sqrt(2)  # one number a pair, with opposite signs
    low, high = np.quantile(alpha_rank(mean + noise * half / Z_95), (0.025, 0.975), axis=0)
    return Masses(alpha_rank(mean), low, high)
