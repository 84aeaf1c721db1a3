"""The tables of ``reward_power.py``: from values at each task to the calls that tell players apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.measure.stats.differences import Differences
from nainjaune_agents.measure.stats.intervals import Z_95, t_95

POWER = 0.8416212335729143
"""The point of the normal distribution below which 80 % lie."""
RANGE = (0.2, 0.5)
"""The differences of edges of the pairs that are shown."""
BOOTSTRAPS = 300
REPEATS = 1000
SIMULATED = 2
"""Pairs of each case whose power is simulated."""
MAX_DRAWS = 40_000_000
WINS = ("wins", "out first")
"""Measures of wins. The one that takes fewer calls is compared with."""
KINDS = ("unpaired", "paired")


@dataclass(frozen=True)
class Advised:
    """What an adviser made of the first tasks."""

    model: str
    choosing: int
    measuring: int
    sums: Mapping[str, NDArray[np.float64]]
    """By player ``(T, 3)``: regret, squared error of it, regret of the moves that the adviser's own player would make."""
    decisions: int
    """Different decisions that were measured."""
    seconds: float


@dataclass(frozen=True)
class CaseResult:
    """What is known of the players at a table."""

    name: str
    field: str
    unit: str
    played: Mapping[str, Any]
    advised: Sequence[Advised]

    @property
    def usual(self) -> list[Advised]:
        """One for each adviser: the first."""
        first: dict[str, Advised] = {}
        for one in self.advised:
            first.setdefault(one.model, one)
        return [*first.values()]

    def values(self, name: str) -> dict[str, NDArray[np.float64]]:
        """Returns a player's values at each task by measure, the larger the better; with regrets, of the first tasks only."""
        played = self.played[name]
        columns = {"wins": played.best, "out first": played.out, "chips": played.chips, "edge": played.edge}
        values = {measure: column for measure, column in columns.items() if column is not None}
        for one in self.usual:
            values[f"regret, {one.model}"] = -one.sums[name][:, 0]
            values[f"gain, {one.model}"] = one.sums[name][:, 2] - one.sums[name][:, 0]
        return values


class Resampled:
    """Means and variances over tasks: of all tasks first, then of bootstrap samples."""

    def __init__(self, tasks: int, rng: np.random.Generator) -> None:
        share = np.full(tasks, 1 / tasks)
        drawn = np.stack([rng.multinomial(tasks, share) for _ in range(BOOTSTRAPS)])
        self.weights = np.concatenate([np.ones((1, tasks)), drawn]).astype(np.float32)

    def moments(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns mean and variance ``(1 + BOOTSTRAPS,)`` of ``values (T,)``, which may be of the first tasks only."""
        weights = self.weights[:, : len(values)]
        total = weights.sum(axis=1, dtype=np.float64)
        centre = values.mean()
        rows = np.stack([values - centre, (values - centre) ** 2], axis=1)
        mean, square = ((weights @ rows.astype(np.float32)) / total[:, None]).T.astype(np.float64)
        return mean + centre, np.maximum(square - mean**2, 0.0) * total / (total - 1)


def calls_needed(mean: NDArray[np.float64], variance: NDArray[np.float64], calls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the calls of each player that show a mean difference with 80 % power; infinite where it has the wrong sign."""
    with np.errstate(divide="ignore", invalid="ignore"):
        tasks = (Z_95 + POWER) ** 2 * variance / mean**2
    return np.where(mean > 0, np.maximum(tasks, 2) * calls, math.inf)


@dataclass(frozen=True)
class Need:
    """The calls that a pair needs by one measure."""

    difference: float
    error: float
    """Its standard error, of paired values."""
    calls: Mapping[str, NDArray[np.float64]]
    """By kind, ``(1 + BOOTSTRAPS,)``."""


def needs(case: CaseResult, better: str, other: str, resampled: Resampled) -> dict[str, Need]:
    """Returns what a pair needs, by measure."""
    one, two = case.values(better), case.values(other)
    calls = resampled.moments((case.played[better].calls + case.played[other].calls) / 2)[0]
    result = {}
    for measure in one:
        tasks = min(len(one[measure]), len(two[measure]))
        a, b = one[measure][:tasks], two[measure][:tasks]
        mean, variance = resampled.moments(a - b)
        apart = resampled.moments(a)[1] + resampled.moments(b)[1]
        kinds = {"unpaired": calls_needed(mean, apart, calls), "paired": calls_needed(mean, variance, calls)}
        result[measure] = Need(float(mean[0]), math.sqrt(variance[0] / tasks), kinds)
    return result


def pairs_of(case: CaseResult) -> Iterator[tuple[str, str, float]]:
    """Yields all pairs of players whose edges differ by a number in :data:`RANGE`, the better first, with the difference."""
    edges = {name: float(one.edge.mean()) for name, one in case.played.items()}
    for pair in combinations(edges, 2):
        better, other = sorted(pair, key=edges.__getitem__, reverse=True)
        if RANGE[0] <= edges[better] - edges[other] <= RANGE[1]:
            yield better, other, edges[better] - edges[other]


def bounds(samples: NDArray[np.float64]) -> tuple[float, float]:
    """Returns the ends of the 95 % interval of bootstrap ``samples``, some of which may be infinite."""
    low, high = np.quantile(samples[1:], [0.025, 0.975], method="nearest")
    return float(low), float(high)


def rounded(number: float) -> str:
    """Returns a number with two digits, or a sign for an infinite one."""
    if math.isinf(number):
        return "∞"
    if number == 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(number))) if 0 < number < 10 else 0
    return f"{number:,.{digits}f}" if number < 100 else f"{round(number, 1 - math.floor(math.log10(number))):,.0f}"


