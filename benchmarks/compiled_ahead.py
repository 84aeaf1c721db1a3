"""Times loops that are compiled ahead against the same loops compiled by numba, in turn, in two processes on one thread.

One step is one decision. Rates are per second of processor time; ratios are taken within each repeat. ``make library`` builds the
library.

  python benchmarks/compiled_ahead.py build/library              a table, a few minutes
  python benchmarks/compiled_ahead.py build/library --repeats 20
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import figures
from figures import Spread, in_words
from speed import Workers, rates_in_turn

from nainjaune_env.compiler.ahead import VARIABLE

RULES = {"preset": "djeco", "players": 4, "threads": 1}
AHEAD, NUMBA = "compiled ahead", "numba"
CASES: list[dict[str, Any]] = [
    *({"library": "adaptor_runs", "name": "Batch", "tables": tables} for tables in (1, 16, 1024, 4096)),
    {"library": "adaptor_runs", "name": "`gymnasium.make`", "tables": 1, "opponents": "random"},
    {"library": "adaptor_runs", "name": "`gymnasium.make_vec`", "tables": 64, "opponents": "tally"},
    {"library": "adaptor_runs", "name": "PettingZoo AEC, `last` and `step`", "tables": 1},
    {"library": "ours", "name": "decisions in rollouts", "tables": 1024},
]


class Pair:
    """The workers of both kinds; a case says which one it is for."""

    def __init__(self, library: Path) -> None:
        pythons = {name: Path(sys.executable) for name in ("adaptor_runs", "ours")}
        self.kinds = {AHEAD: Workers(pythons, {VARIABLE: str(library)}), NUMBA: Workers(pythons, {VARIABLE: ""})}

    def ask(self, library: str, threads: int, question: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer of a worker."""
        return self.kinds[question["case"]["kind"]].ask(library, threads, question)

    def close(self) -> None:
        """Stops the workers."""
        for workers in self.kinds.values():
            workers.close()


def main(arguments: list[str] | None = None) -> None:
    """Times everything and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path, help="the folder of the library")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each case and repeat (0.5)")
    parser.add_argument("--repeats", type=int, default=7, help="how often each case is timed (7)")
    options = parser.parse_args(arguments)
    cases = [{**RULES, **case, "kind": kind} for case in CASES for kind in (AHEAD, NUMBA)]
    timed: Any = rates_in_turn(Pair(options.library.resolve()), cases, options, clock="process_time")  # type: ignore[arg-type]
    rows = []
    for ahead, numba in zip(timed[::2], timed[1::2], strict=True):
        rates = [Spread.of(case["rates"]) for case in (ahead, numba)]
        ratio = Spread.of_ratios(ahead["rates"], numba["rates"])
        shown = [f"{in_words(rate.median)} ({in_words(rate.least)} – {in_words(rate.most)})" for rate in rates]
        rows.append([ahead["name"], f"{ahead['tables']:,}", *shown, f"{ratio.median:.2f} ({ratio.least:.2f} – {ratio.most:.2f})"])
    print(figures.table(["case", "tables", AHEAD, NUMBA, "ratio"], rows))


if __name__ == "__main__":
    main()
