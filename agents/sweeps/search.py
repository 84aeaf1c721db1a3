"""Searches for hyperparameters: trials that a sampler proposes, each trained with several seeds, for the highest mean edge.

Trials are proposed in batches of a fixed size, from the edges of the batches before; so they do not depend on how many runs are
trained at a time, or where, or on when the search was stopped. ``search.json`` has the values of all trials that were proposed.
Edges are read from the runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import optuna

from nainjaune_env.core.atomic_files import locked, write_text
from nainjaune_env.core.errors import ConfigError, NainJauneError, quoted
from nainjaune_env.core.validation import read_json

from ..trainers.base import BaseConfig
from ..trainers.config import LENGTH_KEYS, changed_keys
from ..trainers.run import CONFIG_NAME
from .grid import RESULTS, RUNS, SEARCH, Row, Trained, Unit, read_results, rows, write_tables
from .sampler import SAMPLER, propose
from .space import Space, Value, as_settings, configured, ends
from .trial_plots import Point, draw_trials

PICTURE = "trials.png"

Train = Callable[[Sequence[Unit]], dict[Unit, str] | None]
"""Trains runs; returns the sentences of those that diverged, None where it was stopped."""


@dataclass
class Trial:
    """One configuration of a search."""

    number: int
    values: dict[str, Value]
    failed: dict[int, str] = field(default_factory=dict)
    """The sentence for each training seed whose run diverged, and for all where the values make no configuration."""

    @property
    def name(self) -> str:
        """The settings, as in a grid."""
        return ",".join(as_settings(self.values))


class Search:
    """A search in a folder: its trials, and the results of those that are trained. :meth:`opened` makes it."""

    def __init__(
        self, fixed: Mapping[str, Any], space: Space, seeds: Sequence[int], folder: Path, *, seed: int = 0, batch: int = 1
    ) -> None:
        """``fixed`` and ``space``: as from ``read_space``. ``seed``: of the sampler. ``batch``: trials proposed at a time."""
        self.fixed, self.space, self.seeds, self.folder, self.seed, self.batch = fixed, space, seeds, folder, seed, batch
        self.base: BaseConfig = configured(fixed, as_settings({key: ends(one)[0] for key, one in space.items()}), seeds[0])
        """The configuration with the first value of each key that is varied."""
        self.trials: list[Trial] = []
        """All that were proposed, by number."""
        self.results: list[list[Trained]] = []
        """The runs of each trial that is trained, from the first trial on."""

    @property
    def path(self) -> Path:
        """The file of the trials."""
        return self.folder / SEARCH

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Within this context the search is this process's own, with the trials of its folder.

        Raises :class:`ConfigError` for a folder with another sweep or search in it, whose files are left as they are.
        """
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.path, wait=False))
            except TimeoutError:
                raise ConfigError(f"A search is under way in {str(self.folder)!r}: wait for its end, or stop it.") from None
            self._read()
            yield

    def run(self, total: int, train: Train, finished: Callable[[], object]) -> bool:
        """Proposes and trains trials until ``total`` are trained.

        Returns True when they are, False when ``train`` was stopped before. ``finished()`` is called after each batch.
        """
        while (start := len(self.results)) < total:
            batch = self._propose(start, min((start // self.batch + 1) * self.batch, total))
            runs = {trial.number: self.units(trial) for trial in batch}
            own = [unit for trial in batch if self._first(trial) is trial for unit in runs[trial.number]]
            diverged = train(own) if own else {}
            if diverged is None:
                return False
            by_folder = {unit.folder: sentence for unit, sentence in diverged.items()}
            for trial in batch:
                first = self._first(trial)
                trial.failed = first.failed | {
                    unit.seed: by_folder[unit.folder] for unit in runs[trial.number] if unit.folder in by_folder
                }
                whole = read_results([unit for unit in runs[trial.number] if unit.seed not in trial.failed], {})
                lost = [Trained(trial.name, seed, [], [], [], [], sentence) for seed, sentence in trial.failed.items()]
                self.results.append(whole + lost)
            self._write()
            finished()
        return True

    def units(self, trial: Trial) -> list[Unit]:
        """Returns the runs of a trial, without those known to fail: those of an earlier trial, where that has the same values."""
        place = self.folder / RUNS / f"trial-{self._first(trial).number:03}"
        return [
            Unit(trial.name, seed, configured(self.fixed, as_settings(trial.values), seed), place / f"seed-{seed}")
            for seed in self.seeds
            if seed not in trial.failed
        ]

    def edge(self, number: int) -> Row:
        """Returns the mean edge of a trial that is trained."""
        return rows(self.results[number])[0]

    def table(self) -> list[tuple[Trial, Row]]:
        """Returns the trained trials, the highest edge first; those with runs that failed are last, and none is there twice."""
        own = [(trial, self.edge(trial.number)) for trial in self.trials[: len(self.results)] if self._first(trial) is trial]
        return sorted(own, key=lambda entry: (entry[1].diverged > 0, -entry[1].edge if entry[1].seeds else math.inf))

    def write_results(self, about: Mapping[str, Any]) -> None:
        """Writes ``results.json``, ``sweep.csv`` and ``trials.png`` for the trials that are trained, each atomically."""
        table = self.table()
        search = {"trials": len(self.results), "seed": self.seed, "batch": self.batch, "sampler": SAMPLER}
        search |= {"optuna": optuna.__version__, "space": self._space()}
        trials = [
            {"number": trial.number, "values": trial.values, "same_as": first if first != trial.number else None}
            for trial in self.trials[: len(self.results)]
            for first in [self._first(trial).number]
        ]
        results = [one for trial, _ in table for one in self.results[trial.number]]
        write_tables(self.folder, results, about={**about, "search": search, "trials": trials})
        points = [Point(trial.number, trial.values, row.edge, row.ci95) for trial, row in table if not row.diverged]
        if points:
            over = f"95 % intervals over {len(self.seeds)} training seeds" if len(self.seeds) > 1 else "one training seed"
            draw_trials(sorted(points), self.space, self.folder / PICTURE, title=f"Trials of a search, {over}")

    # ---- trials ----------------------------------------------------------------------------------------------------------

    def _first(self, trial: Trial) -> Trial:
        """Returns the first trial with the same values."""
        return next(other for other in self.trials if other.values == trial.values)

    def _propose(self, start: int, end: int) -> list[Trial]:
        """Returns the trials from ``start`` to ``end``, within a batch, after those that are missing have been proposed."""
        begin = start // self.batch * self.batch
        for number in range(len(self.trials), end):
            known: list[tuple[dict[str, Value], float | None]] = []
            for trial in self.trials[:begin]:
                row = self.edge(trial.number)
                known.append((trial.values, math.nan if row.diverged else row.edge))
            known += [(trial.values, None) for trial in self.trials[begin:number]]
            trial = Trial(number, propose(self.space, known, self.seed, number))
            try:
                configured(self.fixed, as_settings(trial.values))
            except NainJauneError as error:
                trial.failed = dict.fromkeys(self.seeds, str(error))
            self.trials.append(trial)
            self._write()
        return self.trials[start:end]

    # ---- the file --------------------------------------------------------------------------------------------------------

    def _space(self) -> dict[str, str]:
        return {key: str(one) for key, one in self.space.items()}

    def _about(self) -> dict[str, Any]:
        """Returns what a search must have in common with the one in the file."""
        given = {"--seeds": len(self.seeds), "--first-seed": self.seeds[0], "--search-seed": self.seed, "--batch": self.batch}
        return {"given": given, "space": self._space(), "config": asdict(self.base)}

    def _write(self) -> None:
        trials = [{"values": trial.values, "failed": trial.failed} for trial in self.trials]
        write_text(self.path, json.dumps({"search": self._about(), "trials": trials}, indent=2) + "\n")

    def _read(self) -> None:
        """Reads the trials, where there are any; a search none of whose runs has begun is not gone on with."""
        if not self.path.exists():
            if (self.folder / RUNS).exists() or (self.folder / RESULTS).exists():
                raise ConfigError(f"{str(self.folder)!r} has a sweep of a grid in it, and no search: choose another --out.")
            return
        damaged = ConfigError(f"{str(self.path)!r} is not the record of a search: restore that file, or choose another --out.")
        try:
            held = read_json(self.path, "record of a search", ConfigError)
            differing = self._differences(held["search"])
            trials = [
                Trial(number, dict(one["values"]), {int(seed): str(text) for seed, text in one["failed"].items()})
                for number, one in enumerate(held["trials"])
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise error if isinstance(error, ConfigError) else damaged from None
        if differing and not any(self.folder.glob(f"{RUNS}/*/*/{CONFIG_NAME}")):
            return
        if differing:
            raise ConfigError(
                f"The search in {str(self.folder)!r} is another one: {'; '.join(differing)}. Give what it has, or another --out."
            )
        for trial in trials:
            if trial.values.keys() != self.space.keys() or not all(self.space[key].holds(v) for key, v in trial.values.items()):
                raise damaged
        self.trials = trials

    def _differences(self, stored: Mapping[str, Any]) -> list[str]:
        """Returns what differs from the search in the file, each with its value then and now."""
        own = self._about()
        pairs = [(name, stored["given"][name], value) for name, value in own["given"].items()]
        keys = own["space"].keys() | stored["space"].keys()
        pairs += [(key, stored["space"].get(key), own["space"].get(key)) for key in sorted(keys)]
        config = stored["config"]
        others = [*changed_keys(self.base, config), *(key for key in LENGTH_KEYS if key in own["config"])]
        pairs += [(key, config.get(key), own["config"].get(key)) for key in others if key not in keys]
        return [f"{name} {_said(then)} then, {_said(now)} now" for name, then, now in pairs if then != now]


def _said(value: Any) -> str:
    return "not given" if value is None else value if isinstance(value, str) else quoted(value)
