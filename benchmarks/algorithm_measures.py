"""The plan of a comparison of algorithms, and what it measures of each run: exact best-response gains on trees, or play.

The plan is a sweep file with further keys. Budgets are processor seconds, but a clock would stop a resumed run elsewhere: the
plan gives the iterations of each recipe on each setting, from a calibration, and each run records the seconds.
"""

from __future__ import annotations

import functools
import itertools
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

import msgspec
import numpy as np
import pyarrow as pa

from nainjaune_agents.base.seeds import derived_seed
from nainjaune_agents.base.settings import NonNegativeFloat, NonNegativeInt, PositiveInt, Settings, convert
from nainjaune_agents.measure.best_response import best_response_gap
from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.edges import Edge
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Measurement, make_plan
from nainjaune_agents.measure.stats.multiple_testing import holm
from nainjaune_agents.measure.stats.ratio_estimate import Estimate
from nainjaune_agents.measure.stats.training_seeds import over_seeds
from nainjaune_agents.measure.stats.welch import WelchInterval, welch
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.mixed import MIXED, explicit_name
from nainjaune_agents.players.networks.checkpoint import ABOUT_NAME, load_checkpoint
from nainjaune_agents.study.exact.cfr import cfr_plus
from nainjaune_agents.study.exact.policy import tabular
from nainjaune_agents.study.exact.response import best_response_gains
from nainjaune_agents.study.exact.tree import Tree, begun_by, build_tree, collect_openings
from nainjaune_agents.train.config import read_yaml
from nainjaune_agents.train.sweeps.grid import SeedRun, Sweep, grouped, runs_of
from nainjaune_agents.train.sweeps.training import is_done
from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import read_json

EXACT = "cfr_plus"
"""The recipe that is no training: CFR+ on the tree, without seeds."""
POLICIES = {"likeliest": "", "sample": "@sample"}
"""The policies of a network: the suffix of its agent's name."""
TENTH_SEEDS, TENTH_LENGTH = 0.4, 0.25
"""Shares of the seeds and of the iterations of a tenth of a plan."""
DEAL_SEED = 271_828
"""Of the duplicate deals, with the training seed: no other edge of the package uses it. All pairs meet the same deals."""
SEARCH = "@search=50,inference=policy"
"""The search whose gain over each result is measured."""
KEY = b"nainjaune"
"""Of the plan, JSON, in the metadata of a table of results."""
Progress = Callable[[str], object]
"""Receives what is measured next."""


# ---- plans -------------------------------------------------------------------------------------------------------------


class Hypothesis(Settings, frozen=True):
    """That ``first`` is better than ``second`` on every setting: has the lower NashConv, or is stronger in play."""

    first: str
    second: str
    says: str
    refuted_by: str


class Plan(Sweep, frozen=True):
    """A comparison, written down before it is run."""

    UNTRAINED: ClassVar = (EXACT,)

    version: PositiveInt = 1
    seconds: NonNegativeFloat = 10.0
    """Processor seconds of a run, from which the iterations were calculated."""
    primary: Literal["likeliest", "sample"] = "likeliest"
    """The policy whose NashConv the hypotheses are about."""
    measure: Literal["exact", "play"] = "exact"
    """Best-response gains on trees, or edges of the results over each other."""
    deals: PositiveInt = 2000
    """Duplicate deals of an edge."""
    search_deals: NonNegativeInt = 0
    """With ``play``: deals of what a search gains over each result; 0 = not measured."""
    hypotheses: list[Hypothesis] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.seeds) < 2:
            raise ConfigError(f"A comparison has two or more training seeds, not {self.seeds}.")
        if self.iterations.keys() != self.settings.keys():
            raise ConfigError(f"A comparison has 'iterations' of its settings {[*self.settings]}, not {[*self.iterations]}.")
        for setting, lengths in self.iterations.items():
            if not lengths.keys() - {EXACT}:
                raise ConfigError(f"'iterations' of {setting!r} should have a recipe that is trained, not {lengths}.")
            if EXACT in lengths and self.measure == "play":
                raise ConfigError(f"'iterations' of {setting!r} has {EXACT}, which needs a tree, and 'measure' is 'play'.")
        for claim in self.hypotheses:
            for recipe in (claim.first, claim.second):
                if recipe not in self.recipes:
                    raise ConfigError(unknown_name_message("recipe", recipe, self.recipes))

    def tenth(self) -> Plan:
        """Returns a plan of about a tenth of the training: all recipes and settings, fewer seeds, shorter runs."""
        lengths = {
            setting: {recipe: max(1, round(TENTH_LENGTH * n)) for recipe, n in row.items()}
            for setting, row in self.iterations.items()
        }
        seeds = self.seeds[: max(2, round(TENTH_SEEDS * len(self.seeds)))]
        return msgspec.structs.replace(self, seeds=seeds, seconds=TENTH_LENGTH * self.seconds, iterations=lengths)

    def runs(self, folder: Path) -> list[SeedRun]:
        """Returns all runs in ``folder``; raises :class:`ConfigError` for a configuration that does not exist."""
        return runs_of(self.cells(), [], self.seeds, folder)


