"""The edge of a hero in a field, over duplicate deals, which remove most of the luck of the deal.

One *block* is one deal. The hero sits in each seat in turn, copies of the field in all others; and once the field sits in every
seat. The block's gain is the mean, over seats, of the hero's payoff less what the field got in the same seat on the same deal.
Blocks are independent, and intervals are over blocks. After Mortal's one-against-three matches (one hero, three copies of the
field, the same wall for every rotation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_whole

from .arena.play import chunks
from .behaviour import Behaviour
from .source import DealSource, Payoffs
from .stats.differences import Differences
from .stats.exact_sums import DifferenceSums, ProductSums
from .stats.ratio_estimate import Estimate

P = TypeVar("P")

TABLES_AT_ONCE = 8192
"""Tables that are played together; memory depends on it, and not on the number of deals."""
TIMES_AT_ONCE = {"cpu": 1, "cuda": 32}
"""How many times as many on a device."""


@dataclass
class Edge:
    """The edge of ``hero`` in a field of ``field_name``, in the game's unit a round, or a match."""

    hero: str
    field_name: str
    moments: Differences = field(default_factory=Differences)
    by_seat: list[Differences] = field(default_factory=list)
    """The same by the hero's distance from the seat that acts first."""
    behaviour: Behaviour | None = None
    """How hero and field played these deals; None if not measured."""
    per_round: Estimate | None = None
    """Of matches: all gains over the number of rounds that the hero played."""
    rounds: float | None = None
    """Mean number of rounds of the hero's matches."""
    controlled: Edge | None = None
    """The same edge with control variates; None if it was measured without."""
    decisions: int = 0
    """With control variates: decisions in which hero and field differed."""
    samples: int = 0
    """With control variates: other deals used for these."""

    @property
    def estimate(self) -> Estimate:
        """The mean with its 95 % interval, in the game's unit (chips, cards) a round."""
        return self.moments.estimate

    @property
    def mean(self) -> float:
        """In the game's unit (chips, cards) a round."""
        return self.moments.mean

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval; nan without one."""
        return self.moments.half_width

    @property
    def deals_saved(self) -> float:
        """How many times as many deals this edge needs for the interval with control variates; NaN without variance."""
        variance = 0.0 if self.controlled is None else self.controlled.moments.variance
        return self.moments.variance / variance if variance > 0 else float("nan")


class EdgeSums:
    """Exact sums of one hero in one field over deals, in any order."""

    def __init__(self, source: DealSource[Any], scale: int, *, setup: Setup | None = None, rounds: bool = False) -> None:
        """Gains summed over seats are whole numbers over ``scale``, those in a seat over its n-th part.

        ``setup``: of the game whose behaviour is measured (None: it is not). ``rounds``: whether deals are matches.
        """
        n = self._seats = source.seats
        self.gain = DifferenceSums(scale, heavy=source.heavy)
        self.by_seat = [DifferenceSums(scale // n, heavy=source.heavy) for _ in range(n)]
        self.behaviour = None if setup is None else Behaviour(setup)
        self._rounds = ProductSums(1, 4) if rounds else None

    def add(self, hero: NDArray[np.int64], alone: NDArray[np.int64], leader: NDArray[np.int64]) -> NDArray[np.int64]:
        """Adds D deals: the hero's payoff in each seat, ``(D, n)``, and the field's alone; returns the gains' sums ``(D,)``.

        Of matches ``hero`` has rounds, too, ``(D, 2n)``.
        """
        n = self._seats
        gain = hero[:, :n] - alone[:, :n]
        total: NDArray[np.int64] = gain.sum(axis=1)
        self.gain.add(total)
        deals = np.arange(len(gain))
        for distance, by_seat in enumerate(self.by_seat):
            by_seat.add(gain[deals, (leader + distance) % n])
        if self._rounds is not None:
            nothing, one = np.zeros_like(total), np.ones_like(total)
            self._rounds.add(np.stack([total, hero[:, n:].sum(axis=1), nothing, one])[None])
        return total

    def edge(self, hero: str, field_name: str) -> Edge:
        """Returns the edge of ``hero`` in a field of ``field_name``."""
        edge = Edge(hero, field_name, self.gain.differences(), [sums.differences() for sums in self.by_seat], self.behaviour)
        if self._rounds is not None:
            ratios = self._rounds.ratios(np.array([[self.gain.scale, self._seats, 1, 1]], object))
            ratio = ratios.first(0)
            # what varies in it are the gains, most of which may be 0: it is as much wider as the interval of these
            edge.per_round = Estimate(ratio.mean, ratio.ci95 * edge.moments.widening)
            edge.rounds = float(ratios.mean[0, 1])
        return edge


class FieldAlone(Generic[P]):
    """The edges of one hero after the other over the same field on the same deals, as training measures them.

    The field by itself is played once, so that a hero costs n tables a deal where a single edge takes n + 1. Players need no
    names, and nothing is written.
    """

    def __init__(self, source: DealSource[P], field: P, deals: int, *, first: int = 0, chunk: int | None = None) -> None:
        """``deals`` from number ``first`` on; ``chunk`` of them are played at once (None: as many as fill 8192 tables)."""
        check_whole("The number of deals", deals, 1)
        self.source, self.field = source, field
        times = TIMES_AT_ONCE[getattr(source, "device", "cpu")]
        size = times * (TABLES_AT_ONCE // (source.seats + 1) if chunk is None else chunk)
        self._chunks = [*chunks(first, deals, size)]
        self._alone: dict[int, Payoffs] = {}

    def edge(self, hero: P, progress: Callable[[int], object] | None = None) -> Edge:
        """Returns the edge of ``hero`` over the field; ``progress`` is called with numbers of deals."""
        sums = EdgeSums(self.source, self.source.seats * self.source.scale)
        for payoff, alone in self._played(hero):
            sums.add(payoff, alone.payoff[:, 0], alone.first)
            if progress is not None:
                progress(len(payoff))
        names = [getattr(player, "name", getattr(player, "__name__", "player")) for player in (hero, self.field)]
        return sums.edge(*names)

    def gains(self, hero: P) -> NDArray[np.float64]:
        """Returns the gain of ``hero`` on each deal, ``(D,)``, in the unit of payoffs."""
        sums = [(payoff - alone.payoff[:, 0]).sum(axis=1) for payoff, alone in self._played(hero)]
        return np.concatenate(sums) / (self.source.seats * self.source.scale)

    def _played(self, hero: P) -> Iterator[tuple[NDArray[np.int64], Payoffs]]:
        """Plays some deals after the other; yields the hero's payoffs in each seat, ``(D, n)``, and the field alone."""
        n = self.source.seats
        seating = np.ones((n, n), np.int64)
        np.fill_diagonal(seating, 0)
        for at, count in self._chunks:
            if at not in self._alone:
                self._alone[at] = self.source.play([self.field], np.zeros((1, n), np.int64), at, count, field=0)
            played = self.source.play([hero, self.field], seating, at, count, field=1)
            yield played.payoff[:, range(n), range(n)], self._alone[at]
