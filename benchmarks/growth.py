"""Times growing work: tables, seats and threads; the memory of a table; tournaments of millions of deals.

Each part is measured by itself and takes its place in the file of figures; the others stay there as they were.

  tables       plies a second against tables at once, with observation and mask, and without
  seats        the same against seats
  threads      the same against threads
  memory       bytes a table: what the arrays of a batch take, and by how much the process grows for each table
  tournament   seconds and peak memory of `evaluate.py` with two heuristics, in a process of its own for each number of deals

Rates are random legal play through the public `Batch`, all cases of a part in turn, as often as --repeats says, each number of
threads in a process that keeps to as many processors. A tournament of 10 million deals is 100 million rounds: about 25 minutes.

  python benchmarks/growth.py --markdown                                          all, and into docs/lab/speed.md with a plot
  python benchmarks/growth.py --parts tables seats threads memory --markdown      without the tournaments: some minutes
  python benchmarks/growth.py --parts tournament --deals 100000 1000000 10000000
  python benchmarks/growth.py --light                                             seconds: whether it runs at all
  python benchmarks/growth.py --parts --markdown                                  nothing is measured: the figures taken last
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import figures
from figures import Spread, in_words
from speed import Case, Workers, pick, rates_in_turn, setup_of
from tqdm import tqdm

from nainjaune_env import Batch, game_names, get_game, make_setup

PAIR = ("lowest", "tally")
"""The agents of the tournaments."""
PLOT = figures.ROOT / "docs" / "images" / "growth.svg"
KINDS = ("plies+observation", "plies")
LIGHT = {"tables": [1, 8], "threads": [1], "most": 8, "seconds": 0.01, "repeats": 2, "deals": [20, 40]}


# ---- rates ------------------------------------------------------------------------------------------------------------------


def rates(options: argparse.Namespace, cases: list[Case]) -> list[Case]:
    """Returns the cases with their ``rates``, all timed in turn, or with the reason why they are ``missing``."""
    return rates_in_turn(Workers({"ours": Path(sys.executable)}), cases, options)


def case_of(preset: str, players: int, name: str, tables: int, threads: int) -> Case:
    """Returns the case in the form of `ours.py`."""
    return {"library": "ours", "preset": preset, "players": players, "name": name, "tables": tables, "threads": threads}


def against_tables(options: argparse.Namespace) -> list[Case]:
    """One thread, each game."""
    return rates(options, [case_of(*setup, kind, b, 1) for setup in options.setups for kind in KINDS for b in options.tables])


def of_all_seats(options: argparse.Namespace) -> list[tuple[str, int]]:
    """Each game with every number of seats, under the preset that allows the most."""
    setups = []
    for preset, _ in options.setups:
        presets = make_setup(None, preset).game.presets
        widest = max(presets, key=lambda name: len(presets[name].players))
        setups += [(widest, seats) for seats in presets[widest].players]
    return setups


def against_seats(options: argparse.Namespace) -> list[Case]:
    """One thread, with ``--most`` tables."""
    cases = []
    for preset, seats in of_all_seats(options):
        cases += [case_of(preset, seats, kind, options.most, 1) for kind in KINDS]
    return rates(options, cases)


def against_threads(options: argparse.Namespace) -> list[Case]:
    """``--most`` tables."""
    cases = [case_of(*setup, kind, options.most, t) for setup in options.setups for kind in KINDS for t in options.threads]
    return rates(options, cases)


# ---- memory -----------------------------------------------------------------------------------------------------------------

GROWN = 262_144
"""Tables that a process adds to measure the memory of each."""
RESIDENT = """
import sys
from pathlib import Path
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.prng import streams

def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * int(sys.argv[4])

def play(tables):
    batch = Batch(make_setup(None, sys.argv[1], int(sys.argv[2])), tables)
    chance = streams(1, tables)
    for _ in range(3):
        batch.step(batch.sample(chance))
    return batch