def read_plan(path: Path) -> Plan:
    """Returns the plan in a YAML file; raises :class:`ConfigError` where it does not fit together."""
    return convert(Plan, read_yaml(path), str(path))


def plan_in(results: pa.Table) -> Plan:
    """Returns the plan in the metadata of a table of results."""
    return convert(Plan, json.loads(results.schema.metadata[KEY]), "the plan in a file of results")


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Writes what has been measured, so that it is not measured again."""
    write_text(path, json.dumps([asdict(row) for row in rows]) + "\n")


def read_rows(path: Path) -> list[Row]:
    """Returns the rows in a file."""
    return [Row(**entry) for entry in read_json(path, "file of measured rows", ConfigError)]


# ---- best responses ----------------------------------------------------------------------------------------------------


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


def tree_of(setup: Setup) -> Tree:
    """Returns the tree of the rounds that seat 0 begins, which stand for all."""
    return build_tree(setup, begun_by(setup, collect_openings(setup), 0))


def measured(plan: Plan, folder: Path, progress: Progress = lambda _: None) -> list[Row]:
    """Returns the rows of all runs in ``folder`` that are done, and of CFR+; those of a setting come one after another."""
    rows: list[Row] = []
    for setting, runs in grouped(plan.runs(folder), lambda run: run.setting).items():
        files: dict[Path, Callable[[Tree], Iterable[Row]]] = {
            run.folder / "exact.json": functools.partial(rows_of_run, run) for run in runs if is_done(run)
        }
        if iterations := plan.iterations[setting].get(EXACT):
            files[folder / f"{EXACT}-{setting}-{iterations}.json"] = functools.partial(rows_of_cfr, setting, iterations)
        if missing := [path for path in files if not path.exists()]:
            progress(f"measures {setting}")
            tree = tree_of(runs[0].config.setup())
            for path in missing:
                write_rows(path, files[path](tree))
        rows += itertools.chain(*map(read_rows, files))
    return rows


def rows_of_run(run: SeedRun, tree: Tree) -> list[Row]:
    """Returns the rows of a run that is done."""
    checkpoint = load_checkpoint(run.folder)
    decisions, seconds = int(checkpoint.progress["decisions"]), processor_seconds(run.folder, run.config.iterations)
    rows = []
    for policy, suffix in POLICIES.items():
        agent = load_agent(f"{run.folder}{suffix}", tree.setup)
        gains = best_response_gains(tree, tabular(tree, agent, np.random.default_rng(run.seed)))
        of_policy = (policy, gains.nash_conv, gains.gains.tolist())
        rows.append(Row(run.setting, run.name, run.seed, *of_policy, checkpoint.iteration, decisions, seconds))
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


def rows_of_cfr(setting: str, iterations: int, tree: Tree) -> list[Row]:
    """Returns the row of CFR+; the policy is evaluated at the end only, and that evaluation is not timed apart."""
    cfr_plus(tree, 1)  # loads the compiled code
    start = time.process_time()
    policy = cfr_plus(tree, iterations, every=iterations).policy
    seconds = time.process_time() - start
    gains = best_response_gains(tree, policy)
    return [Row(setting, EXACT, -1, "average", gains.nash_conv, gains.gains.tolist(), iterations, 0, seconds)]


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


def outcomes_of(plan: Plan, rows: Sequence[Row]) -> list[Outcome]:
    """Returns the tests of all hypotheses on all settings where both recipes have two or more seeds."""
    of_primary = grouped((row for row in rows if row.policy == plan.primary), lambda row: (row.setting, row.recipe))
    values = {key: np.array([row.nash_conv for row in of_key]) for key, of_key in of_primary.items()}
    pairs = [
        (setting, claim.first, claim.second)
        for claim in plan.hypotheses
        for setting in plan.settings
        if min(len(values.get((setting, recipe), ())) for recipe in (claim.first, claim.second)) > 1
    ]
    intervals = [welch(values[setting, first], values[setting, second]) for setting, first, second in pairs]
    together = holm(np.array([one.normal_score for one in intervals]))
    return [Outcome(*pair, one, bool(yes)) for pair, one, yes in zip(pairs, intervals, together, strict=True)]


# ---- play --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayRow:
    """The edge of one result over a field of another one with the same training seed, or over a mixed field.

    Or of a search over a result in a field of that result, which is measured with control variates where they apply.
    """

    setting: str
    hero: str
    """A recipe, or one with :data:`SEARCH`."""
    field: str
    """A recipe, or a mixed field with its pool."""
    seed: int
    edge: float
    """In chips (cards) a round, a seat's own payoff."""
    ci95: float
    """Half-width over deals."""
    deals: int
    deal_seed: int | None = None
    """Of the deals, another one for each training seed; None in older results, where all seeds have played the same deals."""


