"""What hero and field did, on the deals of the edge: against the payoffs, and against counting round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nainjaune_agents.measure.behaviour import MeasureEstimate
from nainjaune_agents.measure.compare import cross_table
from nainjaune_agents.measure.edges import Edge
from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.analysis.stats import tally
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.agents.measure.arena.scripted import Chance, First, Last
from tests.support.contract import all_setups
from tests.support.games import without
from tests.support.positions import small


def edge_of(setup: Setup, agents: list[Any], seed: int, deals: int, *, measure: bool = True) -> Edge:
    return cross_table(setup, agents, deals=deals, seed=seed, measure=measure, one_way=True).edges[0]


def figures(edge: Any) -> dict[tuple[str, str], MeasureEstimate]:
    return {(figure.measure.name, figure.part): figure for figure in edge.behaviour.estimates()}


def seat_by_seat(setup: Setup, seed: int, deals: int) -> tuple[Any, Any]:
    """Tallies (D, n, C) of the hero in each seat, and of the field there: one round after another, the slow and obvious way."""
    n = setup.players
    states = streams(seed, deals)
    both: tuple[list[Any], list[Any]] = ([], [])
    for state in states:
        for seat in range(n):
            for side, out in enumerate(both):
                batch = Batch(setup, 1, autoreset=False)
                batch.reset(seeds=np.array([state]))
                shown = Batch(setup, 1, autoreset=False, skip_forced=False)
                shown.reset(seeds=np.array([state]))
                actions = []
                while not batch.done[0]:
                    word = int(batch.legal[0])
                    hero = side == 0 and int(batch.seat[0]) == seat
                    actions.append((word & -word).bit_length() - 1 if hero else word.bit_length() - 1)
                    batch.step([actions[-1]])
                rows = np.where(np.arange(n) == seat, 0, -1)[None]
                out.append(tally(setup, shown.tables, np.array(actions, np.int64).reshape(-1, 1), rows, 1)[0])
    hero, field = (np.array(out).reshape(deals, n, -1) for out in both)
    return hero, field


@pytest.mark.parametrize("name", ["nain_jaune-djeco-3", "batasaurus-batasaurus-2"])
def test_every_figure_is_that_of_counting_round_by_round(name: str) -> None:
    (setup,) = (case.values[0] for case in all_setups() if case.id == name)
    edge = edge_of(setup, [First(), Last("last")], 4, 12)
    hero, field = seat_by_seat(setup, 4, 12)
    by_part = figures(edge)
    for measure in setup.game.measures.MEASURES:
        above = columns(setup.game.measures.TALLY, measure.counts)
        below = None if measure.per is None else columns(setup.game.measures.TALLY, measure.per)
        for k, part in enumerate(measure.parts or ("",)):
            values = []
            for counts in (hero, field):
                of = 12 * setup.players if below is None else counts[..., below[k if len(below) > 1 else 0]].sum()
                values.append(counts[..., above[k]].sum() / of if of else np.nan)
            figure = by_part[measure.name, part]
            assert [figure.hero.mean, figure.field.mean] == pytest.approx(values, nan_ok=True), (measure.name, part)
            assert figure.difference.mean == pytest.approx(values[0] - values[1], nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("setup", all_setups("measures"))
def test_payoffs_edges_and_accounts_agree(setup: Setup) -> None:
    edge = edge_of(setup, [First(), Chance()], 2, 60)
    by_part = figures(edge)
    payoff = by_part["payoff", ""]
    assert payoff.difference.mean == pytest.approx(edge.mean)
    assert payoff.difference.ci95 == pytest.approx(edge.moments.nominal_half_width)
    by_seat = [figure for (name, _), figure in by_part.items() if name == "payoff_by_distance"]
    assert [figure.difference.mean for figure in by_seat] == pytest.approx([m.mean for m in edge.by_seat])
    for figure, stats in zip(by_seat, edge.by_seat, strict=True):
        assert stats.rare or figure.difference.ci95 == pytest.approx(stats.nominal_half_width)
    account = [figure for figure in by_part.values() if figure.measure.account]
    assert len(account) > 1
    for side in ("hero", "field", "difference"):
        total = sum(getattr(figure, side).mean for figure in account)
        assert total == pytest.approx(getattr(payoff, side).mean)
    assert by_part["best", ""].field.mean == pytest.approx(1 / setup.players)


def test_measuring_changes_nothing_that_is_played() -> None:
    setup = small(4)
    plain, measured = (edge_of(setup, [Chance("a"), Chance("b")], 5, 20, measure=m) for m in (False, True))
    assert plain.behaviour is None
    assert measured.moments == plain.moments
    assert measured.by_seat == plain.by_seat


def test_a_game_that_counts_nothing_is_measured_by_its_payoffs() -> None:
    setup = small()
    bare = without(setup, "measures")
    edge = edge_of(bare, [First(), Last("l")], 1, 10)
    assert {name for name, _ in figures(edge)} == {"payoff", "best", "payoff_by_distance"}


def test_rounds_without_a_decision() -> None:
    """One card each: whoever leads goes out, unasked."""
    setup = small(3, hand=1)
    edge = edge_of(setup, [First(), Last("l")], 1, 10)
    by_part = figures(edge)
    assert by_part["out", ""].hero.mean == pytest.approx(1 / 3)
    assert by_part["leads", ""].hero.mean == pytest.approx(1 / 3)
