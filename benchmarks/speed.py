"""Times the environment and its peers in one run, and writes one table.

Random legal play. Each library runs in a process of its own, which keeps to as many processors as it has threads, and all are
timed in turn, case after case, --repeats times over: a machine that slows down for a while slows all of them. A ratio is taken
within each repeat, and reported as the least, the median and the most of these.

Ours, through the public `Batch` from Python, one call for the choices and one for the step:

  plies              one step = one ply, as it is recorded and drawn
  decisions          one step = one real choice; plies without a choice are made by themselves (skip_forced)
  +observation       the observation and the mask of the seat to act are written at every step, which is what peers do too
  in rollouts        to the end of the round in one compiled loop, which chooses too (`Batch.play_out`); nothing is observed
  one by one         one game at a time, through PettingZoo's interface in turns: what the convenience costs

On several threads as many batches stand side by side, each with its share of the tables and a loop in a thread of its own.

Peers (peers.py says how each is used, and in what its step differs) live in an environment of their own; `make peers` makes it,
and those that are missing are said to be. Other games written for other ends: a ratio says what a step costs, no more.

  python benchmarks/speed.py                       the table, about ten minutes; figures go to benchmarks/taken/speed.json
  python benchmarks/speed.py --markdown            the same, and into docs/lab/speed.md with its plot (`make bench`)
  python benchmarks/speed.py --light               seconds: whether it runs at all
  python benchmarks/speed.py --again --markdown    nothing is timed: table and plot of the figures that were taken last
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import figures
import ours
import peers
from figures import Spread, in_times, in_words
from tqdm import tqdm

from nainjaune_env import game_names, get_game, make_setup
from nainjaune_env.core.errors import NainJauneError

Case = dict[str, Any]
HERE = Path(__file__).resolve().parent
PEERS_PYTHON = figures.ROOT / ".venv-peers" / "bin" / "python"
PLOT = figures.ROOT / "docs" / "images" / "speed.svg"
LIGHT = {"tables": [1, 16], "threads": [1], "seconds": 0.01, "repeats": 2}


class Workers:
    """The worker processes, by library and threads; each starts at its first request."""

    def __init__(self, pythons: dict[str, Path], environment: dict[str, str] | None = None) -> None:
        """``environment`` are further environment variables of all workers."""
        self.pythons = pythons
        self.environment = os.environ | (environment or {})
        self.running: dict[tuple[str, int], subprocess.Popen[str]] = {}

    def ask(self, library: str, threads: int, question: dict[str, Any]) -> dict[str, Any]:
        """Returns the worker's answer; ``missing`` with a reason where the library is not installed."""
        if not self.pythons[library].exists():
            return {"missing": f"there is no environment {self.pythons[library].parent.parent.name!r}; `make peers` makes it"}
        if (library, threads) not in self.running:
            command = [self.pythons[library], HERE / "worker.py", library, str(threads)]
            self.running[library, threads] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment
            )
        worker = self.running[library, threads]
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(question) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        if not line:
            del self.running[library, threads]
            worker.communicate()
            return {"missing": f"its process ended with {worker.returncode}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Stops the workers."""
        for worker in self.running.values():
            worker.communicate()  # ends its input, and closes its output
        self.running.clear()


def rates_in_turn(workers: Workers, cases: list[Case], options: argparse.Namespace, **question: Any) -> list[Case]:
    """Returns the cases with their ``rates``, all timed in turn, or with the reason why they are ``missing``; ends the workers.

    The first repeat compiles and is not timed. ``question`` is sent to the workers with each case.
    """
    rates: list[list[float]] = [[] for _ in cases]
    bar = tqdm(total=len(cases) * (options.repeats + 1), unit="case", file=sys.stderr, dynamic_ncols=True, leave=False)
    try:
        for repeat in range(options.repeats + 1):
            for case, rate in zip(cases, rates, strict=True):
                bar.set_postfix_str(f"{'compiling' if repeat == 0 else repeat}: {case['name']}")
                if "missing" not in case:
                    asked = {"case": case, "seconds": options.seconds if repeat else 0.0, **question}
                    answer = workers.ask(case.get("library", "ours"), case["threads"], asked)
                    if "missing" in answer:
                        case["missing"] = answer["missing"]
                    elif repeat:
                        rate.append(answer["done"] / answer["seconds"])
                bar.update()
    finally:
        bar.close()
        workers.close()
    return [case if "missing" in case else {**case, "rates": rate} for case, rate in zip(cases, rates, strict=True)]


def cases(options: argparse.Namespace) -> list[Case]:
    """Returns all cases, peers first."""
    timed_cases: list[Case] = []
    for name in options.peers:
        peer = peers.PEERS[name]
        for threads in options.threads:
            if threads in peer.threads:
                sizes = sorted({min(tables, peer.most) for tables in options.tables})
                timed_cases += [{"library": "peers", "name": name, "tables": tables, "threads": threads} for tables in sizes]
    for preset, seats in options.setups:
        about = {"library": "ours", "preset": preset, "players": seats}
        timed_cases.append({**about, "name": ours.ONE_BY_ONE, "tables": 1, "threads": 1})
        for kind in ours.KINDS:
            for threads in options.threads:
                sizes = [tables for tables in options.tables if tables >= threads]
                timed_cases += [{**about, "name": kind, "tables": tables, "threads": threads} for tables in sizes]
    return timed_cases


def take(options: argparse.Namespace) -> dict[str, Any]:
    """Times all cases in turn."""
    about = figures.where_and_when()
    workers = Workers({"ours": Path(sys.executable), "peers": options.peers_python})
    versions = workers.ask("peers", 1, {"versions": True}) if options.peers else {}
    timed = rates_in_turn(workers, cases(options), options)
    return {"about": about, "peers": versions, "seconds": options.seconds, "repeats": options.repeats, "cases": timed}


# ---- what the figures say ---------------------------------------------------------------------------------------------------


def pick(results: dict[str, Any], **wanted: Any) -> list[Case]:
    """Returns the timed cases with these values."""
    return [case for case in results["cases"] if "rates" in case and all(case.get(key) == value for key, value in wanted.items())]


def best(some: list[Case]) -> Case | None:
    """Returns the case with the highest median, or None."""
    return max(some, key=lambda case: Spread.of(case["rates"]).median, default=None)


def setups_of(results: dict[str, Any]) -> list[tuple[str, int]]:
    """Returns presets and seats in the order given."""
    return list(dict.fromkeys((case["preset"], case["players"]) for case in results["cases"] if case["library"] == "ours"))


def spread_of(case: Case) -> str:
    """Formats a rate's median, minimum and maximum."""
    spread = Spread.of(case["rates"])
    return f"{in_words(spread.median)} ({in_words(spread.least)} – {in_words(spread.most)})"


def ratio_to(mine: Case | None, theirs: Case) -> str:
    """Formats the ratio of two rates, taken within repeats."""
    if mine is None:
        return ""
    spread = Spread.of_ratios(mine["rates"], theirs["rates"])
    return f"**{in_times(spread.median)}** ({in_times(spread.least)} – {in_times(spread.most)})"


def peer_table(results: dict[str, Any]) -> str:
    """Returns the table of every peer at its best batch size and ours at its best, on as many threads."""
    setups = setups_of(results)
    head = ["peer", "threads", "best batch", "steps a second"]
    head += [f"{unit}, `{preset}`" for preset, _ in setups for unit in ("plies", "decisions")]
    rows = []
    for name, threads in dict.fromkeys((c["name"], c["threads"]) for c in results["cases"] if c["library"] == "peers"):
        theirs = best(pick(results, library="peers", name=name, threads=threads))
        title = peers.PEERS[name].title
        if theirs is None:
            why = next(c["missing"] for c in results["cases"] if (c["name"], c["threads"]) == (name, threads))
            rows.append([title, str(threads), "", f"not timed: {why}", *[""] * (2 * len(setups))])
            continue
        mine = [
            best(pick(results, library="ours", preset=preset, players=seats, name=f"{unit}+observation", threads=threads))
            for preset, seats in setups
            for unit in ("plies", "decisions")
        ]
        ratios = [ratio_to(case, theirs) for case in mine]
        rows.append([title, str(threads), f"{theirs['tables']:,}", spread_of(theirs), *ratios])
    return figures.table(head, rows)


def our_table(results: dict[str, Any]) -> str:
    """Returns a table of medians: a row per kind of step, a column per number of tables."""
    sizes = sorted({case["tables"] for case in results["cases"] if case["library"] == "ours"})
    rows = []
    for preset, seats in setups_of(results):
        for name, threads in dict.fromkeys((c["name"], c["threads"]) for c in pick(results, library="ours", preset=preset)):
            timed = pick(results, library="ours", preset=preset, players=seats, name=name, threads=threads)
            at = {case["tables"]: in_words(Spread.of(case["rates"]).median) for case in timed}
            cells = [at.get(tables, "") for tables in sizes]
            rows.append([f"`{preset}`, {seats} seats", name.replace("+", ", "), str(threads), *cells])
    return figures.table(["game", "a step", "threads", *(f"{tables:,}" for tables in sizes)], rows)


def report(results: dict[str, Any]) -> str:
    """Returns all figures as Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in results["peers"].items() if name != "missing")
    differs = [
        f"- {peers.PEERS[name].title}: {peers.PEERS[name].differs}."
        for name in dict.fromkeys(case["name"] for case in results["cases"] if case["library"] == "peers")
    ]
    parts = [
        figures.in_a_sentence(results["about"]),
        f"{results['repeats']} repeats of {results['seconds']:g} s a case. Peers: {versions or 'none'}.",
        "\nOurs over each peer, with observation and mask, both at their best batch; median (least – most) of the repeats:\n",
        peer_table(results),
        "\nIn what a peer's step differs from ours, beyond being another game's:\n",
        *differs,
        "\nOurs, a second, medians, by tables stepped at once:\n",
        our_table(results),
    ]
    return "\n".join(parts)


def plot(results: dict[str, Any], path: Path) -> None:
    """Plots steps per second against tables, both logarithmic."""
    from plots import BATCHED, OURS, draw_line, figure, save

    chart, axes = figure("Random legal play, one thread", "tables stepped at once", "steps a second")
    for number, (preset, seats) in enumerate(setups_of(results)):
        for kind, style in (("plies+observation", "-"), ("plies", ":"), ("decisions+observation", "--")):
            timed = pick(results, library="ours", preset=preset, players=seats, name=kind, threads=1)
            draw_line(axes, timed, f"ours, {preset}: {kind.replace('+', ' + ')}", OURS[number % len(OURS)], style, 2.0)
    for number, name in enumerate(dict.fromkeys(case["name"] for case in pick(results, library="peers", threads=1))):
        label = peers.PEERS[name].title.replace("`", "")
        draw_line(axes, pick(results, library="peers", name=name, threads=1), label, BATCHED[number % len(BATCHED)], "-", 1.0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    save(chart, axes, path)


# ---- the command ------------------------------------------------------------------------------------------------------------


def setup_of(text: str) -> tuple[str, int]:
    """Parses ``preset`` or ``preset:seats``."""
    preset, _, seats = text.partition(":")
    try:
        setup = make_setup(None, preset, int(seats) if seats else None)
    except (NainJauneError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return setup.preset, setup.players


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    setups = [setup_of(get_game(name).default_preset) for name in game_names()]
    parser.add_argument(
        "--setups", type=setup_of, nargs="+", default=setups, metavar="PRESET[:SEATS]", help="our rules (each game's default)"
    )
    sizes = [1, 16, 256, 4096, 65536]
    parser.add_argument("--tables", type=int, nargs="+", default=sizes, metavar="B", help="tables at once (1 16 256 4096 65536)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="T", help="threads (1 2)")
    parser.add_argument("--peers", nargs="*", choices=peers.PEERS, default=list(peers.PEERS), help="which peers (all)")
    parser.add_argument(
        "--peers-python", type=Path, default=PEERS_PYTHON, metavar="FILE", help="the interpreter that has them (.venv-peers')"
    )
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each case and repeat (0.3)")
    parser.add_argument("--repeats", type=int, default=7, help="how often each case is timed (7)")
    parser.add_argument("--light", action="store_true", help="a few short cases, only to check that it runs")
    parser.add_argument("--again", action="store_true", help="time nothing; print the figures of --json")
    figures.add_output_options(parser, "speed", PLOT)
    options = parser.parse_args(arguments)
    if options.light:
        vars(options).update(LIGHT)
    if min(*options.tables, *options.threads, options.repeats) < 1 or options.seconds <= 0:
        parser.error("--tables, --threads and --repeats are 1 or more, --seconds is more than 0")
    if options.again and not options.json.exists():
        parser.error(f"--again tells the figures of {options.json}, and there is no such file")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Times everything, prints and writes the figures."""
    options = parse(arguments)
    if options.again:
        results = figures.read(options.json)
    else:
        results = take(options)
        figures.write(options.json, results)
    figures.publish(options, "speed", report(results), functools.partial(plot, results), PLOT)


if __name__ == "__main__":
    main()
