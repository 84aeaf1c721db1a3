"""The runs of a grid, recipes on settings with training seeds, and what a sweep measures: edges with intervals over these.

An interval over deals says how well one network was measured; how well a recipe trains differs more from seed to seed. So the
edge of a configuration is the mean over its seeds, with the 95 % interval of Student's t.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from msgspec import Meta, field

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, quoted, unknown_name_message

from ...base.settings import NonNegativeInt, PositiveInt, Settings, convert
from ...measure.stats.intervals import Moments, to_json
from .. import get_trainer
from ..base import BaseConfig
from ..config import LENGTH_KEYS, apply_settings, build, read_yaml
from ..curves import Curve, draw_curves, read_curve

RESULTS, TABLE, PICTURE = "results.json", "sweep.csv", "edge.png"
"""What is written into the folder of a sweep, beside its runs; with settings there is a picture ``edge-SETTING.png`` of each."""
RUNS, SEARCH, TRIALS = "runs", "search.db", "trials.png"
"""The folder of the runs; of a sweep that is a search also Optuna's storage, and the picture of the trials."""

T = TypeVar("T")
K = TypeVar("K")
Keys = dict[str, Any] | str
"""Keys of a configuration, or the path of a YAML file that has them."""
Named = Annotated[dict[str, Keys], Meta(min_length=1)]


class Cell(NamedTuple):
    """A recipe on a setting."""

    setting: str
    recipe: str
    values: Mapping[str, Any]
    """Of the configuration."""


class Sweep(Settings, frozen=True):
    """What is trained, as a sweep file says it: every recipe on every setting with every seed."""

    UNTRAINED: ClassVar[Sequence[str]] = ()
    """Names in ``iterations`` that are no recipes."""

    seeds: list[NonNegativeInt] = field(default_factory=list)
    common: Keys = field(default_factory=dict)
    """Of all runs."""
    recipes: Named = field(default_factory=lambda: {"": {}})
    """By name: keys over the common ones."""
    settings: Named = field(default_factory=lambda: {"": {}})
    """By name: keys over those of the recipes."""
    iterations: dict[str, dict[str, PositiveInt]] = field(default_factory=dict)
    """By setting and recipe: the lengths of runs; without them, as the recipes have it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len({*self.seeds}) < len(self.seeds):
            raise ConfigError(f"A sweep has each training seed once, not {self.seeds}.")
        if self.iterations and "" in self.settings:
            raise ConfigError("'iterations' are by setting and recipe, and this sweep has no 'settings'.")
        if self.iterations and not any(self.iterations.values()):
            raise ConfigError("'iterations' give no recipe a length on any setting, so nothing would be trained.")
        if self.iterations and self.iterations.keys() != self.settings.keys():
            raise ConfigError(f"'iterations' should have the settings {[*self.settings]}, not {[*self.iterations]}.")
        for name in itertools.chain(*self.iterations.values()):
            if name not in (*self.recipes, *self.UNTRAINED):
                raise ConfigError(unknown_name_message("recipe", name, (*self.recipes, *self.UNTRAINED)))

    def cells(self) -> Iterator[Cell]:
        """Yields all recipes on all settings; where there are ``iterations``, those alone that have some."""
        for setting, recipe in itertools.product(self.settings, self.recipes):
            length = self.iterations.get(setting, {}).get(recipe)
            if self.iterations and length is None:
                continue
            values: dict[str, Any] = {}
            for keys in (self.common, self.recipes[recipe], self.settings[setting]):
                values |= read_yaml(Path(keys)) if isinstance(keys, str) else keys
            if length is not None:
                cls = trainer_of(values).Config
                # where a configuration has generations as its length, ``iterations`` is a property of it
                values |= {next(key for key in reversed(LENGTH_KEYS) if hasattr(cls, key)): length}
            yield Cell(setting, recipe, values)


def read_sweep(path: Path) -> Sweep:
    """Returns the sweep in a YAML file; a file without ``recipes`` and ``settings`` is a configuration, which is the only recipe.

    Raises :class:`ConfigError` for a file that is no sweep.
    """
    values = read_yaml(path)
    if {"recipes", "settings"} & values.keys():
        return convert(Sweep, values, str(path))
    return Sweep(recipes={"": convert(dict[str, Any], values, str(path))})


@dataclass(frozen=True, eq=False)
class SeedRun:
    """One training run of a sweep, equal to itself alone."""

    name: str
    """Of its configuration: its recipe, and the values of ``--set`` that differ within the sweep."""
    seed: int
    config: BaseConfig
    folder: Path
    setting: str = ""
    """Empty in a sweep without settings."""

    @property
    def label(self) -> str:
        """The name with the setting's."""
        return join_names(self.setting, self.name)


