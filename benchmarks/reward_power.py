"""Measures how many calls of a player tell two players apart: by regret, by duplicate edge, by net chips and by wins.

A task is a deal and a seat. The player sits there in a field of another one, and a call is a decision with two or more legal
moves. At each task every player plays the same deal; its regret there is the sum over its decisions by ``nainjaune analyse``
(``advice.review.compare``), with an adviser. From means and variances over tasks follow the calls that each of two players needs
for a difference to be significant at 5 %, two-sided, with a power of 80 %: ``((1.96 + 0.84) * sigma / delta)**2`` tasks.
A player ``closer~5`` is ``closer`` with 5 % of its moves drawn at random. Pairs are all whose edges differ by 0.2 to 0.5.

Finished parts are kept in --out, and the same command goes on from them. Tables are printed and kept as tables.md, numbers as
results.json.

  python benchmarks/reward_power.py --out results/power              about half an hour of one core
  python benchmarks/reward_power.py --out results/tenth --share 0.1
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import reward_power_tables as tables
from numpy.typing import NDArray
from tqdm import tqdm

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.base.seeds import Stream, generator
from nainjaune_agents.measure.arena.play import chunks, play_out
from nainjaune_agents.players.exact import solver
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.advice.adviser import Adviser
from nainjaune_agents.study.advice.models import players
from nainjaune_agents.study.advice.review import Pick, compare, reviewed
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, Rng, needs_history
from nainjaune_env.analysis.advice_hook import Ply
from nainjaune_env.analysis.stats import measures_of, tally
from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.bits import nth_lowest
from nainjaune_env.core.errors import ConfigError, NainJauneError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

CHUNK = 50
"""Tasks of a part that is kept."""
AT_ONCE = 2500
"""Tasks played at once."""
RULES_OF_THUMB = ("random", "longest", "pots", "lowest", "tally", "patient", "closer")
PLAYERS = (*RULES_OF_THUMB, "closer~2", "closer~5", "closer~10", "zoo:strong-1", "zoo:strong")
SELDOM = {"random": 0.1}
"""Players whose regret is measured at a share of the tasks only, as it needs few."""


@dataclass(frozen=True)
class Case:
    """Some players at a table."""

    name: str
    preset: str
    seats: int
    field: str
    advised: Mapping[str, tuple[int, int, int]]
    """By the adviser's player: the tasks with regrets, the deals in which it chooses the best move, and those that measure it."""
    names: tuple[str, ...] = PLAYERS
    knobs: Mapping[str, Any] = field(default_factory=dict)
    played: int = 20_000
    """The number of tasks without."""

    def setup(self) -> Setup:
        return make_setup(None, self.preset, self.seats, **self.knobs)


EXACT = "exact"
"""The adviser that knows the solution."""
BATASAURUS = ("random", "highest", "mirror", "cheapest", "zoo:strong", "exact", "exact~2", "exact~5", "exact~10")
CASES = (
    Case("djeco", "djeco", 4, "closer", {"closer": (3000, 500, 2000), "zoo:strong": (600, 100, 400)}),
    Case("classic", "classic", 4, "closer", {"closer": (2500, 100, 400), "zoo:strong": (400, 100, 400)}),
    Case("skip", "skip", 4, "closer", {"closer": (2500, 100, 400), "zoo:strong": (400, 100, 400)}),
    Case("tableau", "tableau", 4, "closer", {"closer": (2500, 100, 400), "zoo:strong": (400, 100, 400)}),
    Case(
        "batasaurus", "batasaurus", 2, "exact", {EXACT: (500, 0, 0), "zoo:strong": (50, 20, 50)}, BATASAURUS,
        {"memory": "perfect"},
    ),
)  # fmt: skip
GRID = ((20, 50), (100, 200))
"""Other numbers of deals, to choose and to measure, that are tried at the first case by its first adviser."""


