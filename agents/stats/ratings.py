"""Ratings of agents that all sit at one table: the Plackett-Luce model of who comes out before whom.

They sum up in one number an agent what edges say pair by pair, and say less: places count and chips do not, and a rating depends
on who else is rated. A round ranks its seats by payoff. In the model the first place falls to each with odds in proportion to
its strength, the second to each of the rest likewise, and so on; in which order rounds were played does not matter. Rating points
are 400 log10 of the strength, their mean 0: 400 points more are odds of ten to one to come out before the other.

Luce, "Individual choice behavior", 1959; Plackett, "The analysis of permutations", 1975. Seats that come out equal count as every
order of them in equal parts. As in Turner, van Etten, Firth and Kosmidis, "Modelling rankings in R: the PlackettLuce package",
2020, each agent also half wins and half loses against an imaginary one, so that who never lost has a rating too; that is then
what the half a loss makes it, and its interval says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

from ..arena.duplicate import CHUNK_TABLES, CHUNKS_AT_ONCE, check_device, chunks, play_deals, start_with
from ..seeds import Stream, generator
from .intervals import Z_95
from .ratio_estimate import Estimate

RESAMPLES = 200
"""Of the bootstrap."""
POINTS = 400 / math.log(10)
"""Rating points of one unit of log-strength."""
STILL = 1e-9
"""Where a step changes no log-strength by more, it is the last."""


@dataclass(frozen=True)
class Ratings:
    """Rating points of some agents."""

    agents: list[str]
    points: list[Estimate]
    """In the order of ``agents``, their mean 0; intervals are the bootstrap's, over deals."""
    deals: int

    def to_dict(self) -> dict[str, Any]:
        """As ``results.json`` holds it."""
        rows = zip(self.agents, self.points, strict=True)
        return {
            "model": "plackett-luce",
            "deals": self.deals,
            "agents": [{"agent": name, "points": found.mean, "ci95": found.ci95} for name, found in rows],
        }


def rate(
    setup: Setup,
    agents: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    pots: Sequence[int] | None = None,
    progress: Callable[[int], object] | None = None,
    device: str = "cpu",
) -> Ratings:
    """Rate ``agents`` over rounds among all of them, on a tournament's deals with this ``seed``.

    For each deal as many are drawn as there are seats, each once before any twice, and each place so filled turns through all
    seats. ``progress`` is told of deals done. ``device`` is where the tables are, as in ``Duplicate``.
    """
    check_device(setup, agents, device)
    n, start, found = setup.players, start_with(pots), []
    size = CHUNK_TABLES // n
    for at, count in chunks(0, deals, size * CHUNKS_AT_ONCE[device]):
        chairs = [
            drawn_seats(len(agents), n, some, generator(seed, Stream.MIXED, len(agents), first))
            for first, some in chunks(at, count, size)
        ]
        drawn = np.concatenate(chairs)
        seating = np.stack([np.roll(drawn, turn, axis=1) for turn in range(n)], axis=1)
        rngs = [generator(seed, Stream.MIXED, who, at) for who in range(len(agents))]
        payoff, _ = play_deals(setup, agents, seating, streams(seed, count, first=at), rngs, start=start, device=device)
        found.append(rankings(payoff, seating))
        if progress is not None:
            progress(count)
    points = fit(np.concatenate(found), len(agents), generator(seed, Stream.MIXED, len(agents) + 1))
    return Ratings([agent.name for agent in agents], points, deals)


