"""Times the environment on an NVIDIA GPU over batch sizes, and one CPU thread in the same run.

Random legal play through the public ``Batch``: ``batch.step(batch.sample(streams))`` over and over. Steps are queued, and the
clock is read when the device has done all of them. Actions are checked on the device (``checks="later"``), and an illegal one
would end the run. All cases are timed in turn, as often as --repeats says; the table shows medians, the file all figures.

  plies            one step = one ply, as it is recorded and drawn
  decisions        one step = one real choice; plies without a choice are made by themselves (skip_forced)
  + observation    the observation and the mask of the seat to act are written at every step
  played out       whole rounds in one kernel, without observations (Batch.play_out): what rollouts cost
  graph            the same steps captured once in a CUDA graph and replayed, with --graphs; takes torch with CUDA

  python benchmarks/gpu.py --graphs --json figures.json
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from figures import in_words
from throughput import Case, Figure, time_in_turn

from nainjaune_agents.train.config import apply_settings
from nainjaune_env import make_batch, make_setup
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

QUEUED = 1 << 22
"""Table steps between two readings of the clock; at least 8 and at most 64 steps of the batch."""
IN_A_GRAPH = 16
"""Steps in one CUDA graph."""


def units(skip_forced: bool, observe: bool) -> tuple[str, str]:
    """A case's name and the unit it counts."""
    unit = "decisions" if skip_forced else "plies"
    return unit + (" + observation" if observe else ""), unit


def queued_case(setup: Setup, tables: int, device: str, skip_forced: bool, observe: bool) -> Case:
    """Steps launched one by one."""
    options: dict[str, Any] = {"checks": "later"} if device == "cuda" else {}
    batch = make_batch(setup, tables, seed=0, skip_forced=skip_forced, observe=observe, device=device, **options)
    random = batch.place(streams(1, tables))
    steps = min(max(QUEUED // tables, 8), 64)

    def run() -> int:
        for _ in range(steps):
            batch.step(batch.sample(random))
        batch.synchronize()
        return steps * tables

    name, unit = units(skip_forced, observe)
    return Case(f"{name}, {device}", unit, tables, run)


def played_out_case(setup: Setup, tables: int, device: str) -> Case:
    """Plies of whole rounds."""
    options: dict[str, Any] = {"checks": "later"} if device == "cuda" else {}
    batch = make_batch(setup, tables, seed=0, skip_forced=False, observe=False, device=device, **options)
    random = batch.place(streams(1, tables))

    def run() -> int:
        return int(batch.fetch(batch.play_out(random)).sum())

    return Case(f"played out, {device}", "plies", tables, run)


def graph_case(setup: Setup, tables: int, skip_forced: bool, observe: bool) -> Case:
    """Steps replayed from a CUDA graph."""
    import torch

    stream = torch.cuda.Stream()
    options: dict[str, Any] = {"checks": "later", "stream": stream.cuda_stream}
    batch = make_batch(setup, tables, seed=0, skip_forced=skip_forced, observe=observe, device="cuda", **options)
    random = batch.place(streams(1, tables))
    batch.step(batch.sample(random))  # compiles, and makes room for the actions: neither can be captured
    batch.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(IN_A_GRAPH):
            batch.step(batch.sample(random))
    replays = min(max(QUEUED // tables // IN_A_GRAPH, 2), 64)

    def run(kept_alive: object = random) -> int:  # the graph refers to its memory, which must not be freed
        with torch.cuda.stream(stream):
            for _ in range(replays):
                graph.replay()
        batch.synchronize()
        return replays * IN_A_GRAPH * tables

    name, unit = units(skip_forced, observe)
    return Case(f"{name}, cuda graph", unit, tables, run)


def cases(setup: Setup, sizes: list[int], host_tables: int, graphs: bool) -> Iterator[Case]:
    """Returns all cases. Their batches exist side by side; 2^20 tables take a few gigabytes of GPU memory."""
    for device, batches in (("cpu", [host_tables]), ("cuda", sizes)):
        for tables in batches:
            yield played_out_case(setup, tables, device)
    for skip_forced in (False, True):
        for observe in (True, False):
            yield queued_case(setup, host_tables, "cpu", skip_forced, observe)
            for tables in sizes:
                yield queued_case(setup, tables, "cuda", skip_forced, observe)
                if graphs:
                    yield graph_case(setup, tables, skip_forced, observe)


def print_table(figures: list[Figure]) -> None:
    """Returns a table of medians: a row per number of tables, a column per case."""
    names = list(dict.fromkeys(f.name for f in figures))
    print(f"\n| {'tables at once':>14} | " + " | ".join(names) + " |")
    print(f"|{'-' * 16}|" + "|".join("-" * (len(name) + 2) for name in names) + "|")
    for tables in sorted({f.tables for f in figures}):
        at = {f.name: in_words(f.median) for f in figures if f.tables == tables}
        print(f"| {tables:>14,} | " + " | ".join(f"{at.get(name, ''):>{len(name)}}" for name in names) + " |")


def describe_device() -> str:
    """Returns the GPU, its compute capability and numba-cuda's version."""
    import numba_cuda
    from numba import cuda

    device = cuda.get_current_device()
    name = getattr(device, "name", "a simulated device")
    major, minor = device.compute_capability
    return f"{name.decode() if isinstance(name, bytes) else name} (sm_{major}{minor}), numba-cuda {numba_cuda.__version__}"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = [2**k for k in range(10, 21, 2)]
    parser.add_argument("--tables", type=int, nargs="+", default=sizes, metavar="B", help="tables at once (2^10, 2^12, … 2^20)")
    parser.add_argument("--host-tables", type=int, default=4096, metavar="B", help="tables at once on the CPU (4096)")
    parser.add_argument("--preset", default="classic", help="the preset of rules (classic)")
    parser.add_argument("--players", type=int, default=4, metavar="N", help="seats (4)")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="set a knob over the preset")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each case and repeat (0.5)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each case is timed (5)")
    parser.add_argument("--graphs", action="store_true", help="time CUDA graphs too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there as well")
    options = parser.parse_args(arguments)
    if min(*options.tables, options.host_tables) < 1 or options.repeats < 1 or options.seconds <= 0:
        parser.error("--tables, --host-tables and --repeats are 1 or more, --seconds is more than 0")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Times everything and prints the table."""
    options = parse(arguments)
    try:
        setup = make_setup(None, options.preset, options.players, **apply_settings({}, options.set))
        made = list(cases(setup, options.tables, options.host_tables, options.graphs))
    except NainJauneError as error:
        sys.exit(str(error))
    device = describe_device()
    rules_text = " ".join([setup.preset, *options.set])
    print(f"{setup.game.title}, {rules_text}, {setup.players} seats, units a second")
    print(f"cuda is {device}; cpu is one thread of {platform.machine()}")
    print(f"A table is {setup.game.table.itemsize} bytes, an observation {setup.layout.size}.")
    print(f"Python {platform.python_version()}; medians of {options.repeats} repeats of {options.seconds:g} s each, in turn")
    figures = time_in_turn(made, options.seconds, options.repeats)
    print_table(figures)
    if options.json:
        about = {**setup.to_dict(), "device": device, "seconds": options.seconds, "repeats": options.repeats}
        options.json.write_text(json.dumps({**about, "figures": [asdict(f) for f in figures]}, indent=1))


if __name__ == "__main__":
    main()