class Erring:
    """A player that draws a share of its moves at random."""

    def __init__(self, agent: Agent, share: float, name: str) -> None:
        self.agent, self.share, self.name = agent, share, name
        self.needs_history = needs_history(agent)

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        return self.agent.state_dtype(setup) if isinstance(self.agent, RecurrentAgent) else np.dtype([])

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        actions = self.agent.act(decisions, rng).copy()
        drawn = rng.random((len(actions), 2))
        for k in np.flatnonzero(drawn[:, 0] < self.share):
            legal = int(decisions.legal[k])
            actions[k] = nth_lowest(legal, int(drawn[k, 1] * legal.bit_count()))
        return actions


def player(name: str, setup: Setup) -> Agent:
    """Returns the player called ``name``; after ``~`` stands the percentage of moves that are drawn."""
    base, _, percent = name.partition("~")
    agent = load_agent(base, setup)
    return Erring(agent, int(percent) / 100, name) if percent else agent


class Noted(Erring):
    """A player whose decisions are kept: table, action, and the number of the task."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent, 0.0, agent.name)
        self.notes: list[tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]] = []

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        actions = self.agent.act(decisions, rng)
        self.notes.append((decisions.index, decisions.tables, actions))
        return actions


@dataclass
class Played:
    """What a player did at T tasks."""

    chips: NDArray[np.float64]
    edge: NDArray[np.float64]
    best: NDArray[np.float64]
    """1 where no seat got more, shared among equals."""
    out: NDArray[np.float64] | None
    """1 where it won the round by the rules, if they say who does."""
    calls: NDArray[np.float64]
    decisions: list[list[tuple[Any, int]]]
    """Of each of the first tasks: redacted table and action."""


def play(case: Case, setup: Setup, name: str, tasks: int, kept: int, seed: int) -> Played:
    """Plays ``tasks`` tasks; the decisions of the first ``kept`` are returned."""
    parts = [_play(case, setup, name, at, count, kept, seed) for at, count in chunks(0, tasks, AT_ONCE)]
    columns = [[getattr(part, column) for part in parts] for column in ("chips", "edge", "best", "out", "calls")]
    joined = [None if some[0] is None else np.concatenate(some) for some in columns]
    return Played(*joined, [one for part in parts for one in part.decisions])  # type: ignore[arg-type]


def _play(case: Case, setup: Setup, name: str, at: int, count: int, kept: int, seed: int) -> Played:
    index, seats = np.arange(count), np.arange(at, at + count) % setup.players
    dealer = Batch(setup, count, skip_forced=False, autoreset=False, observe=False, deal=False)
    dealer.reset(seeds=streams(seed, count, first=at))
    openings = dealer.tables.copy()
    hero, payoffs, wins = Noted(player(name, setup)), [], None
    for with_hero in (False, True):
        agents = [hero, player(case.field, setup)]
        batch = Batch(setup, count, autoreset=False, log=any(map(needs_history, agents)), deal=False)
        batch.set_tables(None, openings, trusted=True)
        seating = np.ones((count, setup.players), np.int64)
        seating[index, seats] = 1 - with_hero
        rngs = [generator(seed, Stream.MATCHES, who, at) for who in range(2)]
        actions: list[NDArray[np.int64]] = []
        payoffs.append(play_out(batch, agents, seating, rngs, after_step=lambda step, kept=actions: kept.append(step)))
        wins = _wins(setup, openings, actions, seats)
    own, alone = (payoff[index, seats].astype(np.float64) for payoff in payoffs[::-1])
    best = payoffs[1] == payoffs[1].max(axis=1, keepdims=True)
    calls = np.bincount(np.concatenate([where for where, _, _ in hero.notes]), minlength=count).astype(np.float64)
    decisions: list[list[tuple[Any, int]]] = [[] for _ in range(max(0, min(kept - at, count)))]
    for where, rows, chosen in hero.notes:
        for k in np.flatnonzero(where < len(decisions)):
            decisions[where[k]].append((rows[k].copy(), int(chosen[k])))
    return Played(own, own - alone, best[index, seats] / best.sum(axis=1), wins, calls, decisions)


def _wins(
    setup: Setup, openings: NDArray[Any], actions: Sequence[NDArray[np.int64]], seats: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Returns whether ``seats`` won their rounds by the rules; None where the game does not count that (a tally ``out``)."""
    names = measures_of(setup.game).TALLY.names or ()
    if "out" not in names:
        return None
    rows = np.full((len(seats), setup.players), -1)
    rows[np.arange(len(seats)), seats] = np.arange(len(seats))
    return tally(setup, openings, np.array(actions), rows, len(seats))[:, names.index("out")].astype(np.float64)


