"""Measures what a decision costs through a program (``exec:``) beyond the same heuristic in this process.

The program is examples/bots/lowest.c, which plays like `lowest`; it says that it is not deterministic, so that every decision is
asked. All cases play the same rounds in every seat, in turn, --repeats times; figures are medians. `act` is the time in the
agent, of which `host` is processor time of this process; `over` is `act` beyond the heuristic's. `all` counts decisions a second
with the steps of the tables. The last line is an empty echo: a program that reads a line and answers with one, through the same
connection, both about as long as those of the first program.

  python benchmarks/bots.py                       4,096 tables a turn, then one
  python benchmarks/bots.py --tables 4096 --repeats 9
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.program.process import Program
from nainjaune_env import make_setup
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.engine.batch import Batch

SOURCE = Path(__file__).parents[1] / "examples/bots/lowest.c"
ECHO = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    char *line = NULL;
    for (size_t size = 0; getline(&line, &size, stdin) > 0; fflush(stdout)) printf("%*d\n", atoi(argv[1]), argc);
}
"""
WANTS = {"nothing": "", "its features": '"wants":["features"],', "its bytes": '"wants":["observation"],'}
"""What the program wants of a decision beyond the legal actions -> the beginning of its ``ready``."""
SECONDS = 0.5
"""How long a case plays, once, at least."""


class Cost(NamedTuple):
    """Of one decision, in microseconds."""

    act: float
    host: float
    whole: float


def compiled(folder: Path, name: str, source: str) -> str:
    """Returns the path of a program made of C."""
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-O2", "-o", str(folder / name), str(folder / f"{name}.c")], check=True)
    return str(folder / name)


def program(folder: Path, name: str, wants: str) -> str:
    """Returns the path of the example, changed in what it says of itself."""
    source, said = SOURCE.read_text(), r"\"deterministic\":true"
    if source.count(said) != 1:
        raise ValueError(f"{SOURCE} does not say {said} once, which this benchmark changes.")
    return compiled(folder, name, source.replace(said, wants.replace('"', r"\"") + r"\"deterministic\":false"))


def play(agent: Agent, tables: int) -> Cost:
    """Plays rounds with the agent in every seat, the same for each agent."""
    batch, rng = Batch(make_setup(), tables, seed=1), np.random.default_rng(0)
    everywhere, act, host, decisions, begun = np.arange(tables), 0.0, 0.0, 0, time.perf_counter()
    while time.perf_counter() - begun < SECONDS:
        asked = DecisionBatch(batch, everywhere)
        wall, processor = time.perf_counter(), time.process_time()
        actions = agent.act(asked, rng)
        act += time.perf_counter() - wall
        host += time.process_time() - processor
        batch.step(actions)
        decisions += tables
    return Cost(*(1e6 * seconds / decisions for seconds in (act, host, time.perf_counter() - begun)))


def echo(command: str, tables: int) -> Cost:
    """Sends lines as long as a turn of ``tables`` decisions, in which the program wants nothing more."""
    echoing = Program(f"{command} {70 + 3 * tables}")
    message = b" " * (80 + 60 * tables)
    echoing.ask(message, 60)
    turns, begun, processor = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < SECONDS:
        echoing.ask(message, 60)
        turns += 1
    act, host = time.perf_counter() - begun, time.process_time() - processor
    echoing.close()
    return Cost(*(1e6 * seconds / turns / tables for seconds in (act, host, act)))


def main(arguments: list[str] | None = None) -> None:
    """Measures, and prints a table for each number of decisions a turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, nargs="+", default=[4096, 1], help="decisions a turn (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="times that each case plays (default: %(default)s)")
    options = parser.parse_args(arguments)
    if shutil.which("gcc") is None:
        sys.exit("This benchmark compiles programs of C, and there is no program 'gcc'.")
    setup = make_setup()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        heuristic = load_agent("lowest", setup)
        bots = {
            wants: load_agent(f"exec:{program(folder, f'bot{k}', text)}", setup) for k, (wants, text) in enumerate(WANTS.items())
        }
        echoes = compiled(folder, "echo", ECHO)
        for tables in options.tables:
            cases: dict[str, Callable[[], Cost]] = {"`lowest` in this process": partial(play, heuristic, tables)}
            for wants, bot in bots.items():
                cases[f"the program, which wants {wants}"] = partial(play, bot, tables)
            cases["an echo"] = partial(echo, echoes, tables)
            for run in cases.values():
                run()
            taken = [{case: run() for case, run in cases.items()} for _ in range(options.repeats)]
            report(
                tables, {case: Cost(*map(statistics.median, zip(*(some[case] for some in taken), strict=True))) for case in cases}
            )
        for bot in bots.values():
            bot.close()


def report(tables: int, costs: dict[str, Cost]) -> None:
    """Prints a table in Markdown."""
    print(f"\n{tables:,} decision{'s' * (tables > 1)} a turn, microseconds a decision:\n")
    print("| | act | host | over | all |\n|---|---|---|---|---|")
    base = next(iter(costs.values()))
    for case, cost in costs.items():
        print(f"| {case} | {cost.act:.2f} | {cost.host:.2f} | {cost.act - base.act:.2f} | {1e6 / cost.whole:,.0f} a second |")


if __name__ == "__main__":
    main()