play(8)
before = resident()
kept = play(int(sys.argv[3]))
print(resident() - before)
"""


def memory(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns bytes per table: of the batch's arrays, and of the process's growth (None where the system does not report it)."""
    rows = []
    tables = 1024 if options.light else GROWN
    for preset, seats in of_all_seats(options):
        batch = Batch(make_setup(None, preset, seats), 8)
        array_bytes = sum(a.nbytes for a in vars(batch).values() if getattr(a, "shape", ())[:1] == (8,))
        grown = None
        if Path("/proc/self/statm").exists():
            command = [sys.executable, "-c", RESIDENT, preset, str(seats), str(tables), str(os.sysconf("SC_PAGE_SIZE"))]
            grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / tables
        rows.append(
            {
                "preset": preset,
                "players": seats,
                "record": batch.tables.itemsize,
                "observation": batch.layout.size,
                "arrays": array_bytes / 8,
                "grown": grown,
            }
        )
    return rows


# ---- tournaments ------------------------------------------------------------------------------------------------------------


MEASURER = """
import json, os, subprocess, sys
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as child:
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
json.dump([child.returncode, said, used.ru_utime + used.ru_stime, used.ru_maxrss], sys.stdout)
"""
"""A small process that runs a command: on Linux a child's peak memory is at least that of the process that started it."""


