"""The runs of a grid, and what a sweep measures: edges with intervals over training seeds.

An interval over deals says how well one network was measured; how well a recipe trains differs more from seed to seed. So the
edge of a configuration is the mean over its seeds, with the 95 % interval of Student's t.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, quoted

from ...measure.stats.intervals import Moments, to_json
from .. import get_trainer
from ..base import BaseConfig
from ..config import apply_settings, build
from ..curves import Curve, draw_curves, read_curve

RESULTS, TABLE, PICTURE = "results.json", "sweep.csv", "edge.png"
"""What is written into the folder of a sweep, beside its runs."""
RUNS, SEARCH, TRIALS = "runs", "search.db", "trials.png"
"""The folder of the runs; of a sweep that is a search also Optuna's storage, and the picture of the trials."""
HEADING_KEYS = ("game", "eval_against")
"""Keys that say what the edges of a table are, and their unit."""
MEASURE_KEYS = {*HEADING_KEYS, "preset", "players", "rules", "mixture", "start", "eval_deals"}
"""Keys that define an edge: a search may not vary them."""


@dataclass(frozen=True, eq=False)
class SeedRun:
    """One training run of a sweep, equal to itself alone."""

    name: str
    """Of its configuration: the settings that differ within the sweep."""
    seed: int
    config: BaseConfig
    folder: Path


@dataclass(frozen=True)
class Trained:
    """The edge of one run during training, at K evaluations; ``error`` where it diverged."""

    name: str
    seed: int
    iteration: list[int]
    seconds: list[float]
    edge: list[float]
    ci95: list[float]
    """Half-widths over deals."""
    error: str | None = None


class Row(NamedTuple):
    """One configuration: its edge at the end, over seeds."""

    name: str
    seeds: int
    """Seeds whose run reached the end."""
    diverged: int
    edge: float
    ci95: float
    """Half-width over seeds; nan with fewer than two."""
    seconds: float
    """Of training, the mean over seeds."""


# ---- runs --------------------------------------------------------------------------------------------------------------


def runs_of(values: dict[str, Any], settings: Sequence[str], seeds: Sequence[int], folder: Path) -> list[SeedRun]:
    """Returns all runs: every combination of ``settings``, see :func:`choices`, over ``values`` of a file, with every seed.

    Raises :class:`ConfigError` for a configuration that does not exist, or that is not evaluated, for a key or a configuration
    given twice, for several values of :data:`HEADING_KEYS`, and for the folder of a search.
    """
    if (folder / SEARCH).exists():
        raise ConfigError(f"{str(folder)!r} has a search in it, and no grid: give --search to go on with it, or another --out.")
    options = [choices(setting) for setting in settings]
    keys = [setting.partition("=")[0] for setting in settings]
    for key, option in zip(keys, options, strict=True):
        if keys.count(key) > 1:
            raise ConfigError(f"A sweep takes each key once, and --set {key}=… is given twice.")
        if len(option) > 1 and key in HEADING_KEYS:
            raise ConfigError(f"The edges of a sweep stand in one table, and {key!r} says what they are: give it one value.")
    runs: list[SeedRun] = []
    for combination in itertools.product(*options):
        varied = [setting for setting, option in zip(combination, options, strict=True) if len(option) > 1]
        name = ",".join(varied) or "base"
        place = folder / RUNS / re.sub(r"[^\w.=,+-]", "_", name)
        new = [SeedRun(name, seed, configured(values, combination, seed), place / f"seed-{seed}") for seed in seeds]
        for other in runs if new else ():
            if other.config == new[0].config:
                raise ConfigError(f"{quoted(name)} is the same configuration as {quoted(other.name)}: list each value once.")
            if other.folder == new[0].folder:
                raise ConfigError(f"{quoted(name)} would have the folder of {quoted(other.name)}: list each value once.")
        runs += new
    return runs


def choices(setting: str) -> list[str]:
    """Returns the settings ``key=value`` of ``key=value,value,…``; commas within brackets, braces and quotes do not separate."""
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise ConfigError(f"A setting is key=value or key=value,value,…, not {quoted(setting)}.")
    if key == "seed":
        raise ConfigError("The seeds of a sweep are given by --seeds and --first-seed, not by --set seed=….")
    values, depth, quote = [""], 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "[{") - (c in "]}")
        if c == "," and depth == 0 and not quote:
            values.append("")
        else:
            values[-1] += c
    return [f"{key}={value}" for value in values]