def with_bounds(samples: NDArray[np.float64]) -> str:
    """Returns the first of ``samples`` with its interval; a dash where the difference has the wrong sign."""
    return "wrong way" if math.isinf(samples[0]) else "{} ({}–{})".format(*map(rounded, (samples[0], *bounds(samples))))


def mean_ci(values: NDArray[np.float64], digits: int = 2, sign: str = "") -> str:
    """Returns a mean with its 95 % interval over tasks."""
    half = t_95(len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return f"{values.mean():{sign}.{digits}f} ± {half:.{digits}f}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table, numbers on the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def players_table(case: CaseResult) -> str:
    """Returns wins, edges and regrets of all players."""
    measures = [measure for measure in case.values(next(iter(case.played))) if measure != "chips"]
    rows = []
    for name, played in sorted(case.played.items(), key=lambda item: -item[1].edge.mean()):
        values, calls = case.values(name), played.calls
        cells = [f"`{name}`", f"{calls.mean():.2f}"]
        for measure in measures:
            share, regret = measure in WINS, measure.startswith("regret")
            column = -values[measure] if regret else values[measure]
            cells.append(mean_ci(column, 4 if share else 3, "" if share or regret else "+"))
            if regret:
                cells.append(f"{column.mean() / calls[: len(column)].mean():.3f}")
        rows.append(cells)
    heads = [head for measure in measures for head in ((measure, "a call") if measure.startswith("regret") else (measure,))]
    return markdown(["player", "calls", *heads], rows)


def pairs_tables(case: CaseResult, resampled: Resampled) -> tuple[list[str], list[dict[str, Any]]]:
    """Returns the calls that each pair needs, how many times more they are by wins, and the same as JSON values."""
    measures = [*case.values(next(iter(case.played)))]
    wins, others = [[one for one in measures if (one in WINS) == among] for among in (True, False)]
    rows: list[list[str]] = []
    ratio_rows: list[list[str]] = []
    numbers = []
    for better, other, _ in pairs_of(case):
        need = needs(case, better, other, resampled)
        edge = need["edge"]
        for kind in KINDS:
            calls = {measure: one.calls[kind] for measure, one in need.items()}
            fewest = min((calls[measure] for measure in wins), key=lambda samples: float(samples[0]))
            ratios = {measure: ratio(fewest, calls[measure]) for measure in others}
            head = [f"`{better}`, `{other}`", f"{edge.difference:+.2f} ± {Z_95 * edge.error:.2f}", kind]
            rows.append([*head, *(with_bounds(calls[measure]) for measure in measures)])
            ratio_rows.append([*head, *(ratio_text(fewest, calls[measure], ratios[measure]) for measure in others)])
            numbers.append(
                {
                    "pair": [better, other],
                    "kind": kind,
                    "differences": {measure: [one.difference, one.error] for measure, one in need.items()},
                    "calls": {measure: [_json(one[0]), *map(_json, bounds(one))] for measure, one in calls.items()},
                    "wins_over": {measure: [_json(one[0]), *map(_json, bounds(one))] for measure, one in ratios.items()},
                }
            )
    titles = ["better, other", "edge", ""]
    tables = [
        markdown([*titles, *(f"calls by {measure}" for measure in measures)], rows),
        markdown([*titles, *(f"calls by wins ÷ calls by {measure}" for measure in others)], ratio_rows),
    ]
    return tables, numbers


def summary_table(groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Returns how many times as many calls wins take, over the pairs of each group."""
    rows = []
    for name, pairs in groups.items():
        for measure, kind in ((measure, kind) for measure in (pairs[0]["wins_over"] if pairs else ()) for kind in KINDS):
            some = [pair for pair in pairs if pair["kind"] == kind]
            ratios = [[math.inf if end is None else end for end in pair["wins_over"][measure]] for pair in some]
            wrong = [pair["calls"][measure][0] is None for pair in some]
            wins_wrong = [all(pair["calls"].get(name, [None])[0] is None for name in WINS) for pair in some]
            points, least = [point for point, *_ in ratios], [low for _, low, _ in ratios]
            counts = [sum(one >= 10 for one in points), sum(one >= 10 for one in least), sum(0 < one < 1 for one in points)]
            shown = map(str, (*counts, sum(wrong), sum(wins_wrong)))
            rows.append([name, measure, kind, str(len(points)), rounded(float(np.median(points))), *shown])
    head = ["table", "measure", "", "pairs", "median ratio", "10 or more", "whole interval", "below 1", "wrong way", "wins wrong"]
    return markdown(head, rows)


def ratio(wins: NDArray[np.float64], calls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns how many times as many calls wins take; 0 where the other measure is wrong, 1 where both are."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(calls), np.isinf(wins) * 1.0, wins / calls)


def ratio_text(wins: NDArray[np.float64], calls: NDArray[np.float64], ratios: NDArray[np.float64]) -> str:
    """Returns a ratio with its interval, or which side of it has the wrong sign."""
    if np.isinf(calls[0]):
        return "both wrong way" if np.isinf(wins[0]) else "wrong way"
    return "wins wrong way" if np.isinf(wins[0]) else with_bounds(ratios)


def _json(number: float) -> float | None:
    return float(f"{number:.6g}") if math.isfinite(number) else None


def ranks_table(case: CaseResult) -> str:
    """Returns how many pairs of players are in the order of their edges by each measure, and which are clearly not."""
    edges = {name: one.edge for name, one in case.played.items()}
    rows = []
    for measure in [measure for measure in case.values(next(iter(edges))) if measure != "chips"]:
        same, clear, against = 0, 0, []
        for pair in combinations(edges, 2):
            better, other = sorted(pair, key=lambda name: edges[name].mean(), reverse=True)
            if _z(edges[better] - edges[other]) < Z_95:
                continue
            one, two = case.values(better)[measure], case.values(other)[measure]
            tasks = min(len(one), len(two))
            z = _z(one[:tasks] - two[:tasks])
            clear, same = clear + 1, same + (z > 0)
            if z < -Z_95:
                against.append(f"`{other}` before `{better}`")
        rows.append([measure, f"{same} of {clear}", str(len(against)), "; ".join(against)])
    return markdown(["measure", "pairs in the order of clear edges", "clearly against it", "which"], rows)


def _z(values: NDArray[np.float64]) -> float:
    error = values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean() / error) if error > 0 else math.copysign(math.inf, values.mean()) if values.any() else 0.0


def deals_table(case: CaseResult, resampled: Resampled) -> str:
    """Returns what the numbers of deals of an adviser change, by the first pair."""
    rows, pairs = [], list(pairs_of(case))[:2]
    model = case.advised[0].model
    for one in (one for one in case.advised if one.model == model):
        cells = [f"{one.choosing:,}", f"{one.measuring:,}", f"{1000 * one.seconds / max(one.decisions, 1):.1f}"]
        for name in ("closer", "zoo:strong"):
            if name in one.sums:
                regret, error = one.sums[name][:, 0], one.sums[name][:, 1]
                cells += [mean_ci(regret, 3), f"{regret.std():.2f}, {math.sqrt(error.mean()):.2f}"]
        for better, other, _ in pairs:
            calls = resampled.moments((case.played[better].calls + case.played[other].calls) / 2)[0]
            tasks = min(len(one.sums[name]) for name in (better, other))
            difference = one.sums[other][:tasks, 0] - one.sums[better][:tasks, 0]
            cells.append(with_bounds(calls_needed(*resampled.moments(difference), calls)))
        rows.append(cells)
    spread = "standard deviation, noise"
    head = ["choosing", "measuring", "ms a decision", "regret of `closer`", spread, "regret of `zoo:strong`", spread]
    return markdown([*head, *(f"calls, paired: `{better}`, `{other}`" for better, other, _ in pairs)], rows)


def simulated(case: CaseResult, resampled: Resampled, rng: np.random.Generator) -> str:
    """Returns how often samples of the needed size show the difference, by drawing tasks with replacement."""
    rows = []
    for better, other, _ in list(pairs_of(case))[:SIMULATED]:
        need = needs(case, better, other, resampled)
        calls = (case.played[better].calls.mean() + case.played[other].calls.mean()) / 2
        one, two = case.values(better), case.values(other)
        for measure, kind in ((measure, kind) for measure in need for kind in KINDS):
            size = need[measure].calls[kind][0] / calls
            tasks = min(len(one[measure]), len(two[measure]))
            if not math.isfinite(size) or size * 50 > MAX_DRAWS:
                continue
            a, b, count = one[measure][:tasks], two[measure][:tasks], max(2, math.ceil(size))
            repeats = int(min(REPEATS, MAX_DRAWS // count))
            shown = [_shows(a, b, count, kind, rng) for _ in range(repeats)]
            student, printed = np.mean([each[0] for each in shown]), [each[1] for each in shown if each[1] is not None]
            by_printed = f"{100 * np.mean(printed):.0f} %" if printed else ""
            label = f"`{better}`, `{other}`"
            rows.append([label, measure, kind, f"{count:,}", f"{repeats:,}", f"{100 * student:.0f} %", by_printed])
    return markdown(["better, other", "measure", "", "tasks", "samples", "shown by Student's t", "by printed intervals"], rows)


def _shows(
    a: NDArray[np.float64], b: NDArray[np.float64], count: int, kind: str, rng: np.random.Generator
) -> tuple[bool, bool | None]:
    """Returns whether a sample shows that ``a`` is better, by Student's t and by ``stats.differences`` (paired only)."""
    which = rng.integers(len(a), size=count)
    if kind == "paired":
        sample = Differences.of(a[which] - b[which])
        student = t_95(count - 1) * math.sqrt(sample.variance / count)
        return sample.mean > student, sample.mean > sample.half_width  # nan: no interval, nothing shown
    one, two = a[which], b[rng.integers(len(b), size=count)]
    error = math.sqrt((one.var(ddof=1) + two.var(ddof=1)) / count)
    return one.mean() - two.mean() > t_95(2 * count - 2) * error, None


def report(results: Mapping[str, CaseResult], seed: int) -> tuple[str, dict[str, Any]]:
    """Returns all tables as Markdown, and the numbers as JSON values; those of a case do not depend on the others."""
    lines, numbers = [], {}
    for case in results.values():
        tasks = len(next(iter(case.played.values())).edge)
        rng = np.random.default_rng([seed, *case.name.encode()])
        resampled = Resampled(tasks, rng)
        about = ", ".join(
            f"{max(map(len, one.sums.values())):,} tasks by {one.model} ({one.decisions:,} different decisions, "
            f"{1000 * one.seconds / max(one.decisions, 1):.0f} ms each)"
            for one in case.usual
        )
        pairs, numbers[case.name] = pairs_tables(case, resampled)
        head = f"{tasks:,} tasks in a field of `{case.field}`, {case.unit}; regrets at the first {about}."
        parts = [head, players_table(case), ranks_table(case), *pairs, simulated(case, resampled, rng)]
        parts += [deals_table(case, resampled)] if len(case.advised) > len(case.usual) else []
        lines += [f"## {case.name}", *parts]
    groups: dict[str, Any] = {}
    for case in results.values():
        groups.setdefault(f"all with `{case.field}`", []).extend(numbers[case.name])
    return "\n\n".join(["## Summary", summary_table({**groups, **numbers}), *lines]) + "\n", numbers