class Regrets:
    """The regrets of decisions by one adviser; those that several players make at a task are measured once."""

    def __init__(self, setup: Setup, model: str, choosing: int, measuring: int, seed: int) -> None:
        self.setup = setup
        self.adviser = Adviser(setup, players(setup, [model] * setup.players))
        self.model = load_agent(model, setup)
        self.options = {"choosing": choosing, "measuring": measuring, "seed": seed}
        self.known: dict[tuple[int, int, bytes, int], tuple[float, float]] = {}
        self.measured, self.seconds = 0, 0.0

    def of(self, task: int, decisions: Sequence[tuple[Any, int]]) -> NDArray[np.float64]:
        """Returns for each decision of a task its regret, its standard error, and the regret of what the model would play."""
        if not decisions:
            return np.zeros((0, 3))
        rows = np.array([table for table, _ in decisions], self.setup.game.table)
        batch = Batch(self.setup, len(rows), autoreset=False, deal=False)
        batch.set_tables(None, rows, trusted=True)
        usual = self.model.act(DecisionBatch(batch, np.arange(len(rows))), generator(0, Stream.ADVICE))
        played = [self._regrets(task, rows, [action for _, action in decisions]), self._regrets(task, rows, usual.tolist())]
        return np.column_stack([played[0], played[1][:, 0]])

    def _regrets(self, task: int, rows: NDArray[Any], actions: Sequence[int]) -> NDArray[np.float64]:
        keys = [(task, row, table.tobytes(), action) for row, (table, action) in enumerate(zip(rows, actions, strict=True))]
        new = [k for k, key in enumerate(keys) if key not in self.known]
        if new:
            begun = time.perf_counter()
            for k, pair in zip(new, self._new(task, new, rows[new], np.array(actions)[new]), strict=True):
                self.known[keys[k]] = pair
            self.measured += len(new)
            self.seconds += time.perf_counter() - begun
        return np.array([self.known[key] for key in keys])

    def _new(
        self, task: int, numbers: Sequence[int], rows: NDArray[Any], actions: NDArray[np.int64]
    ) -> list[tuple[float, float]]:
        """Returns regrets and standard errors of decisions with these numbers in their round."""
        solution = solver(self.setup.game.name)
        if self.model.name == EXACT and solution is not None:
            lost = solution.losses(self.setup, rows, actions)
            assert lost is not None, self.setup
            return [(one, 0.0) for one in lost.tolist()]
        placed = zip(numbers, rows, actions.tolist(), strict=True)
        picks = [Pick(task + 1, k, "", self.setup, Ply(1, k + 1, table, action)) for k, table, action in placed]
        return [(one.regret, one.error) for one in reviewed(picks, *compare(picks, self.adviser, **self.options))]


@dataclass(frozen=True)
class Part:
    """Some tasks of a case by an adviser."""

    case: Case
    model: str
    first: int
    count: int
    choosing: int
    measuring: int

    @property
    def file(self) -> str:
        words = (self.case.name, self.model.replace(":", "-"), self.choosing, self.measuring, self.first)
        return "_".join(map(str, words)) + ".json"


def parts_of(case: Case, model: str, tasks: int, choosing: int, measuring: int) -> Iterator[Part]:
    """Yields the parts of the first ``tasks`` tasks."""
    return (Part(case, model, at, min(CHUNK, tasks - at), choosing, measuring) for at in range(0, tasks, CHUNK))


@cache
def adviser_of(case_name: str, model: str, choosing: int, measuring: int, seed: int) -> Regrets:
    (case,) = (case for case in CASES if case.name == case_name)
    return Regrets(case.setup(), model, choosing, measuring, seed)