def configured(values: Mapping[str, Any], settings: Sequence[str], seed: int = 0) -> BaseConfig:
    """Returns the configuration of a run; raises :class:`ConfigError` where there is none, or it is not evaluated."""
    given = {**apply_settings(values, settings), "seed": seed}
    config: BaseConfig = build(get_trainer(given.get("algorithm", "ppo")).Config, given)
    if not config.evaluates:
        raise ConfigError("A sweep compares edges, and these runs are not evaluated: set 'eval_every' and 'eval_deals'.")
    return config


# ---- results -------------------------------------------------------------------------------------------------------------


def read_results(runs: Sequence[SeedRun], diverged: Mapping[SeedRun, str]) -> list[Trained]:
    """Returns the edges of all runs, from their logs."""
    results = []
    for run in runs:
        if run in diverged:
            results.append(Trained(run.name, run.seed, [], [], [], [], diverged[run]))
            continue
        by_time, by_step = (read_curve(run.folder, "eval/edge", along) for along in ("seconds", "iterations"))
        assert by_time.half_width is not None
        columns = (by_time.along, by_time.values, by_time.half_width)
        steps = [int(step) for step in by_step.along]
        results.append(Trained(run.name, run.seed, steps, *(column.tolist() for column in columns)))
    return results


def rows(results: Sequence[Trained]) -> list[Row]:
    """Returns a row for each configuration, in the order of the results."""
    table = []
    for name, of_name in _by_name(results).items():
        whole = [one for one in of_name if one.error is None]
        edge, seconds = Moments(), Moments()
        edge.add([one.edge[-1] for one in whole])
        seconds.add([one.seconds[-1] for one in whole])
        mean = edge.mean if whole else float("nan")
        table.append(Row(name, len(whole), len(of_name) - len(whole), mean, edge.half_width, seconds.mean))
    return table


def mean_curves(results: Sequence[Trained]) -> list[Curve]:
    """Returns the mean edge of each configuration over its seeds, against the mean seconds, at each evaluation.

    The half-widths are over seeds, None for one seed. Configurations whose runs all diverged are left out.
    """
    curves = []
    for name, of_name in _by_name(results).items():
        whole = [one for one in of_name if one.error is None]
        if not whole:
            continue
        shared = sorted(set.intersection(*(set(one.iteration) for one in whole)))
        at = [[one.iteration.index(step) for step in shared] for one in whole]
        edge = np.array([np.array(one.edge)[index] for one, index in zip(whole, at, strict=True)])
        seconds = np.array([np.array(one.seconds)[index] for one, index in zip(whole, at, strict=True)])
        widths = np.array([Moments.of(column).half_width for column in edge.T]) if len(whole) > 1 else None
        curves.append(Curve(name, seconds.mean(axis=0), edge.mean(axis=0), widths))
    return curves


def _by_name(results: Sequence[Trained]) -> dict[str, list[Trained]]:
    by_name: dict[str, list[Trained]] = {}
    for one in results:
        by_name.setdefault(one.name, []).append(one)
    return by_name


def draw_edges(folder: Path, results: Sequence[Trained], seeds: int) -> None:
    """Draws ``edge.png``, the edges against time, if any run has one."""
    if curves := mean_curves(results):
        title = f"Mean over training seeds, 95 % intervals over {seeds} seeds" if seeds > 1 else "One training seed"
        draw_curves(curves, folder / PICTURE, metric="eval/edge", along="seconds", title=title)


def write_tables(folder: Path, results: Sequence[Trained], *, about: Mapping[str, Any]) -> None:
    """Writes ``results.json``, and ``sweep.csv`` with a line for each evaluation of each run, each atomically."""
    table = [
        {key: to_json(value) if isinstance(value, float) else value for key, value in row._asdict().items()}
        for row in rows(results)
    ]
    runs = [asdict(one) for one in results]
    write_text(folder / RESULTS, json.dumps({**about, "configurations": table, "runs": runs}, indent=2) + "\n")
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["configuration", "seed", "iteration", "seconds", "edge", "ci95"])
    for one in results:
        for point in zip(one.iteration, one.seconds, one.edge, one.ci95, strict=True):
            lines.writerow([one.name, one.seed, *point])
    write_text(folder / TABLE, text.getvalue())
