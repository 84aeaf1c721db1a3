"""A review in units, which other processes or a cluster work on; a unit is a match."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, ClassVar

import numpy as np

from nainjaune_env.agent import Agent
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import Record

from ...base.settings import NonNegativeInt
from ...measure.distributed.plan_fields import Deals, JsonPlan, Names
from ...measure.distributed.units import Executor, Payload, Player, WorkUnit
from ...players.loading import load_agent
from ...players.program.counting import BotCounts
from ...players.program.settings import BotSettings
from .adviser import ARRAYS, Advice, Adviser
from .playouts import columns_of
from .review import Decision, Pick, compare, pick, reviewed, with_mistakes


class ReviewPlan(JsonPlan, frozen=True):
    """Matches with the same setup, and how their decisions are reviewed. A unit's ``first`` is the place of its match."""

    KIND: ClassVar[str] = "review"

    model: Names
    """The agents that play the rounds to their end, by seat."""
    choosing: Deals
    measuring: Deals
    seed: NonNegativeInt
    matches: tuple[tuple[int, Record, tuple[NonNegativeInt, ...]], ...]
    """The number of each match, its record, and the numbers of the decisions to review."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the model's agents, each once."""
        return tuple(dict.fromkeys(self.model))

    def units(self) -> Iterator[WorkUnit]:
        """Yields the matches in order."""
        return (WorkUnit(0, place, 1) for place in range(len(self.matches)))

    def player(self, agents: Sequence[Agent]) -> Player:
        """Returns the function that reviews a match."""
        by_name = dict(zip(self.agents, agents, strict=True))
        adviser = Adviser(self.setup, lambda: [by_name[name] for name in self.model])

        def play(unit: WorkUnit) -> Payload:
            number, record, rows = self.matches[unit.first]
            wanted = frozenset(rows)
            picks = [one._replace(match=number) for one in pick([record]) if one.row in wanted]
            best, measured = compare(picks, adviser, choosing=self.choosing, measuring=self.measuring, seed=self.seed)
            return {"best": best.tolist(), "measured": advice_to_json(measured)}

        return play


def advice_to_json(advice: Advice) -> dict[str, Any]:
    """Returns the arrays of ``advice`` as lists, whose numbers are exact."""
    return {name: getattr(advice, name).tolist() for name in ARRAYS}


def advice_from_json(payload: dict[str, Any], setup: Setup) -> Advice:
    """Returns the advice that :func:`advice_to_json` wrote."""
    arrays: Iterator[Any] = (np.array(payload[name], np.int64 if name in ("best", "deals") else np.float64) for name in ARRAYS)
    return Advice(columns_of(setup.game), *arrays)


def review_by(
    executor: Executor,
    records: Sequence[Record],
    picks: Sequence[Pick],
    model: Callable[[Setup], Sequence[str]],
    *,
    choosing: int,
    measuring: int,
    seed: int,
    faults: BotCounts,
    bots: BotSettings | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Decision]:
    """Reviews the decisions ``picks`` of ``records`` by ``executor``, with the result of :func:`~.review.review`.

    ``model(setup)`` returns the names of the agents in the seats; ``bots`` says how bots are asked (None: as by default). The
    counts of bots among them are added to ``faults``.
    ``progress`` is called with two for each decision.
    """
    of_setup: dict[str, list[list[Pick]]] = {}
    for _, picks_of_match in itertools.groupby(picks, key=lambda one: one.match):
        some = list(picks_of_match)
        of_setup.setdefault(str(some[0].setup.to_dict()), []).append(some)
    reviews: dict[int, list[Decision]] = {}
    for matches in of_setup.values():
        setup = matches[0][0].setup
        match_picks = tuple((some[0].match, records[some[0].match - 1], tuple(one.row for one in some)) for some in matches)
        plan = ReviewPlan(setup, tuple(model(setup)), choosing, measuring, seed, match_picks)
        agents = [load_agent(name, setup, bots=bots) for name in plan.agents]
        with closing(executor.results(plan, agents, plan.units())) as results:
            for unit, given in results:
                faults.add(given)
                some = matches[unit.first]
                measured = advice_from_json(given["measured"], setup)
                reviews[some[0].match] = reviewed(some, np.array(given["best"], np.int64), measured)
                if progress is not None:
                    progress(2 * len(some))
    return with_mistakes([decision for match in sorted(reviews) for decision in reviews[match]])
