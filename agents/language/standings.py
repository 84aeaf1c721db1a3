"""The standings of a leaderboard: means over tasks with 95 % intervals, and differences at the same tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.printable import printable

from ..measure.report.format_ci import UNKNOWN, format_ci
from ..measure.report.text import align, shown_names
from ..measure.stats.differences import Differences, interval_notes
from ..measure.stats.ratio_estimate import Estimate, Ratios
from .leaderboard import Leaderboard
from .leaderboard_rows import Row

MEASURES = ("chips", "edge", "advantage", "regret")
NOTES = (
    "Intervals are 95 %, over tasks. Edge: beyond what the field's agent gets in the same seat on the same deal. Advantage: "
    "gained over the moves of the adviser's own player. Regret: lost against the adviser's best moves, so less is better."
)


@dataclass(frozen=True)
class Measured:
    """One measure of an agent."""

    tasks: int
    """That have this measure."""
    round: Estimate
    decision: Estimate
    """For each decision."""
    round_difference: Estimate | None
    """From the first agent, at the tasks that both have; None for the first."""
    decision_difference: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        """Returns the estimates as JSON values."""
        names = ("round", "decision", "round_difference", "decision_difference")
        estimates = {name: getattr(self, name) for name in names}
        return {"tasks": self.tasks, **{name: one.to_dict() for name, one in estimates.items() if one is not None}}


@dataclass(frozen=True)
class Standing:
    """An agent of a leaderboard."""

    agent: str
    measures: Mapping[str, Measured]
    rows: Sequence[Row]
    """Of the tasks at which it played."""
    refusals: Sequence[str]
    """Why it has not played the others: a sentence for each."""

    def total(self, name: str) -> int:
        """Returns the sum of a field of the rows: ``decisions``, ``calls``, ``tokens`` or ``forfeits``."""
        return sum(getattr(row, name) for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Returns the standing as JSON values."""
        totals = {name: self.total(name) for name in ("decisions", "calls", "tokens", "forfeits")}
        measures = {name: one.to_dict() for name, one in self.measures.items()}
        bots = {key: self.rows[0].identity[key] for key in ("on_fault", "chat") if key in self.rows[0].identity}
        return {"agent": self.agent, "tasks": len(self.rows), "refused": len(self.refusals), **totals, **measures, **bots}


def standings(rows: Mapping[str, Sequence[Row]]) -> list[Standing]:
    """Returns the standing of each agent, by its ``rows`` in the order of the tasks.

    The agent with the largest advantage a round comes first; where not every agent has one, that with the largest edge.
    """
    first = next(iter(rows))
    result = []
    for name, some in rows.items():
        played = [row for row in some if row.refused is None]
        other = None if name == first else rows[first]
        measures = {measure: _measured(measure, played, other) for measure in MEASURES}
        measures = {measure: one for measure, one in measures.items() if one.tasks}
        refusals = [row.refused for row in some if row.refused is not None]
        result.append(Standing(name, measures, played, refusals))
    rank = "advantage" if all("advantage" in one.measures for one in result) else "edge"
    return sorted(result, key=lambda one: -one.measures[rank].round.mean)


def _measured(measure: str, rows: Sequence[Row], first: Sequence[Row] | None) -> Measured:
    rows = _with(measure, rows)
    values = _columns(measure, rows)
    ratios = _ratios(np.concatenate([values, values]))
    round_difference = decision_difference = None
    if first is not None:
        both = {row.index for row in _with(measure, first)} & {row.index for row in rows}
        pair = [_columns(measure, [row for row in some if row.index in both]) for some in (rows, first)]
        round_difference = _estimate(pair[0][0] - pair[1][0])
        decision_difference = _ratios(np.concatenate(pair)).difference(0)
    return Measured(len(rows), _estimate(values[0]), ratios.first(0), round_difference, decision_difference)