def tournament(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Runs a tournament in a new process for each number of deals; returns wall and processor seconds and peak memory."""
    rows = []
    for deals in options.deals:
        command = [sys.executable, "evaluate.py", "--agents", *PAIR, "--deals", str(deals), "--seed", "1"]
        began = time.perf_counter()
        measured = [sys.executable, "-c", MEASURER, *command]
        done = subprocess.run(measured, cwd=figures.ROOT, stdout=subprocess.PIPE, text=True, check=True)
        status, said, processor_seconds, peak = json.loads(done.stdout)
        if status:
            sys.exit(f"{' '.join(command)} ended with {status}.")
        rows.append(
            {
                "deals": deals,
                "seconds": time.perf_counter() - began,
                "processor_seconds": processor_seconds,
                "peak_bytes": peak * (1 if sys.platform == "darwin" else 1024),
                "said": said.strip().splitlines(),
            }
        )
        tqdm.write(f"{deals:,} deals: {rows[-1]['seconds']:.1f} s, {rows[-1]['peak_bytes'] / 2**20:.0f} MiB", file=sys.stderr)
    return rows


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "tables": against_tables,
    "seats": against_seats,
    "threads": against_threads,
    "memory": memory,
    "tournament": tournament,
}


# ---- what the figures say ---------------------------------------------------------------------------------------------------


def rate_table(results: dict[str, Any], by: str) -> str:
    """Returns a table of medians: a row per game and outputs of a step, a column per value of ``by``."""
    values = sorted({case[by] for case in results["rows"]})
    rows = []
    for preset, name in dict.fromkeys((case["preset"], case["name"]) for case in results["rows"]):
        timed = {case[by]: case for case in pick({"cases": results["rows"]}, preset=preset, name=name)}
        cells = [in_words(Spread.of(timed[value]["rates"]).median) if value in timed else "" for value in values]
        if by == "threads" and 1 in timed:
            times = [Spread.of_ratios(timed[v]["rates"], timed[1]["rates"]) if v in timed else None for v in values]
            cells = [
                f"{cell}, {figures.in_times(t.median)} times ({figures.in_times(t.least)} – {figures.in_times(t.most)})"
                if t is not None and value != 1
                else cell
                for cell, t, value in zip(cells, times, values, strict=True)
            ]
        rows.append([f"`{preset}`", name.replace("+", ", "), *cells])
    return figures.table(["game", "a step", *(f"{value:,}" for value in values)], rows)


def memory_table(results: dict[str, Any]) -> str:
    """Returns the table of bytes per game table."""
    rows = [
        [
            f"`{row['preset']}`",
            str(row["players"]),
            str(row["record"]),
            str(row["observation"]),
            f"{row['arrays']:.0f}",
            "unknown" if row["grown"] is None else f"{row['grown']:.0f}",
        ]
        for row in results["rows"]
    ]
    return figures.table(["game", "seats", "the record", "observation", "all arrays", "the process grows by"], rows)


def tournament_table(results: dict[str, Any]) -> str:
    """Returns the table of seconds and peak memory."""
    rows = [
        [
            f"{row['deals']:,}",
            f"{row['seconds']:,.0f} s ({row['processor_seconds']:,.0f} s)",
            in_words(row["deals"] / row["processor_seconds"]),
            f"{row['peak_bytes'] / 2**20:,.0f} MiB",
        ]
        for row in results["rows"]
    ]
    return figures.table(["deals", "seconds (of the processor)", "deals a second of the processor", "peak memory"], rows)


def report(results: dict[str, Any]) -> str:
    """Returns all measured parts as Markdown."""
    tables: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
        "tables": ("Plies a second against **tables** at once, one thread, medians:", lambda h: rate_table(h, "tables")),
        "seats": ("Against **seats**, one thread:", lambda h: rate_table(h, "players")),
        "threads": ("Against **threads**:", lambda h: rate_table(h, "threads")),
        "memory": ("**Memory**, bytes a table:", memory_table),
        "tournament": (
            f"**Tournaments**, `evaluate.py --agents {' '.join(PAIR)} --deals D --seed 1`:",
            tournament_table,
        ),
    }
    parts = []
    for part, (title, made) in tables.items():
        if part in results:
            parts += [title, made(results[part]), figures.in_a_sentence(results[part]["about"])]
    return "\n\n".join(parts)


def plot(results: dict[str, Any], path: Path) -> None:
    """Plots plies per second against tables, a line per game and outputs of a step."""
    from plots import OURS, draw_line, figure, save

    chart, axes = figure("Plies a second, one thread", "tables stepped at once", "plies a second")
    rows = results.get("tables", {"rows": []})["rows"]
    for number, preset in enumerate(dict.fromkeys(case["preset"] for case in rows)):
        for kind, style in zip(KINDS, ("-", ":"), strict=True):
            timed = pick({"cases": rows}, preset=preset, name=kind)
            draw_line(axes, timed, f"{preset}: {kind.replace('+', ' + ')}", OURS[number % len(OURS)], style, 2.0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    save(chart, axes, path)


# ---- the command ------------------------------------------------------------------------------------------------------------


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS), help="what to measure (all)")
    setups = [setup_of(get_game(name).default_preset) for name in game_names()]
    default_setups = "each game's own, and in the parts seats and memory that with the most seats"
    parser.add_argument(
        "--setups",
        type=setup_of,
        nargs="+",
        default=setups,
        metavar="PRESET[:SEATS]",
        help=f"the rules to play ({default_setups})",
    )
    sizes = [4**k for k in range(10)]
    parser.add_argument("--tables", type=int, nargs="+", default=sizes, metavar="B", help="tables at once (1 4 16 … 262144)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="T", help="threads (1 2)")
    parser.add_argument(
        "--most", type=int, default=4096, metavar="B", help="tables at once in the parts seats and threads (4096)"
    )
    deals = [100_000, 1_000_000, 10_000_000]
    parser.add_argument("--deals", type=int, nargs="+", default=deals, metavar="D", help="deals of a tournament (10^5 10^6 10^7)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each case and repeat (0.5)")
    parser.add_argument("--repeats", type=int, default=7, help="how often each case is timed (7)")
    parser.add_argument("--light", action="store_true", help="a few short cases, only to check that it runs")
    figures.add_output_options(parser, "growth", PLOT)
    options = parser.parse_args(arguments)
    if options.light:
        vars(options).update(LIGHT)
    if min(*options.tables, *options.threads, options.repeats, options.most) < 1 or options.seconds <= 0:
        parser.error("--tables, --threads, --most and --repeats are 1 or more, --seconds is more than 0")
    if min(options.deals) < 2:
        parser.error("a tournament has 2 deals or more")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Measures, prints and writes the figures."""
    options = parse(arguments)
    for part in options.parts:
        about = figures.where_and_when()
        result = {"about": about, "rows": PARTS[part](options)}
        figures.write(options.json, {**figures.read(options.json), part: result})
    results = figures.read(options.json)
    figures.publish(options, "growth", report(results), functools.partial(plot, results), PLOT)


if __name__ == "__main__":
    main()
