"""Measures of how the hero and the field of a duplicate tournament play, on the same deals as the edge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.stat_hook import SHARE, Measure, columns
from nainjaune_env.analysis.stats import tally
from nainjaune_env.core.spec import Setup

from .stats.exact_sums import ProductSums
from .stats.ratio_estimate import Estimate


@dataclass(frozen=True)
class MeasureEstimate:
    """Estimates of one part of a measure: for the hero, for the field, and their difference."""

    measure: Measure
    part: str
    """The name of the part; empty if the measure has none."""
    hero: Estimate
    """The hero in every seat in turn."""
    field: Estimate
    """The field by itself, in the same seats on the same deals."""
    difference: Estimate


def general_measures(setup: Setup) -> tuple[Measure, ...]:
    """Returns the measures that every game has: they depend on payoffs alone."""
    unit = setup.game.unit
    distances = ("first", *(f"+{places}" for places in range(1, setup.players)))
    return (
        Measure("payoff", "Payoff", f"{unit.capitalize()} a round.", unit, "payoff"),
        Measure("best", "Best result", "Rounds in which no seat got more; a round that k seats share counts 1/k.", SHARE, "best"),
        Measure(
            "payoff_by_distance",
            "Payoff by seat",
            f"{unit.capitalize()} a round, by how many places the seat came after the one that acted first.",
            unit,
            "payoff_by_distance",
            parts=distances,
        ),
    )


class Behaviour:
    """The measures of one hero in one field, accumulated deal by deal in constant memory."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.measures = general_measures(setup)
        n = setup.players
        # columns of counts: 1, the counts of any game, the game's own tally; each a whole number over its scale
        places = {"payoff": range(1, 2), "best": range(2, 3), "payoff_by_distance": range(3, 3 + n)}
        self._own_columns = 3 + n
        self._shares = math.lcm(*range(1, n + 1))
        scale = [1, n, n * self._shares, *[1] * n]
        game = setup.game.measures
        if game is not None:
            self.measures += game.MEASURES
            scale += [n] * (game.TALLY.itemsize // 8)
            for name in game.TALLY.names or ():
                places[name] = range(
                    self._own_columns + columns(game.TALLY, name)[0], self._own_columns + columns(game.TALLY, name)[-1] + 1
                )
        self._parts: list[tuple[Measure, str]] = []
        numerator: list[int] = []
        denominator: list[int] = []
        for measure in self.measures:
            counts = places[measure.counts]
            per = range(1) if measure.per is None else places[measure.per]
            self._parts += [(measure, part) for part in measure.parts or ("",)]
            numerator += counts
            denominator += per if len(per) == len(counts) else [per[0]] * len(counts)
        self._numerator, self._denominator = np.array(numerator), np.array(denominator)
        self._columns = np.stack([self._numerator, self._denominator] * 2, axis=1)
        self._scale = np.array(scale, object)[self._columns]
        self.sums = ProductSums(len(numerator), 4)
        """Of numerator and denominator for the hero, then for the field, by part."""

    def add(self, payoff: NDArray[np.int64], leader: NDArray[np.int64], tallies: NDArray[np.int64] | None) -> None:
        """Adds D deals.

        ``payoff (D, n+1, n)``: by seat, with the hero in each seat in turn and last the field alone. ``leader (D,)``: the seat
        that acted first. ``tallies (D, 2, C)``: the game's own counts of each deal, summed over the hero's seats and over the
        field's.
        """
        deals, n = len(payoff), self.setup.players
        numbers = np.empty((self._own_columns + (0 if tallies is None else tallies.shape[2]), 2, deals), np.int64)
        best = payoff == payoff.max(axis=2, keepdims=True)
        shared = best * (self._shares // best.sum(axis=2, keepdims=True))
        seats = np.arange(n)
        at_distance = (leader[:, None] + seats) % n
        numbers[0] = 1
        for side, (won, of) in enumerate(((payoff[:, seats, seats], shared[:, seats, seats]), (payoff[:, n], shared[:, n]))):
            numbers[1, side] = won.sum(axis=1)
            numbers[2, side] = of.sum(axis=1)
            numbers[3 : 3 + n, side] = np.take_along_axis(won, at_distance, axis=1).T
        if tallies is not None:
            numbers[self._own_columns :] = tallies.transpose(2, 1, 0)
        values = np.empty((len(self._numerator), 4, deals), np.int64)
        values[:, 0::2] = numbers[self._numerator]
        values[:, 1::2] = numbers[self._denominator]
        self.sums.add(values)

    def estimates(self) -> Iterator[MeasureEstimate]:
        """Yields the estimates of every part of every measure, in order."""
        ratios = self.sums.ratios(self._scale)
        for pair, (measure, part) in enumerate(self._parts):
            share = measure.unit == SHARE
            hero, field = ratios.first(pair, share=share), ratios.second(pair, share=share)
            yield MeasureEstimate(measure, part, hero, field, ratios.difference(pair))

    def to_json(self) -> list[dict[str, Any]]:
        """Returns all estimates as JSON values; NaN becomes null."""
        return [
            {
                "measure": each.measure.name,
                "part": each.part,
                "unit": each.measure.unit,
                "hero": each.hero.to_dict(),
                "field": each.field.to_dict(),
                "difference": each.difference.to_dict(),
            }
            for each in self.estimates()
        ]


class TallyCounter:
    """Collects the actions taken at T tables on each of D deals, and tallies them by the game's own counts."""

    def __init__(self, setup: Setup, dealt: NDArray[Any], counters: NDArray[np.int64]) -> None:
        """``dealt (D,)`` are tables before any ply; ``counters (T, n)`` the tallies to which seats are added, -1 for none."""
        deals, (tables, n) = len(dealt), counters.shape
        self.setup = setup
        self._dealt = dealt
        self._count = int(counters.max()) + 1
        self._which = np.repeat(np.arange(deals), tables)
        self._actions: list[NDArray[np.int8]] = []
        rows = np.arange(deals)[:, None, None] * self._count + counters
        self._rows = np.where(counters < 0, -1, rows).reshape(-1, n)

    def add_step(self, actions: NDArray[np.int64]) -> None:
        """Adds the actions ``(D * T,)`` of one step."""
        self._actions.append(actions.astype(np.int8))

    def tallies(self) -> NDArray[np.int64]:
        """Returns the tallies ``(D, A, C)``; call it when all deals are played."""
        actions = np.array(self._actions, np.int8).reshape(-1, len(self._which))
        deals = len(self._dealt)
        sums = tally(self.setup, self._dealt, actions, self._rows, deals * self._count, which=self._which)
        return sums.reshape(deals, self._count, -1)