@dataclass(frozen=True)
class Trained:
    """The edge of one run during training, at K evaluations; ``error`` where it diverged."""

    run: SeedRun
    iteration: list[int]
    seconds: list[float]
    edge: list[float]
    ci95: list[float]
    """Half-widths over deals."""
    error: str | None = None


class Row(NamedTuple):
    """One configuration: its edge at the end, over seeds."""

    setting: str
    name: str
    against: str
    """The agent over whose field the edge is."""
    unit: str
    """Of the edge, a round."""
    seeds: int
    """Seeds whose run reached the end."""
    diverged: int
    edge: float
    ci95: float
    """Half-width over seeds; nan with fewer than two."""
    seconds: float
    """Of training, the mean over seeds."""


# ---- runs --------------------------------------------------------------------------------------------------------------


def runs_of(
    cells: Iterable[Cell], settings: Sequence[str], seeds: Sequence[int], folder: Path, what: str = "The configuration"
) -> list[SeedRun]:
    """Returns all runs: each of ``cells`` under every combination of ``settings``, see :func:`choices`, with every seed.

    They come seed by seed, so that a sweep that is stopped early has whole seeds. ``what`` has the cells, as a file does, in
    messages. Raises :class:`ConfigError` for a configuration that does not exist, for one that is given twice, and for the folder
    of a search.
    """
    if (folder / SEARCH).exists():
        raise ConfigError(f"{str(folder)!r} has a search in it, and no grid: give --search to go on with it, or another --out.")
    options = [choices(setting) for setting in settings]
    grid = [*itertools.product(cells, itertools.product(*options))]
    runs: list[SeedRun] = []
    for seed, (cell, combination) in itertools.product(seeds, grid):
        varied = [setting for setting, option in zip(combination, options, strict=True) if len(option) > 1]
        name = ",".join(filter(None, [cell.recipe, *varied])) or "base"
        place = folder / RUNS / file_name(cell.setting) / file_name(name) / f"seed-{seed}"
        config = configured(
            cell.values, combination, seed, ", ".join(filter(None, [what, join_names(cell.setting, cell.recipe)]))
        )
        runs.append(SeedRun(name, seed, config, place, cell.setting))
    for other, run in itertools.combinations(runs[: len(grid)], 2):
        if run.config == other.config:
            raise ConfigError(f"{quoted(run.label)} is the same configuration as {quoted(other.label)}: list each once.")
        if run.folder == other.folder:
            raise ConfigError(f"{quoted(run.label)} would have the folder of {quoted(other.label)}: give it another name.")
    return runs


def join_names(setting: str, name: str) -> str:
    """Returns the name of a recipe or configuration with that of its setting; either may be empty."""
    return "/".join(filter(None, (setting, name)))


def file_name(name: str) -> str:
    """Returns ``name`` with other characters in place of those that a file's name should not have."""
    return re.sub(r"[^\w.=,+-]|^\.", "_", name)


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


def trainer_of(values: Mapping[str, Any]) -> Any:
    """Returns the module of the algorithm in the ``values`` of a configuration."""
    return get_trainer(values.get("algorithm", "ppo"))


def configured(values: Mapping[str, Any], settings: Sequence[str], seed: int = 0, what: str = "The configuration") -> BaseConfig:
    """Returns the configuration of a run; raises :class:`ConfigError`, which names ``what`` it is of, where there is none."""
    given = {**apply_settings(values, settings), "seed": seed}
    config: BaseConfig = build(trainer_of(given).Config, given, what)
    return config