def _with(measure: str, rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of tasks that were played and have the measure."""
    return [row for row in rows if row.refused is None and getattr(row, measure) is not None]


def _columns(measure: str, rows: Sequence[Row]) -> NDArray[np.float64]:
    """Returns the measure and the decisions of T rows, ``(2, T)``."""
    pairs = [(getattr(row, measure), row.decisions) for row in rows]
    return np.array(pairs, np.float64).reshape(-1, 2).T


def _ratios(values: NDArray[np.float64]) -> Ratios:
    ratios = Ratios(1)
    ratios.add(values[None])
    return ratios


def _estimate(values: NDArray[np.float64]) -> Estimate:
    return Differences.of(values).estimate if values.size else Estimate(float("nan"), float("nan"))


def text(board: Leaderboard, places: Sequence[Standing], unit: str) -> str:
    """Returns the leaderboard as a table for a terminal."""
    rows = [_HEAD, *_cells(board, places, str)]
    lines = [_heading(board, unit, printable), "", *align(rows, left=(0,), ruled=True), "", *_notes(places)]
    return "\n".join([*lines, *_refusals(places, printable)])


def markdown(board: Leaderboard, places: Sequence[Standing], unit: str) -> str:
    """Returns the leaderboard as a page of Markdown."""
    rule = ["---", *["---:"] * (len(_HEAD) - 1)]
    cells = _cells(board, places, lambda name: code(name).replace("|", r"\|"))
    rows = ["| " + " | ".join(row) + " |" for row in (_HEAD, rule, *cells)]
    return "\n".join(
        ["# Leaderboard", "", _heading(board, unit, code), "", *rows, "", *_notes(places), *_refusals(places, code), ""]
    )


def code(text: str) -> str:
    """Returns ``text`` as code in Markdown, whatever it has."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{printable(text)}{space}{ticks}"


_HEAD = [
    "agent", "chips", "edge", "advantage", "regret", "edge − first's", "advantage − first's", "decisions", "calls", "tokens",
    "forfeits",
]  # fmt: skip


def _heading(board: Leaderboard, unit: str, quote: Callable[[str], str]) -> str:
    """Returns the sentence on what was played."""
    knobs = "".join(f", {name}={value}" for name, value in board.knobs.items())
    return (
        f"{board.game}{knobs}: {board.count} tasks of the split {board.split}, in {unit} a round. "
        f"Differences are from {quote(board.agents[0])}, at the same tasks."
    )


def _cells(board: Leaderboard, places: Sequence[Standing], quote: Callable[[str], str]) -> list[list[str]]:
    names = shown_names(board.agents)
    rows = []
    for one in places:
        measured = [one.measures.get(measure) for measure in MEASURES]
        cells = [_ci(None if each is None else each.round, signed=each is not measured[-1]) for each in measured]
        cells += [_ci(None if each is None else each.round_difference, signed=True) for each in measured[1:3]]
        totals = [f"{one.total(name):,}" for name in ("decisions", "calls", "tokens", "forfeits")]
        rows.append([quote(names[one.agent]), *cells, *totals])
    return rows


def _ci(estimate: Estimate | None, *, signed: bool = False) -> str:
    return UNKNOWN if estimate is None else format_ci(estimate, "", signed=signed)


def _notes(places: Sequence[Standing]) -> list[str]:
    """Returns what the columns are, and how far to trust their intervals."""
    columns = [_columns(measure, _with(measure, one.rows))[0] for one in places for measure in one.measures]
    return [NOTES, *interval_notes(map(Differences.of, columns))]


def _refusals(places: Sequence[Standing], quote: Callable[[str], str]) -> list[str]:
    """Returns a sentence for each agent that did not play at every task, or has no regret at some."""
    lines = []
    for one in places:
        name = quote(one.agent)
        if one.refusals:
            lines.append(f"{name} played {len(one.rows)} tasks. The first of the others: {quote(one.refusals[0])}")
        regret = one.measures.get("regret")
        if regret is None or regret.tasks < len(one.rows):
            number = 0 if regret is None else regret.tasks
            lines.append(f"{name} has a regret at {number} tasks: under the rules of the others is no advice.")
    return lines
