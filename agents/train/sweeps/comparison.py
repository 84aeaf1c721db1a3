"""A comparison of training algorithms, planned before it is run: recipes on settings, with several training seeds each.

The plan is a YAML file. It says what is trained and for how long, so that a folder of results can be refused that is of another
plan, and a run that was killed goes on with the same bits. Budgets are processor seconds, but a clock would stop a resumed run
elsewhere: the plan gives the iterations of each recipe on each setting, from a calibration, and each run records the seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, quoted, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import read_json

from ...base.options import build as build_options
from ...base.options import option
from .. import get_trainer
from ..config import LENGTH_KEYS, build, read_yaml, resolve_setup
from .grid import RUNS, SeedRun

PLAN = "plan.json"
"""The plan of a folder of results, with the version that trains."""
EXACT = "cfr_plus"
"""The recipe that is no training: CFR+ on the tree, without seeds."""
SETTING_KEYS = ("game", "preset", "players", "rules")
TENTH_SEEDS, TENTH_LENGTH = 0.4, 0.25
"""Shares of the seeds and of the iterations of a tenth of a plan."""


@dataclass(frozen=True)
class Hypothesis:
    """That ``first`` is better than ``second`` on every setting: has the lower NashConv, or is stronger in play."""

    first: str
    second: str
    says: str
    refuted_by: str


@dataclass(frozen=True)
class Plan:
    """A comparison, as its file says it."""

    version: int = option(1, "of the plan: another one has other results", low=1)
    seconds: float = option(10.0, "processor seconds of a run, from which the iterations were calculated", low=0)
    seeds: list[int] = option([], "training seeds")
    primary: str = option("likeliest", "the policy whose NashConv the hypotheses are about: 'likeliest' or 'sample'")
    measure: str = option("exact", "'exact': best-response gains on trees; 'play': edges of the results over each other")
    deals: int = option(2000, "duplicate deals of an edge", low=2)
    search_deals: int = option(0, "with 'play': deals of what a search gains over each result; 0 = not measured", low=0)
    common: dict[str, Any] = option({}, "keys of all configurations")
    recipes: dict[str, Any] = option({}, "keys of the configurations of each recipe")
    settings: dict[str, Any] = option({}, "game, preset, players and rules of each setting")
    iterations: dict[str, Any] = option({}, "by setting and recipe: the length of a run")
    hypotheses: list[dict[str, Any]] = option([], "each with first, second, says and refuted_by")

    def setup(self, setting: str) -> Setup:
        """Returns the setup of a setting."""
        keys = self.settings[setting]
        return resolve_setup(keys["game"], keys["preset"], keys["players"], keys.get("rules", {}))

    @property
    def claims(self) -> list[Hypothesis]:
        """The hypotheses."""
        return [Hypothesis(**entry) for entry in self.hypotheses]

    def tenth(self) -> Plan:
        """Returns a plan of about a tenth of the training: all recipes and settings, fewer seeds, shorter runs."""
        seeds = self.seeds[: max(2, round(TENTH_SEEDS * len(self.seeds)))]
        lengths = {
            setting: {recipe: max(1, round(TENTH_LENGTH * n)) for recipe, n in row.items()}
            for setting, row in self.iterations.items()
        }
        return replace(self, seeds=seeds, seconds=TENTH_LENGTH * self.seconds, iterations=lengths)

    def runs(self, folder: Path) -> list[SeedRun]:
        """Returns all runs in ``folder``, seed by seed, so that a comparison that is stopped early has whole seeds.

        Raises :class:`ConfigError` for a configuration that does not exist.
        """
        return [
            SeedRun(f"{setting}/{recipe}", seed, self.config(setting, recipe, seed), run_folder(folder, setting, recipe, seed))
            for seed in self.seeds
            for setting, row in self.iterations.items()
            for recipe in row
            if recipe != EXACT
        ]

    def config(self, setting: str, recipe: str, seed: int) -> Any:
        """Returns the configuration of a run."""
        values = {**self.common, **self.settings[setting], **self.recipes[recipe]}
        cls = get_trainer(values.get("algorithm")).Config
        (length,) = (key for key in LENGTH_KEYS if key in cls.__dataclass_fields__)
        return build(cls, {**values, "seed": seed, length: self.iterations[setting][recipe]})


def run_folder(folder: Path, setting: str, recipe: str, seed: int) -> Path:
    """Returns the folder of a run."""
    return folder / RUNS / setting / recipe / f"seed-{seed}"


def read_plan(path: Path) -> Plan:
    """Returns the plan in a YAML file; raises :class:`ConfigError` where it does not fit together."""
    plan = build_options(Plan, read_yaml(path))
    if len(plan.seeds) < 2 or len(set(plan.seeds)) < len(plan.seeds):
        raise ConfigError(f"A comparison has two or more different training seeds, not {plan.seeds}.")
    for key, names in (("primary", ("likeliest", "sample")), ("measure", ("exact", "play"))):
        if getattr(plan, key) not in names:
            raise ConfigError(unknown_name_message(key, getattr(plan, key), names))
    for name, keys in plan.settings.items():
        if not isinstance(keys, dict) or not {"game", "preset", "players"} <= keys.keys() <= {*SETTING_KEYS}:
            raise ConfigError(f"The setting {quoted(name)} should have the keys {', '.join(SETTING_KEYS)}, not {quoted(keys)}.")
        plan.setup(name)
    if plan.iterations.keys() != plan.settings.keys():
        raise ConfigError(f"'iterations' should have the settings {[*plan.settings]}, not {[*plan.iterations]}.")
    for setting, row in plan.iterations.items():
        for recipe, length in row.items():
            if recipe != EXACT and recipe not in plan.recipes:
                raise ConfigError(
                    f"'iterations' of {quoted(setting)} should name recipes {[*plan.recipes]}, not {quoted(recipe)}."
                )
            if recipe == EXACT and plan.measure != "exact":
                raise ConfigError(f"'iterations' of {quoted(setting)} has {EXACT}, which needs a tree, and 'measure' is 'play'.")
            if not isinstance(length, int) or isinstance(length, bool) or length < 1:
                raise ConfigError(f"The iterations of {quoted(recipe)} on {quoted(setting)} should be 1 or more, not {length!r}.")
    for entry in plan.hypotheses:
        if not isinstance(entry, dict) or entry.keys() != Hypothesis.__dataclass_fields__.keys():
            raise ConfigError(f"A hypothesis has the keys {', '.join(Hypothesis.__dataclass_fields__)}, not {quoted(entry)}.")
        for recipe in (entry["first"], entry["second"]):
            if recipe not in plan.recipes:
                raise ConfigError(f"A hypothesis should name recipes {[*plan.recipes]}, not {quoted(recipe)}.")
    plan.runs(path.parent)  # refuses configurations that do not exist
    return plan


def claim_folder(plan: Plan, folder: Path) -> None:
    """Makes ``folder`` that of ``plan``; raises :class:`ConfigError` where it has results of another plan or version.

    Recipes and settings may be added to those of the folder, with their iterations; nothing of these may change.
    """
    now = {"package": version("nainjaune-env"), **json.loads(json.dumps(asdict(plan)))}
    path = folder / PLAN
    if path.exists():
        stored = read_json(path, "plan of a comparison", ConfigError)
        for what, then, here in differences(stored, now):
            raise ConfigError(
                f"The results in {str(folder)!r} are of {what} {quoted(then)}, and this plan has {quoted(here)}: "
                "choose another --out."
            )
    elif folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{str(folder)!r} holds something else than a comparison (no {PLAN} in it): choose another --out.")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(now, indent=2) + "\n")


GROWING = ("recipes", "settings", "iterations")
"""Keys of a plan whose mappings may get new entries, in a row of ``iterations`` too."""


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Returns what differs between the plan of a folder and that of ``now``: the key, the value there and the value here."""
    changed = []
    trained = {recipe for row in before.get("iterations", {}).values() for recipe in row}
    for key in sorted({*before, *now} - {"hypotheses"}):
        then, here = before.get(key, {}), now.get(key, {})
        if key == "recipes":
            then = {name: value for name, value in then.items() if name in trained}
        if key == "search_deals" and not then:  # that measure has not been taken
            continue
        if key not in GROWING:
            changed += [(key, then, here)] if then != here else []
            continue
        for name, value in then.items():
            other = here.get(name)
            if key == "iterations" and isinstance(other, dict):
                changed += [
                    (f"{key}.{name}.{recipe}", n, other.get(recipe)) for recipe, n in value.items() if other.get(recipe) != n
                ]
            elif other != value:
                changed.append((f"{key}.{name}", value, other))
    return changed
