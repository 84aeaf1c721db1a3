"""Hyper-parameter search: Optuna proposes trials, each trained with several seeds, for the highest mean edge.

Each trial's sampler is seeded by its number, so a search that was stopped goes on with the trials that it would have had.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.trial import FrozenTrial, TrialState

from nainjaune_env.core.atomic_files import replacing
from nainjaune_env.core.errors import ConfigError, NainJauneError, as_sentence, quoted

from ..config import read_yaml
from .grid import RUNS, SEARCH, TRIALS, SeedRun, Trained, check_evaluated, configured, read_results

MEASURE_KEYS = {"game", "eval_against", "preset", "players", "rules", "mixture", "start", "eval_deals"}
"""Keys that define an edge, and have one value in a search."""


def distribution(key: str, given: Any) -> BaseDistribution:
    """Returns the distribution of a list of values, or of numbers ``{low: …, high: …}`` with Optuna's ``log`` or ``step``.

    Raises :class:`ConfigError` for anything else.
    """
    expected = f"{key!r} of a space should be a list of values, or low and high with log or step"
    if isinstance(given, list) and given:
        return CategoricalDistribution([json.dumps(value) for value in given])
    if not isinstance(given, dict) or not {"low", "high"} <= given.keys() <= {"low", "high", "log", "step"}:
        raise ConfigError(f"{expected}, not {quoted(given)}.")
    try:
        numbers = {name: value if isinstance(value, int) else float(value) for name, value in given.items()}
    except (TypeError, ValueError):
        raise ConfigError(f"{expected}, which are numbers, not {quoted(given)}.") from None
    whole = all(isinstance(number, int) for number in numbers.values())
    try:
        return (IntDistribution if whole else FloatDistribution)(**numbers)
    except (ValueError, ArithmeticError) as error:
        raise ConfigError(f"{expected}: {as_sentence(error)}") from None


def described(one: BaseDistribution) -> dict[str, Any]:
    """Returns the kind of a distribution, and its numbers or values, as JSON has them."""
    content = json.loads(distribution_to_json(one))
    return {"kind": content["name"], **content["attributes"]}


def first_difference(before: object, now: object, name: str = "") -> tuple[str, object, object] | None:
    """Returns the name of the first value in nested dicts that differs, and both values; None where all are equal."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return None if before == now else (name, before, now)
    below = (first_difference(before.get(key), now.get(key), f"{name}.{key}".lstrip(".")) for key in {**before, **now})
    return next((difference for difference in below if difference is not None), None)


