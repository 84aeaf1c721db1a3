"""All agents at one table: each deal in all rotations, for the mean payoff of each and the share of first places."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import ConfigError

from .own_game import OwnGame
from .stats.exact_sums import DifferenceSums
from .stats.ratio_estimate import Estimate


def check(source: OwnGame, agents: int) -> None:
    """Raises :class:`ConfigError` unless ``agents`` fit at one table of rounds that no field plays before."""
    if not 2 <= agents <= source.seats:
        raise ConfigError(f"At one table there are 2 to {source.seats} agents, as it has {source.seats} seats, not {agents}.")
    if not source.shared:
        raise ConfigError("At one table rounds start fresh or drawn: carried ones were played by a field, and there is none.")


def group_id(ids: Sequence[str]) -> str:
    """Returns the identity of some players at one table, in their order, 32 hexadecimal digits."""
    return hashlib.sha256(" ".join(ids).encode()).hexdigest()[:32]


def play(source: OwnGame, agents: Sequence[Agent], first: int, deals: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Plays deals in all rotations; returns values ``(D, 2 * agents)`` and the seats that act first ``(D,)``.

    Seats are filled in turn, so that with fewer agents than seats some sit in several. Values are for each agent the sum of its
    payoffs over seats and rotations, over the source's scale, and then of its shares of first places, over :func:`_places`.
    """
    n, many = source.seats, len(agents)
    seating = np.array([[(seat + turn) % n % many for seat in range(n)] for turn in range(n)])
    played = source.play(agents, seating, first, deals, field=0)
    best = played.payoff == played.payoff.max(axis=2, keepdims=True)
    shares = best * (_places(n) // best.sum(axis=2, keepdims=True))
    at = [seating == who for who in range(many)]
    sums = [values[:, mask].sum(axis=1) for values in (played.payoff, shares) for mask in at]
    return np.stack(sums, axis=1), played.first


def _places(seats: int) -> int:
    """Returns the shares of a first place: up to ``seats`` agents share it equally."""
    return math.lcm(*range(1, seats + 1))


class TableResult:
    """The payoffs and first places of each agent, over deals."""

    def __init__(self, source: OwnGame, agents: Sequence[str]) -> None:
        n, many = source.seats, len(agents)
        self.agents = agents
        seats = [n * sum(seat % many == who for seat in range(n)) for who in range(many)]
        scales = [count * scale for scale in (source.scale, _places(n)) for count in seats]
        self._sums = [DifferenceSums(scale, heavy=source.heavy) for scale in scales]

    def add(self, values: NDArray[np.int64]) -> None:
        """Adds deals by the values of :func:`play`."""
        for sums, column in zip(self._sums, values.T, strict=True):
            sums.add(column)

    def rows(self) -> list[tuple[str, Estimate, Estimate]]:
        """Returns of each agent its name, the mean payoff a seat and round, and the share of first places in its seats."""
        estimates = [sums.differences().estimate for sums in self._sums]
        return [*zip(self.agents, estimates[: len(self.agents)], estimates[len(self.agents) :], strict=True)]

    def to_dict(self) -> list[dict[str, Any]]:
        """Returns the entry of ``results.json``."""
        return [{"agent": name, "payoff": payoff.to_dict(), "first": first.to_dict()} for name, payoff, first in self.rows()]