def check_evaluated(config: BaseConfig) -> None:
    """Raises :class:`ConfigError` for a configuration whose runs have no edges."""
    if not config.evaluates:
        raise ConfigError("A sweep compares edges, and these runs are not evaluated: set 'eval_every' and 'eval_deals'.")


# ---- results -------------------------------------------------------------------------------------------------------------


def read_results(runs: Sequence[SeedRun], diverged: Mapping[SeedRun, str]) -> list[Trained]:
    """Returns the edges of all runs, from their logs."""
    results = []
    for run in runs:
        if run in diverged:
            results.append(Trained(run, [], [], [], [], diverged[run]))
            continue
        by_time, by_step = (read_curve(run.folder, "eval/edge", along) for along in ("seconds", "iterations"))
        assert by_time.half_width is not None
        columns = (by_time.along, by_time.values, by_time.half_width)
        results.append(Trained(run, [int(step) for step in by_step.along], *(column.tolist() for column in columns)))
    return results


def rows(results: Sequence[Trained]) -> list[Row]:
    """Returns a row for each configuration, in the order of the results."""
    table = []
    for (setting, name), of_name in _by_configuration(results).items():
        config = of_name[0].run.config
        whole = [one for one in of_name if one.error is None]
        edge, seconds = Moments(), Moments()
        edge.add([one.edge[-1] for one in whole])
        seconds.add([one.seconds[-1] for one in whole])
        mean = edge.mean if whole else float("nan")
        heading = (setting, name, config.eval_against, config.setup().game.unit)
        table.append(Row(*heading, len(whole), len(of_name) - len(whole), mean, edge.half_width, seconds.mean))
    return table


def mean_curves(results: Sequence[Trained]) -> list[Curve]:
    """Returns the mean edge of each configuration over its seeds, against the mean seconds, at each evaluation.

    The half-widths are over seeds, None for one seed. Configurations whose runs all diverged are left out.
    """
    curves = []
    for (_, name), of_name in _by_configuration(results).items():
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


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Returns the items by their keys, in order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _by_configuration(results: Sequence[Trained]) -> dict[tuple[str, str], list[Trained]]:
    return grouped(results, lambda one: (one.run.setting, one.run.name))


def draw_edges(folder: Path, results: Sequence[Trained], seeds: int) -> list[str]:
    """Draws the edges against time, a picture for each setting whose runs have some; returns the names of the files."""
    names = []
    for setting, of_setting in grouped(results, lambda one: one.run.setting).items():
        if curves := mean_curves(of_setting):
            names.append(f"edge-{file_name(setting)}.png" if setting else PICTURE)
            title = f"Mean over training seeds, 95 % intervals over {seeds} seeds" if seeds > 1 else "One training seed"
            title = f"{setting}: {title}" if setting else title
            draw_curves(curves, folder / names[-1], metric="eval/edge", along="seconds", title=title)
    return names


def write_tables(folder: Path, results: Sequence[Trained], *, about: Mapping[str, Any]) -> None:
    """Writes ``results.json``, and ``sweep.csv`` with a line for each evaluation of each run, each atomically."""
    table = [
        {key: to_json(value) if isinstance(value, float) else value for key, value in row._asdict().items()}
        for row in rows(results)
    ]
    columns = ("iteration", "seconds", "edge", "ci95", "error")
    runs = [
        {"setting": one.run.setting, "name": one.run.name, "seed": one.run.seed}
        | {column: getattr(one, column) for column in columns}
        for one in results
    ]
    write_text(folder / RESULTS, json.dumps({**about, "configurations": table, "runs": runs}, indent=2) + "\n")
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["setting", "configuration", "seed", "iteration", "seconds", "edge", "ci95"])
    for one in results:
        for point in zip(one.iteration, one.seconds, one.edge, one.ci95, strict=True):
            lines.writerow([one.run.setting, one.run.name, one.run.seed, *point])
    write_text(folder / TABLE, text.getvalue())