def drawn_seats(agents: int, seats: int, deals: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Who sits down at each deal, ``(D, seats)``: all agents in random order, and again in another where seats are left."""
    times = -(-seats // agents)
    order = rng.permuted(np.broadcast_to(np.arange(agents), (deals, times, agents)), axis=2)
    return order.reshape(deals, -1)[:, :seats]


def rankings(payoff: NDArray[np.int64], seating: NDArray[np.int64]) -> NDArray[np.int16]:
    """Who came out before whom, ``(D, T, 2n)``: agents from the first on, and for each whether it was equal to the one before.

    From ``payoff (D, T, n)`` by seat and ``seating (D, T, n)``. Equals stand in the order of their numbers.
    """
    order = np.lexsort((seating, -payoff))
    paid = np.take_along_axis(payoff, order, axis=2)
    equal = np.diff(paid, axis=2, prepend=paid[:, :, :1] + 1) == 0
    return np.concatenate([np.take_along_axis(seating, order, axis=2), equal], axis=2, dtype=np.int16)


def fit(rows: NDArray[np.integer[Any]], agents: int, rng: np.random.Generator) -> list[Estimate]:
    """Rating points from rankings ``(D, T, 2n)``; a bootstrap draws deals, as the T rounds of one go together."""
    deals, rounds, width = rows.shape
    kinds, which = np.unique(rows.reshape(-1, width), axis=0, return_inverse=True)
    which = which.reshape(deals, rounds)
    stages = Stages(kinds, agents)

    def fitted(weight: NDArray[Any], start: NDArray[np.float64]) -> NDArray[np.float64]:
        return stages.log_strengths(np.bincount(which.ravel(), np.repeat(weight, rounds), len(kinds)), start)

    found = fitted(np.ones(deals), np.zeros(agents))
    drawn = [fitted(np.bincount(rng.integers(deals, size=deals), minlength=deals), found) for _ in range(RESAMPLES)]
    spread = np.std([logs - logs.mean() for logs in drawn], axis=0, ddof=1)
    points, half = POINTS * (found - found.mean()), POINTS * Z_95 * spread
    return [Estimate(float(mean), float(width)) for mean, width in zip(points, half, strict=True)]


class Stages:
    """The choices that K kinds of rankings of k agents are made of: who takes a place, out of the group of all that are left."""

    def __init__(self, kinds: NDArray[np.integer[Any]], agents: int) -> None:
        """``kinds (K, 2n)`` as :func:`rankings` gives them."""
        numbers: dict[tuple[int, ...], int] = {}
        self._wins = np.zeros((len(kinds), agents))
        kind_of, group_of, share = [], [], []
        for kind, row in enumerate(kinds.tolist()):
            places, equal = row[: len(row) // 2], row[len(row) // 2 :]
            starts = [place for place, same in enumerate(equal) if not same]
            for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
                block, below = places[start:end], places[end:]
                for size in range(1 if below else 2, len(block) + 1):
                    # in all orders of a block together each part of it is left, at some time, equally often
                    for some in combinations(block, size):
                        kind_of.append(kind)
                        group_of.append(numbers.setdefault(tuple(sorted([*some, *below])), len(numbers)))
                        share.append(1 / math.comb(len(block), size))
                for agent in block:  # where nothing is below, the last place is nobody's choice
                    self._wins[kind, agent] += 1 if below else 1 - 1 / len(block)
        self._kind_of, self._group_of, self._share = np.array(kind_of), np.array(group_of), np.array(share)
        self._groups = np.array([np.bincount(group, minlength=agents) for group in numbers], np.float64)

    def log_strengths(self, often: NDArray[Any], start: NDArray[np.float64]) -> NDArray[np.float64]:
        """The likeliest logarithms of strengths ``(k,)`` where each kind was seen ``often (K,)``, sought from ``start (k,)`` on.

        By Newton's method with steps shortened as in Sun and Tran-Dinh, "Generalized self-concordant functions", 2019: from
        wherever it begins it arrives.
        """
        wins = often @ self._wins + 0.5
        left = np.bincount(self._group_of, often[self._kind_of] * self._share, len(self._groups))
        logs = np.array(start, np.float64)
        while True:
            strength = np.exp(logs)
            odds = self._groups * strength
            odds /= odds.sum(axis=1, keepdims=True)  # (S, k) who takes the next place
            imaginary = strength / (1 + strength)
            expected = left @ odds
            curvature = np.diag(expected + imaginary * (1 - imaginary)) - (odds * left[:, None]).T @ odds
            step = np.linalg.solve(curvature, wins - expected - imaginary)
            reach = np.ptp([*step, 0.0])  # how far odds may change, the imaginary one's among them
            if reach < STILL:
                return logs + step
            logs += step * math.log1p(reach) / reach
