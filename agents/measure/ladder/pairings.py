"""Which pair plays next, and at which table: where more deals are expected to order neighbours best.

Let d be the difference between the ratings of two neighbours in the ranking, and s² its variance. Whoever orders them by the sign
of d loses in expectation, by the ratings of those that are wrongly ordered, in the game's unit a round,

    loss(d, s) = s φ(d / s) - |d| Φ(-|d| / s).

A batch of deals of some pair at some table lowers s² to s'². The batch with the largest sum of ``loss(d, s) - loss(d, s')`` over
all neighbours comes next. So neighbours that are told apart get no deals, and those that play alike get fewer as that is known.
The loss is that of Chick and Inoue, "New two-stage and sequential procedures for selecting the best simulated system", 2001.

Variances change exactly (Sherman and Morrison): where the information of a pair, ``w = 1 / (v / deals + interaction² (r_i -
r_j)²)``, grows by ``Δw``, then s² falls by ``Δw (gᵀCx)² / (1 + Δw xᵀCx)``, with the covariance C of ratings, the pair x and the
neighbours g.

In simulations of ten entries, three of them far below, this left a quarter to three quarters of the chips that round robin
left in wrong order at equal deals (``tests/agents/measure/ladder/test_pairings.py``).

First each entry meets :data:`RIVALS` others at each of its tables, in the same order of usefulness: without more pairs than a
tree has, nothing would tell how badly one number fits (``standings``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .standings import Played, deal_variances, fit

APART = 3.0
"""Standard errors between neighbours that are told apart: more than for one look, since pairings look after every wave."""
PRIOR = 10.0
"""Standard deviation of ratings before anything is played, in standard deviations of the advantage on one deal."""
FAR = 30.0
"""Standard errors from which a loss is 0 in floating point."""
RIVALS = 8
"""Others that each entry meets at a table, where there are as many, before pairs are chosen freely."""


@dataclass
class TableState:
    """What is known at one table, as far as pairings need it."""

    players: list[int]
    """The entries that play there, by number, k of them."""
    pairs: list[tuple[int, int]]
    """P pairs of positions in :attr:`players`."""
    played: list[Played]
    """Pairs of positions, too."""
    deals: NDArray[np.float64] = field(init=False)
    """Of each pair ``(P,)``."""
    deal_variance: NDArray[np.float64] = field(init=False)
    """``(P,)``; of pairs that have not played the mean of the others'."""
    extra: NDArray[np.float64] = field(init=False)
    """Variance of each pair ``(P,)`` that ratings do not explain, whatever it plays (``standings``)."""

    def __post_init__(self) -> None:
        at = {pair: number for number, pair in enumerate(self.pairs)}
        variances = deal_variances(self.played)
        self.deals = np.zeros(len(self.pairs))
        self.deal_variance = np.full(len(self.pairs), float(variances.mean()) if len(variances) else 1.0)
        for pair, variance in zip(self.played, variances, strict=True):
            self.deals[at[pair.one, pair.other]] = pair.advantage.count
            self.deal_variance[at[pair.one, pair.other]] = variance
        standing = fit(len(self.players), self.played)
        k = len(self.players)
        self.design = np.zeros((len(self.pairs), k))
        for number, (one, other) in enumerate(self.pairs):
            self.design[number, one], self.design[number, other] = 1, -1
        apart = self.design @ np.nan_to_num(standing.ratings)
        self.extra = (standing.interaction * apart) ** 2
        means = np.zeros(len(self.pairs))
        for pair in self.played:
            means[at[pair.one, pair.other]] = pair.advantage.mean
        weights = self.weights(self.deals)
        prior = np.eye(k) / (PRIOR**2 * self.deal_variance.mean())
        self.covariance = np.linalg.inv(self.design.T @ (weights[:, None] * self.design) + prior)
        self.ratings = self.covariance @ (self.design.T @ (weights * means))

    def first_meetings(self, deals: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Returns which pairs ``(P,)`` have not met and should, after ``deals (P,)``."""
        rivals = np.abs(self.design).T @ (deals > 0)
        few = rivals < min(RIVALS, len(rivals) - 1)
        return np.array((deals == 0) & (np.abs(self.design) @ few > 0))

    def weights(self, deals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the information of each pair after ``deals (P,)``."""
        with np.errstate(divide="ignore"):
            return 1 / (self.deal_variance / deals + self.extra)


class Batch(NamedTuple):
    """Some deals of a pair at a table."""

    table: int
    pair: int
    deals: int


class Choice(NamedTuple):
    """What is played next."""

    batches: list[Batch]
    """All at one table, in the order in which they were chosen; none if all neighbours are told apart."""
    told_apart: bool
    """Whether all neighbours are."""


def choose(tables: Sequence[TableState], entries: int, deals: int, batches: int) -> Choice:
    """Returns up to ``batches`` batches of ``deals`` deals, chosen one after the other, all at the table of the first.

    After each choice the variances are those after its deals, and the ratings stay. Neighbours are those in the ranking by the
    mean over all tables, and for entries that do not play everywhere those in the ranking of each of their tables.
    """
    contrasts = neighbours(tables, entries)
    means = np.asarray(sum(contrast @ table.ratings for contrast, table in zip(contrasts, tables, strict=True)))
    covariances = [table.covariance.copy() for table in tables]
    played = [table.deals.copy() for table in tables]
    chosen: list[Batch] = []
    first = any(table.first_meetings(table.deals).any() for table in tables)
    apart = bool((np.abs(means) >= APART * np.sqrt(_variance(contrasts, covariances))).all())
    while len(chosen) < batches and (first or not apart):
        before = _variance(contrasts, covariances)
        best, number, pair = -1.0, -1, -1
        for at, table in enumerate(tables):
            if chosen and at != chosen[0].table:
                continue
            grown = table.weights(played[at] + deals) - table.weights(played[at])
            along = covariances[at] @ table.design.T  # (k, P)
            spread = 1 + grown * np.einsum("pk,kp->p", table.design, along)
            fall = grown * (contrasts[at] @ along) ** 2 / spread  # (M, P)
            gains = (loss(means, before)[:, None] - loss(means[:, None], before[:, None] - fall)).sum(axis=0)
            if first:
                gains = np.where(table.first_meetings(played[at]), np.maximum(gains, 0), -1.0)
            if gains.max() > best:
                best, number, pair = float(gains.max()), at, int(gains.argmax())
        if number < 0:
            break
        table = tables[number]
        grown = table.weights(played[number] + deals)[pair] - table.weights(played[number])[pair]
        along = covariances[number] @ table.design[pair]
        covariances[number] -= grown * np.outer(along, along) / (1 + grown * float(table.design[pair] @ along))
        played[number][pair] += deals
        chosen.append(Batch(number, pair, deals))
    return Choice(chosen, apart and not first)


def loss(difference: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns ``s φ(d / s) - |d| Φ(-|d| / s)`` for differences d and variances s² that broadcast."""
    spread = np.sqrt(np.maximum(variance, 1e-300))
    ratio = np.minimum(np.abs(difference) / spread, FAR)
    density = np.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(spread * (density - ratio * np.asarray(_erfc(ratio / math.sqrt(2)), np.float64) / 2))


_erfc = np.frompyfunc(math.erfc, 1, 1)


def _variance(contrasts: Sequence[NDArray[np.float64]], covariances: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    pairs = zip(contrasts, covariances, strict=True)
    return np.asarray(sum(np.einsum("mk,kl,ml->m", contrast, covariance, contrast) for contrast, covariance in pairs))


def neighbours(tables: Sequence[TableState], entries: int) -> list[NDArray[np.float64]]:
    """Returns the differences between neighbours as weights of ratings, ``(M, k)`` for each table."""
    where = [{player: at for at, player in enumerate(table.players)} for table in tables]
    everywhere = [entry for entry in range(entries) if all(entry in at for at in where)]
    overall = {entry: sum(t.ratings[at[entry]] for t, at in zip(tables, where, strict=True)) for entry in everywhere}
    rows: list[dict[int, dict[int, float]]] = []  # by table, by entry
    ranked = sorted(everywhere, key=lambda entry: -overall[entry])
    for one, other in pairwise(ranked):
        rows.append({number: {one: 1 / len(tables), other: -1 / len(tables)} for number in range(len(tables))})
    for number, (table, at) in enumerate(zip(tables, where, strict=True)):
        order = sorted(table.players, key=lambda entry: -table.ratings[at[entry]])
        for one, other in pairwise(order):
            if one not in overall or other not in overall:
                rows.append({number: {one: 1.0, other: -1.0}})
    contrasts = [np.zeros((len(rows), len(table.players))) for table in tables]
    for m, row in enumerate(rows):
        for number, weights in row.items():
            for entry, weight in weights.items():
                contrasts[number][m, where[number][entry]] = weight
    return contrasts
