"""What a comparison of algorithms measures: exact best-response gains of every run, and CFR+ on the same trees."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.validation import read_json

from ...measure.stats.multiple_testing import holm
from ...measure.stats.welch import WelchInterval, welch
from ...players.loading import load_agent
from ...players.networks.checkpoint import ABOUT_NAME, load_checkpoint
from ...study.exact.cfr import cfr_plus
from ...study.exact.policy import tabular
from ...study.exact.response import best_response_gains
from ...study.exact.tree import Tree, begun_by, build_tree, collect_openings
from .comparison import EXACT, Plan
from .grid import SeedRun
from .training import is_done

MEASURED = "exact.json"
"""In the folder of a run that is done: its rows, which are not computed again."""
POLICIES = {"likeliest": "", "sample": "@sample"}
"""The policies of a network: the suffix of its agent's name."""


@dataclass(frozen=True)
class Row:
    """The exact gains of one policy."""

    setting: str
    recipe: str
    seed: int
    """Training seed; -1 of CFR+, which has none."""
    policy: str
    """``likeliest``, ``sample``; ``average`` of CFR+."""
    nash_conv: float
    """In the game's unit a round, the seats' payoff less the mean of all seats."""
    gains: list[float]
    """The best-response gain of each seat, seat 0 beginning."""
    iterations: int
    decisions: int
    """In training."""
    processor_seconds: float
    """Of training; the first step of each process, which loads code, counted as the mean of the others."""


def tree_of(plan: Plan, setting: str) -> Tree:
    """Returns the tree of the rounds of a setting that seat 0 begins, which stand for all."""
    setup = plan.setup(setting)
    return build_tree(setup, begun_by(setup, collect_openings(setup), 0))


def measured(plan: Plan, folder: Path, progress: Callable[[str], object] = lambda _: None) -> list[Row]:
    """Returns the rows of all runs in ``folder`` that are done, and of CFR+; those of a setting come one after another."""
    runs = plan.runs(folder)
    rows: list[Row] = []
    for setting, lengths in plan.iterations.items():
        done = [run for run in runs if run.name.split("/")[0] == setting and is_done(run)]
        places = [run.folder / MEASURED for run in done]
        exact = folder / f"{EXACT}-{setting}.json"
        tree = None
        if not all(place.exists() for place in places) or (EXACT in lengths and not exact.exists()):
            progress(setting)
            tree = tree_of(plan, setting)
        for run, place in zip(done, places, strict=True):
            if not place.exists():
                assert tree is not None
                _write(place, rows_of_run(run, tree))
            rows += _read(place)
        if EXACT in lengths:
            if not exact.exists():
                assert tree is not None
                _write(exact, [row_of_cfr(setting, tree, lengths[EXACT])])
            rows += _read(exact)
    return rows


def rows_of_run(run: SeedRun, tree: Tree) -> list[Row]:
    """Returns the rows of a run that is done."""
    setting, recipe = run.name.split("/")
    progress = load_checkpoint(run.folder)
    rows = []
    for policy, suffix in POLICIES.items():
        agent = load_agent(f"{run.folder}{suffix}", tree.setup)
        gains = best_response_gains(tree, tabular(tree, agent, np.random.default_rng(run.seed)))
        rows.append(
            Row(
                setting,
                recipe,
                run.seed,
                policy,
                gains.nash_conv,
                gains.gains.tolist(),
                progress.iteration,
                int(progress.progress["decisions"]),
                processor_seconds(run.folder, run.config.iterations),
            )
        )
    return rows


def processor_seconds(folder: Path, length: int) -> float:
    """Returns those of a run's training to the ``length`` of its configuration.

    The first step of each process, which loads code, counts as its others do, and what a process did that was killed, and
    recorded nothing, as what the others did. Raises :class:`ConfigError` where none recorded anything.
    """
    about = folder / ABOUT_NAME
    stretches = read_json(about, "record of how a run was made", ConfigError).get("trained", [])
    if not stretches:
        raise ConfigError(f"{str(about)!r} has the processor seconds of no process: each that trained the run was killed.")
    total, done = 0.0, 0.0
    for entry in stretches:
        steps, seconds = entry["steps"], entry["processor_seconds"]
        total += (seconds - entry["first"]) * steps / (steps - 1) if steps > 1 else seconds
        done += entry["to"] - entry["from"]
    return total * length / done


def row_of_cfr(setting: str, tree: Tree, iterations: int) -> Row:
    """Returns the row of CFR+; the policy is evaluated at the end only, and that evaluation is not timed apart."""
    cfr_plus(tree, 1)  # loads the compiled code
    start = time.process_time()
    policy = cfr_plus(tree, iterations, every=iterations).policy
    seconds = time.process_time() - start
    gains = best_response_gains(tree, policy)
    return Row(setting, EXACT, -1, "average", gains.nash_conv, gains.gains.tolist(), iterations, 0, seconds)


def _write(path: Path, rows: Iterable[Row]) -> None:
    write_text(path, json.dumps([asdict(row) for row in rows]) + "\n")


def _read(path: Path) -> list[Row]:
    return [Row(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Outcome:
    """One hypothesis on one setting: the difference of the mean NashConv, ``first`` less ``second``, over training seeds."""

    setting: str
    first: str
    second: str
    difference: WelchInterval
    significant: bool
    """Together with all other tests of the plan, by Holm's procedure."""

    @property
    def verdict(self) -> str:
        """What the test says of the hypothesis that ``first`` has the lower NashConv."""
        if not self.significant:
            return "open"
        return "supported" if self.difference.mean < 0 else "refuted"


def outcomes_of(plan: Plan, rows: list[Row]) -> list[Outcome]:
    """Returns the tests of all hypotheses on all settings where both recipes have two or more seeds."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.policy == plan.primary:
            values.setdefault((row.setting, row.recipe), []).append(row.nash_conv)
    pairs = [
        (setting, claim.first, claim.second)
        for claim in plan.claims
        for setting in plan.settings
        if min(len(values.get((setting, recipe), [])) for recipe in (claim.first, claim.second)) > 1
    ]
    intervals = [welch(np.array(values[setting, first]), np.array(values[setting, second])) for setting, first, second in pairs]
    together = holm(np.array([one.normal_score for one in intervals]))
    return [Outcome(*pair, one, bool(yes)) for pair, one, yes in zip(pairs, intervals, together, strict=True)]