def played(plan: Plan, folder: Path, progress: Progress = lambda _: None) -> list[PlayRow]:
    """Returns the edges between all results in ``folder`` whose training is done; what was played before is not played again."""
    rows: list[PlayRow] = []
    for (setting, seed), runs in grouped(filter(is_done, plan.runs(folder)), lambda run: (run.setting, run.seed)).items():
        setup, deal_seed = runs[0].config.setup(), derived_seed(DEAL_SEED, seed)
        mixed = explicit_name(MIXED, setup)
        results = {run.name: str(run.folder) for run in runs}
        searches = {f"{recipe}{SEARCH}": recipe for recipe in results} if plan.search_deals else {}
        agents = {**results, mixed: mixed, **{hero: f"{results[recipe]}{SEARCH}" for hero, recipe in searches.items()}}
        pairs = [*itertools.permutations(results, 2), *itertools.product(results, [mixed]), *searches.items()]
        source = OwnGame(setup, deal_seed)
        for hero, field in pairs:
            deals = plan.search_deals if hero in searches else plan.deals
            progress(f"{setting}: {hero} in a field of {field}, seed {seed}")
            measure = search_gain if hero in searches else duplicate_edge
            pair = [load_agent(agents[name], setup) for name in (hero, field)]
            with Store(folder / "play") as store:  # each pair's rows are there before the next one is played
                edge = measure(source, *pair, deals, store)
            rows.append(PlayRow(setting, hero, field, seed, edge.mean, edge.ci95, edge.moments.count, deal_seed))
    return rows


def duplicate_edge(source: OwnGame, hero: Agent, field: Agent, deals: int, store: Store) -> Edge:
    """Returns the edge of ``hero`` in a field of ``field``."""
    pair = [hero, field]
    return fold(Measurement(make_plan(source, pair, deals, one_way=True), pair, store=store), one_way=True).edges[0]


def search_gain(source: OwnGame, hero: Agent, field: Agent, deals: int, store: Store) -> Edge:
    """Returns the gain of a search over the agent that it searches with."""
    return best_response_gap(source, field, [hero], deals=deals, choosing=0, store=store).gain


@dataclass(frozen=True)
class Advantage:
    """By how much ``first`` is stronger than ``second``: half the difference of their edges over a field of the other one."""

    setting: str
    first: str
    second: str
    mean: float
    ci95: float
    """Half-width over training seeds and deals, see :func:`mean_edge`."""
    seeds: int


def mean_edge(rows: Sequence[PlayRow]) -> Estimate:
    """Returns the mean edge of ``rows``, one a training seed, with the interval of :func:`over_seeds`."""
    return over_seeds([row.edge for row in rows], [row.ci95 for row in rows], same_deals=_same_deals(rows))


def _same_deals(rows: Sequence[PlayRow]) -> bool:
    return len({row.deal_seed for row in rows}) < len(rows) > 1


def advantages(plan: Plan, rows: Sequence[PlayRow]) -> list[Advantage]:
    """Returns the advantage of each hypothesis' pair on each setting where two or more seeds have played both ways."""
    edges = {(row.setting, row.hero, row.field, row.seed): row for row in rows}
    result = []
    for claim, setting in itertools.product(plan.hypotheses, plan.settings):
        ways = [(setting, claim.first, claim.second), (setting, claim.second, claim.first)]
        both = [[edges.get((*way, seed)) for way in ways] for seed in plan.seeds]
        pairs = [(there, back) for there, back in both if there is not None and back is not None]
        if len(pairs) > 1:
            halves = [(there.edge - back.edge) / 2 for there, back in pairs]
            widths = [(there.ci95 + back.ci95) / 2 for there, back in pairs]  # the most that it is, as the deals are the same
            mean = over_seeds(halves, widths, same_deals=_same_deals([there for there, _ in pairs]))
            result.append(Advantage(setting, claim.first, claim.second, mean.mean, mean.ci95, len(pairs)))
    return result