class Search:
    """A search in a folder, which one process at a time goes on with."""

    def __init__(self, values: dict[str, Any], settings: Sequence[str], space: Path, seeds: range, folder: Path) -> None:
        """``values`` and ``settings`` hold for all trials; ``space`` is a YAML file of what varies, see :func:`distribution`.

        Raises :class:`ConfigError` for an end of a range or a value that no configuration has, and for another search's folder.
        """
        self.values, self.settings, self.seeds, self.folder = values, settings, seeds, folder
        self.base = configured(values, settings, seeds[0])
        check_evaluated(self.base)
        self.space: dict[str, BaseDistribution] = {}
        content = read_yaml(space)
        if not content:
            raise ConfigError(f"A search needs keys to vary, and {str(space)!r} has none.")
        for key, given in content.items():
            if not isinstance(key, str):
                raise ConfigError(f"A key of a space is a text, not {quoted(key)}.")
            if key == "seed":
                raise ConfigError("The seeds of a search are given by --seeds and --first-seed, not by its space.")
            if key.partition(".")[0] in MEASURE_KEYS:
                raise ConfigError(f"A search compares edges, and {key!r} changes what an edge is: it has one value.")
            self.space[key] = one = distribution(key, given)
            ends = one.choices if isinstance(one, CategoricalDistribution) else (one.low, one.high)
            configs = [configured(values, [*settings, f"{key}={value}"]) for value in ends]
            for config in configs:
                check_evaluated(config)
            if len(configs) < 2 or any(config in configs[:place] for place, config in enumerate(configs)):
                raise ConfigError(f"{key!r} of a space should be two or more different values, not {quoted(given)}.")
        if not (folder / SEARCH).exists() and (folder / RUNS).exists():
            raise ConfigError(f"{str(folder)!r} has a sweep of a grid in it, and no search: choose another --out.")
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # it logs each trial
        storage = f"sqlite:///{(folder / SEARCH).resolve()}"
        self.study = optuna.create_study(storage=storage, study_name="search", direction="maximize", load_if_exists=True)
        spaces = {key: described(one) for key, one in self.space.items()}
        self._claim({"config": self.base.to_dict(), "seeds": [*seeds], "keys": [*self.space], "space": spaces})

    def _claim(self, values: Mapping[str, Any]) -> None:
        """Records ``values`` of the search in its folder; raises :class:`ConfigError` where it was begun with others."""
        now, stored = json.loads(json.dumps(values)), self.study.user_attrs.get("same", {})
        if differs := first_difference({key: stored.get(key, value) for key, value in now.items()}, now):
            name, then, here = differs
            raise ConfigError(
                f"The search in {str(self.folder)!r} has other keys, seeds or settings: choose another --out. "
                f"It was begun with {name} {quoted(then)}, and here it is {quoted(here)}."
            )
        self.study.set_user_attr("same", {**stored, **now})

    def run(self, total: int, train: Callable[[Sequence[SeedRun]], dict[SeedRun, str] | None], *, seed: int, batch: int) -> bool:
        """Trains until ``total`` trials are finished, ``batch`` at a time; returns False where ``train`` returned None.

        Raises :class:`ConfigError` if the search in the folder has another ``seed`` or ``batch``.
        """
        self._claim({"search_seed": seed, "batch": batch})
        while (done := len(self.finished())) < total:
            trials: list[Any] = self._stopped()
            # not beyond the batch: a search that was stopped between two of its trials would know less at the next ones
            for number in range(done + len(trials), min((done // batch + 1) * batch, total)):
                (sampler_seed,) = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)
                self.study.sampler = optuna.samplers.TPESampler(seed=int(sampler_seed), constant_liar=True)
                trials.append(self.study.ask(self.space))
            shared: dict[Path, SeedRun] = {}  # trials of the same values have the same runs
            runs = [[shared.setdefault(run.folder, run) for run in self.runs(trial)] for trial in trials]
            if (diverged := train([*shared.values()])) is None:
                return False
            for trial, results in zip(trials, [read_results(of_trial, diverged) for of_trial in runs], strict=True):
                edges = [one.edge[-1] for one in results if one.error is None]
                edge = float(np.mean(edges)) if len(edges) == len(self.seeds) else None
                self.study.tell(trial.number, edge, TrialState.PRUNED if edge is None else None)  # ranks below all others
        return True

    def _stopped(self) -> list[FrozenTrial]:
        """Returns the trials that another process was stopped in, but for those that it had not given all their values.

        These fail, which samplers do not see, and are proposed again.
        """
        trials = self.study.get_trials(states=[TrialState.RUNNING])
        for trial in trials:
            if not self.space.keys() <= trial.params.keys():
                self.study.tell(trial.number, state=TrialState.FAIL)
        return [trial for trial in trials if self.space.keys() <= trial.params.keys()]

    def finished(self) -> list[FrozenTrial]:
        """Returns the finished trials, the highest edge first, failed trials last."""
        trials = self.study.get_trials(states=[TrialState.COMPLETE, TrialState.PRUNED])
        return sorted(trials, key=lambda trial: (trial.value is None, -(trial.value or 0.0)))

    def runs(self, trial: Any) -> list[SeedRun]:
        """Returns the runs of a trial, none if its values make no configuration together."""
        number = next(other.number for other in self.study.trials if other.params == trial.params)
        place, settings = self.folder / RUNS / f"trial-{number:03}", settings_of(trial)
        try:
            configs = [configured(self.values, [*self.settings, *settings], seed) for seed in self.seeds]
        except NainJauneError:
            return []
        name = f"trial {trial.number}  {','.join(settings)}"
        return [SeedRun(name, config.seed, config, place / f"seed-{config.seed}") for config in configs]

    def results(self) -> list[Trained]:
        """Returns the edges of the runs of the finished trials that did not fail, the best trial first."""
        return [one for trial in self.finished() if trial.value is not None for one in read_results(self.runs(trial), {})]

    def draw(self) -> None:
        """Draws ``trials.png``, the edges by each key."""
        from matplotlib import pyplot
        from optuna.visualization.matplotlib import plot_slice

        experimental = warnings.catch_warnings(action="ignore", category=optuna.exceptions.ExperimentalWarning)
        with experimental, pyplot.rc_context(), replacing(self.folder / TRIALS) as temporary:  # it sets a style
            figure = np.ravel(plot_slice(self.study, target_name="eval/edge"))[0].figure
            figure.savefig(temporary, dpi=130, format="png")
            pyplot.close(figure)


def settings_of(trial: Any) -> list[str]:
    """Returns the settings ``key=value`` of a trial."""
    return [f"{key}={value}" for key, value in trial.params.items()]
