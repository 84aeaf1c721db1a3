"""What a comparison of algorithms measures by play, in games too large for a tree: edges of the results over each other."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import WorkError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import read_json

from ...base.seeds import derived_seed
from ...measure.arena.best_response_gap import best_response_gap
from ...measure.arena.duplicate import Duplicate, Edge
from ...measure.stats.ratio_estimate import Estimate
from ...measure.stats.training_seeds import over_seeds
from ...players.loading import load_agent
from ...players.mixed import MIXED, explicit_name
from .comparison import Plan, run_folder
from .grid import SeedRun
from .training import is_done

PLAYED = "play"
"""The folder of edges that have been measured."""
DEAL_SEED = 271_828
"""Of the duplicate deals, with the training seed: no other edge of the package uses it. All pairs meet the same deals."""
SEARCH = "@search=50,inference=policy"
"""The search whose gain over each result is measured."""


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


def pairs_of(plan: Plan, setting: str) -> Iterator[tuple[str, str]]:
    """Yields hero and field of all edges of a setting."""
    yield from itertools.permutations(plan.iterations[setting], 2)
    mixed = explicit_name(MIXED, plan.setup(setting))
    yield from ((recipe, mixed) for recipe in plan.iterations[setting])
    if plan.search_deals:
        yield from ((f"{recipe}{SEARCH}", recipe) for recipe in plan.iterations[setting])


def place_of(folder: Path, setting: str, hero: str, field: str, seed: int) -> Path:
    """Returns the file of an edge; it depends on the pair alone, because a plan may grow by other pairs."""
    there, name = (quote(agent, safe="@=,+") for agent in (hero, field))
    return folder / PLAYED / setting / there / f"{name}-{seed}.json"


def read_row(path: Path, expected: Mapping[str, object]) -> PlayRow:
    """Returns the edge in a file; raises :class:`WorkError` if that is not one row, or has other values than ``expected``."""
    values = read_json(path, "row of a comparison by play", WorkError)
    if not isinstance(values, dict) or values.keys() != PlayRow.__dataclass_fields__.keys():
        raise WorkError(f"{str(path)!r} should have the keys {', '.join(PlayRow.__dataclass_fields__)}, not {quoted(values)}.")
    for key, value in expected.items():
        if values[key] != value:
            raise WorkError(
                f"{str(path)!r} should have {quoted(value)} as its {key}, not {quoted(values[key])}: "
                "remove that file, and it is played again."
            )
    return PlayRow(**values)


def played(plan: Plan, folder: Path, progress: Callable[[str], object] = lambda _: None) -> list[PlayRow]:
    """Returns the edges between all results in ``folder`` whose training is done; what was played before is not played again.

    Raises :class:`WorkError` for a file with another edge than its name says.
    """
    done: dict[tuple[str, int], SeedRun] = {(run.name, run.seed): run for run in plan.runs(folder) if is_done(run)}
    rows = []
    for setting in plan.iterations:
        setup = plan.setup(setting)
        for seed, (hero, field) in itertools.product(plan.seeds, pairs_of(plan, setting)):
            recipes = {name: name.removesuffix(SEARCH) for name in (hero, field) if name.removesuffix(SEARCH) in plan.recipes}
            if any((f"{setting}/{recipe}", seed) not in done for recipe in recipes.values()):
                continue
            path = place_of(folder, setting, hero, field, seed)
            if not path.exists():
                progress(f"{setting}: {hero} in a field of {field}, seed {seed}")
                names = [
                    f"{run_folder(folder, setting, recipes[name], seed)}{name.removeprefix(recipes[name])}"
                    if name in recipes
                    else name
                    for name in (hero, field)
                ]
                deal_seed = derived_seed(DEAL_SEED, seed)
                agents = [load_agent(name, setup) for name in names]
                edge = measured_edge(plan, setup, *agents, seed=deal_seed, search=hero.endswith(SEARCH))
                row = PlayRow(setting, hero, field, seed, edge.mean, edge.ci95, edge.moments.count, deal_seed)
                write_text(path, json.dumps(asdict(row)) + "\n")
            rows.append(read_row(path, {"setting": setting, "hero": hero, "field": field, "seed": seed}))
    return rows


def measured_edge(plan: Plan, setup: Setup, hero: Agent, field: Agent, *, seed: int, search: bool) -> Edge:
    """Returns the edge of ``hero`` in a field of ``field``; of a search as its gain over the field."""
    if search:
        return best_response_gap(setup, field, [hero], deals=plan.search_deals, choosing=0, seed=seed).gain
    return Duplicate(setup, [hero, field], seed=seed).edge(0, 1, plan.deals)


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


def advantages(plan: Plan, rows: list[PlayRow]) -> list[Advantage]:
    """Returns the advantage of each hypothesis' pair on each setting where two or more seeds have played both ways."""
    edges = {(row.setting, row.hero, row.field, row.seed): row for row in rows}
    rows_of_claims = []
    for claim, setting in itertools.product(plan.claims, plan.settings):
        ways = [(setting, claim.first, claim.second), (setting, claim.second, claim.first)]
        both = [[edges.get((*way, seed)) for way in ways] for seed in plan.seeds]
        pairs = [(there, back) for there, back in both if there is not None and back is not None]
        if len(pairs) > 1:
            halves = [(there.edge - back.edge) / 2 for there, back in pairs]
            widths = [(there.ci95 + back.ci95) / 2 for there, back in pairs]  # the most that it is, as the deals are the same
            mean = over_seeds(halves, widths, same_deals=_same_deals([there for there, _ in pairs]))
            rows_of_claims.append(Advantage(setting, claim.first, claim.second, mean.mean, mean.ci95, len(pairs)))
    return rows_of_claims