def advised(part: Part, names: Sequence[str], played: Mapping[str, Played], tasks: int, seed: int) -> dict[str, Any]:
    """Returns for each player its tasks' sums of regrets, of squared errors, and of the regrets of the adviser's own moves."""
    regrets = adviser_of(part.case.name, part.model, part.choosing, part.measuring, seed)
    regrets.known.clear()
    before = regrets.measured, regrets.seconds
    sums: dict[str, list[list[float]]] = {}
    for name in names:
        most = tasks_of(tasks, SELDOM.get(name, 1.0))
        rows = []
        for task in range(part.first, min(part.first + part.count, most)):
            values = regrets.of(task, played[name].decisions[task])
            rows.append([float(values[:, 0].sum()), float((values[:, 1] ** 2).sum()), float(values[:, 2].sum())])
        sums[name] = rows
    spent = {"decisions": regrets.measured - before[0], "seconds": round(regrets.seconds - before[1], 3)}
    return {"sums": sums, **spent}


def tasks_of(tasks: int, share: float) -> int:
    """Returns a share of a number of tasks, at least one part."""
    return max(CHUNK, math.ceil(share * tasks))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder of finished parts and tables")
    parser.add_argument("--share", type=float, default=1.0, help="of the tasks (default: 1)")
    parser.add_argument("--cases", nargs="+", choices=[case.name for case in CASES], help="only these (default: all)")
    parser.add_argument("--seed", type=int, default=36, help="default: %(default)s")
    options = parser.parse_args(arguments)
    if not 0 < options.share <= 1:
        parser.error(f"--share is above 0 and at most 1, not {options.share:g}")
    return options


def check_settings(options: argparse.Namespace) -> None:
    """Writes the settings into the folder, or raises :class:`ConfigError` where it has parts of others."""
    settings = {"share": options.share, "seed": options.seed, "players": PLAYERS, "chunk": CHUNK}
    text, path = json.dumps(settings) + "\n", options.out / "settings.json"
    if path.exists() and path.read_text() != text:
        raise ConfigError(f"{options.out} has parts of other settings: {path.read_text().strip()}. Choose another --out.")
    options.out.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Plays and advises everything that is missing; returns the numbers."""
    check_settings(options)
    set_torch_threads(1)
    chosen = [case for case in CASES if options.cases is None or case.name in options.cases]
    results: dict[str, Any] = {}
    for case in chosen:
        setup = case.setup()
        runs = [(model, tasks_of(tasks, options.share), *deals) for model, (tasks, *deals) in case.advised.items()]
        runs += [(runs[0][0], runs[1][1], *deals) for deals in GRID if case is CASES[0]]
        kept, many = max(tasks for _, tasks, *_ in runs), tasks_of(case.played, options.share)
        played = {name: play(case, setup, name, many, kept, options.seed) for name in tqdm(case.names, case.name, leave=False)}
        measured = {}
        for model, tasks, *deals in runs:
            paths = []
            for part in tqdm([*parts_of(case, model, tasks, *deals)], f"{case.name} {model} {deals}", leave=False):
                paths.append(options.out / part.file)
                if not paths[-1].exists():
                    write_text(paths[-1], json.dumps(advised(part, case.names, played, tasks, options.seed)) + "\n")
            contents = [json.loads(path.read_text()) for path in paths]
            sums = {name: np.array([row for one in contents for row in one["sums"][name]]) for name in case.names}
            spent = [sum(one[key] for one in contents) for key in ("decisions", "seconds")]
            measured[model, *deals] = tables.Advised(model, *deals, sums, *spent)
        results[case.name] = tables.CaseResult(case.name, case.field, setup.game.unit, played, list(measured.values()))
    return results


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    try:
        results = run(options)
        text, numbers = tables.report(results, options.seed)
    except NainJauneError as error:
        sys.exit(str(error))
    write_text(options.out / "tables.md", text)
    write_text(options.out / "results.json", json.dumps(numbers, indent=1) + "\n")
    print(text, end="")


if __name__ == "__main__":
    main()
