"""Times the environment under any rules on this machine, and its start.

Random legal play through the public ``Batch``, on one thread: ``batch.step(batch.sample(streams))`` over and over. All
cases are timed in turn, as often as ``--repeats`` says, so that a machine that slows down slows them all; the table
shows the least, the median and the most of each.

  plies            one step = one ply, as it is recorded and drawn
  decisions        one step = one real choice; plies without a choice are made by themselves (skip_forced)
  + observation    the observation and the mask of the seat to act are written at every step

Starting up is timed in processes of their own: the import, the first batch with an empty cache of compiled
code, and the first batch once that cache is filled.

How that compares with other libraries: speed.py.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from figures import in_words

from nainjaune_agents.train.config import apply_settings
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    unit: str
    tables: int
    """Tables stepped at once."""
    run: Callable[[], int]
    """Does some work and returns the number of units."""


@dataclass(frozen=True)
class Figure:
    """Units per second of one case, over the repeats."""

    name: str
    unit: str
    tables: int
    least: float
    median: float
    most: float


def batch_case(setup: Setup, tables: int, skip_forced: bool, observe: bool) -> Case:
    """Random legal play through ``Batch``."""
    batch = Batch(setup, tables, seed=0, skip_forced=skip_forced, observe=observe)
    random = streams(1, tables)
    calls = max(1, 65536 // tables)

    def run() -> int:
        for _ in range(calls):
            batch.step(batch.sample(random))
        return calls * tables

    unit = "decisions" if skip_forced else "plies"
    return Case(unit + (" + observation" if observe else ""), unit, tables, run)


def rate(case: Case, seconds: float) -> float:
    """Returns units per second."""
    done = 0
    begin = time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds:
        done += case.run()
    return done / spent


def time_in_turn(cases: list[Case], seconds: float, repeats: int) -> list[Figure]:
    """Times every case ``repeats`` times for ``seconds``, in turn."""
    rates: list[list[float]] = [[] for _ in cases]
    for case in cases:
        case.run()  # compiles, or fills the caches
    for _ in range(repeats):
        for case, case_rates in zip(cases, rates, strict=True):
            case_rates.append(rate(case, seconds))
    return [
        Figure(case.name, case.unit, case.tables, min(case_rates), statistics.median(case_rates), max(case_rates))
        for case, case_rates in zip(cases, rates, strict=True)
    ]


CHILD = """
import sys, time
begin = time.perf_counter()
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.prng import streams
imported = time.perf_counter()
batch = Batch(make_setup(None, sys.argv[1], int(sys.argv[2])), 8)
batch.step(batch.sample(streams(1, 8)))
print(imported - begin, time.perf_counter() - imported)
"""


def time_start(preset: str, players: int, repeats: int) -> dict[str, list[float]]:
    """Returns the seconds of the import, of a first batch that compiles, and of one that loads compiled code."""
    seconds: dict[str, list[float]] = {"import": [], "first batch, compiling": [], "first batch, compiled before": []}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NAINJAUNE_CACHE": cache}
        for k in range(repeats + 1):
            child = [sys.executable, "-c", CHILD, preset, str(players)]
            done = subprocess.run(child, env=environment, check=True, capture_output=True, text=True)
            imported, first = map(float, done.stdout.split())
            seconds["first batch, compiling" if k == 0 else "first batch, compiled before"].append(first)
            if k > 0:
                seconds["import"].append(imported)
    return seconds


def print_figures(figures: list[Figure]) -> None:
    """Returns the table."""
    print(f"\n| {'a second, one thread':38} | {'at once':>7} | {'least':>9} | {'median':>9} | {'most':>9} |")
    print(f"|{'-' * 40}|{'-' * 9}|{'-' * 11}|{'-' * 11}|{'-' * 11}|")
    for f in figures:
        cells = f"{in_words(f.least):>9} | {in_words(f.median):>9} | {in_words(f.most):>9}"
        print(f"| {f.name:38} | {f.tables:>7} | {cells} |")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, nargs="+", default=[1024, 4096], metavar="B", help="tables at once (1024 4096)")
    parser.add_argument("--preset", default="classic", help="the preset of rules (classic)")
    parser.add_argument("--players", type=int, default=4, metavar="N", help="seats (4)")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="set a knob over the preset")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each case and repeat (2)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each case is timed (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there as well")
    options = parser.parse_args(arguments)
    if min(options.tables) < 1 or options.repeats < 1 or options.seconds <= 0:
        parser.error("--tables and --repeats are 1 or more, --seconds is more than 0")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Times everything and prints the table."""
    options = parse(arguments)
    try:
        setup = make_setup(None, options.preset, options.players, **apply_settings({}, options.set))
    except NainJauneError as error:
        sys.exit(str(error))
    rules_text = " ".join([setup.preset, *options.set])
    print(
        f"{setup.game.title}, {rules_text}, {setup.players} seats, "
        f"observations of {setup.layout.size} bytes; {platform.machine()},"
    )
    print(f"Python {platform.python_version()}; {options.repeats} repeats of {options.seconds:g} s each, in turn")
    start = time_start(setup.preset, setup.players, min(options.repeats, 3))
    print()
    for what, seconds in start.items():
        print(f"  {what + ':':30} {statistics.median(seconds):6.2f} s")
    cases = [
        batch_case(setup, tables, skip_forced, observe)
        for tables in options.tables
        for skip_forced in (False, True)
        for observe in (True, False)
    ]
    figures = time_in_turn(cases, options.seconds, options.repeats)
    print_figures(figures)
    if options.json:
        about = {**setup.to_dict(), "seconds": options.seconds, "repeats": options.repeats}
        options.json.write_text(json.dumps({**about, "start": start, "figures": [asdict(f) for f in figures]}, indent=1))


if __name__ == "__main__":
    main()
