"""Times every adaptor of the environment in turn, against the ``Batch`` and PettingZoo's own ``leduc_holdem`` of the same run.

One step is one action of the learner (the opponents play inside it), or one decision where all seats are played (with `self` as
opponents, all seats learn); one ply through PettingZoo's parallel interface. Our cases run in one process, on one thread and in
turn, --repeats times over; PettingZoo's game runs in the virtual environment of the peers (`make peers`), and PufferLib's adaptor
in that of `make pufferlib`, if it has been made. Rates are per second of processor time, since other processes take from the
machine's wall time. Ratios are taken within each repeat.

  python benchmarks/adaptors.py                      the table, a few minutes; figures go to benchmarks/taken/adaptors.json
  python benchmarks/adaptors.py --markdown           the same, and into docs/lab/speed.md (part of `make bench`)
  python benchmarks/adaptors.py --light              seconds: whether it runs at all
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import adaptor_runs
import figures
from adaptor_runs import BATCH
from figures import Spread, in_words
from speed import PEERS_PYTHON, Workers, rates_in_turn

NETWORK = "zoo:strong"
"""Opponents outside compiled loops: a network, three layers of 512 units under these rules."""
LEDUC = "PettingZoo's own `leduc_holdem_v4`"
PUFFERLIB = "PufferLib `SeatPufferEnv`"
PUFFERLIB_PYTHON = figures.ROOT / ".venv-pufferlib" / "bin" / "python"
SIDES = {
    "`gymnasium.make_vec`": ("random", "tally", "self"),
    "Stable-Baselines3 `SeatVecEnv`": ("tally", NETWORK, "self"),
}
"""The opponents beside which a vector environment is timed, where they are others than :func:`cases` has."""
RULES = {"preset": "djeco", "players": 4}
LIGHT = {"seconds": 0.01, "repeats": 1}


def cases(pufferlib: bool = False) -> list[dict[str, Any]]:
    """Returns all cases, the two that the others are compared with first.

    ``pufferlib``: PufferLib's environment is timed too.
    """
    names = list(adaptor_runs.MAKERS)
    vectors, others = names[1:4], names[4:]
    timed_cases = [{"library": "adaptor_runs", "name": BATCH, "tables": 4096}]
    timed_cases.append({"library": "peers", "name": "leduc", "tables": 1})
    for name in vectors:
        for tables in (64, 1024):
            sides = SIDES.get(name, ("tally", "self"))
            timed_cases += [{"library": "adaptor_runs", "name": name, "tables": tables, "opponents": side} for side in sides]
    if pufferlib:
        case = {"library": "pufferlib_runs", "name": PUFFERLIB, "opponents": "tally"}
        timed_cases += [{**case, "tables": tables} for tables in (64, 1024)]
    for name in others:
        sides = ("random", "tally") if name == others[0] else ("",)
        timed_cases += [{"library": "adaptor_runs", "name": name, "tables": 1, "opponents": side} for side in sides]
    return [{**RULES, **case, "threads": 1} for case in timed_cases]


def take(options: argparse.Namespace) -> dict[str, Any]:
    """Times all cases in turn."""
    about = figures.where_and_when("gymnasium", "pettingzoo", "stable-baselines3", "torchrl")
    pythons = {"adaptor_runs": Path(sys.executable), "peers": options.peers_python, "pufferlib_runs": options.pufferlib_python}
    timed = rates_in_turn(Workers(pythons), cases(options.pufferlib_python.exists()), options, clock="process_time")
    return {"about": about, "seconds": options.seconds, "repeats": options.repeats, "cases": timed}


def ratio(rates: list[float], to: list[float]) -> str:
    """Formats the median of the ratios within repeats, rounded down; empty where one of both was not timed."""
    if not rates or not to:
        return ""
    median_ratio = Spread.of_ratios(rates, to).median
    return figures.in_times(median_ratio) if median_ratio >= 1 else f"{int(median_ratio * 10_000) / 10_000:.4f}"


def report(results: dict[str, Any]) -> str:
    """Returns the table as Markdown."""
    batch, leduc = (case.get("rates", []) for case in results["cases"][:2])
    rows = []
    for case in results["cases"]:
        name = LEDUC if case["name"] == "leduc" else case["name"]
        if "missing" in case:
            rows.append([name, f"{case['tables']:,}", "", f"not timed: {case['missing']}", "", ""])
            continue
        spread = Spread.of(case["rates"])
        rate = f"{in_words(spread.median)} ({in_words(spread.least)} – {in_words(spread.most)})"
        side = f"`{case['opponents']}`" if case.get("opponents") else ""
        rows.append([name, f"{case['tables']:,}", side, rate, ratio(case["rates"], batch), ratio(case["rates"], leduc)])
    head = ["adaptor", "tables", "opponents", "steps a second of the processor", "÷ `Batch`", "÷ `leduc_holdem_v4`"]
    parts = [
        figures.in_a_sentence(results["about"]),
        f"`{RULES['preset']}`, {RULES['players']} seats, one thread; "
        f"{results['repeats']} times {results['seconds']:g} s a case.\n",
        figures.table(head, rows),
    ]
    return "\n".join(parts)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peers-python", type=Path, default=PEERS_PYTHON, metavar="FILE", help="the interpreter of the peers (.venv-peers')"
    )
    parser.add_argument(
        "--pufferlib-python", type=Path, default=PUFFERLIB_PYTHON, metavar="FILE",
        help="the interpreter that has PufferLib (.venv-pufferlib's); without one, its environment is not timed",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each case and repeat (0.5)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each case is timed (5)")
    parser.add_argument("--light", action="store_true", help="one short repeat, only to check that it runs")
    taken = figures.TAKEN / "adaptors.json"
    parser.add_argument("--json", type=Path, default=taken, metavar="FILE", help="all figures (benchmarks/taken/adaptors.json)")
    parser.add_argument("--markdown", action="store_true", help="put the table into --page")
    parser.add_argument("--page", type=Path, default=figures.PAGE, metavar="FILE", help="the page (docs/lab/speed.md)")
    options = parser.parse_args(arguments)
    if options.light:
        vars(options).update(LIGHT)
    if options.repeats < 1 or options.seconds <= 0:
        parser.error("--repeats is 1 or more, --seconds is more than 0")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Times everything, prints and writes the figures."""
    options = parse(arguments)
    results = take(options)
    figures.write(options.json, results)
    print(report(results))
    if options.markdown:
        figures.put_between(options.page, "adaptors", report(results))


if __name__ == "__main__":
    main()
