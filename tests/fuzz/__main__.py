"""Run the fuzzers for long, or one case again.

    python -m tests.fuzz [NAME …] [--cases N] [--seed S]
    python -m tests.fuzz NAME --seed S --case K

Prints each fault with the command that runs its case again; the exit status is 1 if there was one. Where the process dies or
hangs, the last line names the case.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
import tempfile
import time
import traceback
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from nainjaune_agents.base.devices import set_torch_threads

from .fuzzers import FUZZERS

HANGS = 1200
"""Seconds in one case after which the process ends, with a traceback."""
MEMORY = 12 << 30
"""Bytes that the process may allocate: a request for more is refused, and does not take the machine down."""
MAX_FAULTS = 25
"""Faults after which a fuzzer stops."""


def fuzz(name: str, seed: int, cases: range) -> int:
    """Runs ``cases`` of the fuzzer ``name``; returns the number of faults."""
    faults, started = 0, time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, closing(FUZZERS[name](Path(folder), thorough=True)) as fuzzer:
        for number in cases:
            print(f"\r{name} {number}", end="", file=sys.stderr, flush=True)
            faulthandler.dump_traceback_later(HANGS, exit=True)
            try:
                fuzzer.run(seed, number)
            except Exception:
                faults += 1
                print(f"\n{traceback.format_exc()}\nagain: python -m tests.fuzz {name} --seed {seed} --case {number}", flush=True)
            faulthandler.cancel_dump_traceback_later()
            if faults == MAX_FAULTS:
                break
    print(f"\r{name}: {number - cases.start + 1} cases, {faults} faults, {time.perf_counter() - started:.0f} s", flush=True)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"fuzzers: {', '.join(FUZZERS)} (default: all)")
    parser.add_argument("--cases", type=int, help="number of cases (default: that of each fuzzer)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--case", type=int, help="only the case with this number")
    options = parser.parse_args()
    names = options.names or list(FUZZERS)
    if unknown := set(names) - set(FUZZERS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(FUZZERS)}")
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    tqdm.monitor_interval = 0  # a process with threads is not forked
    set_torch_threads(1)
    faults = 0
    for name in names:
        cases = range(options.cases or FUZZERS[name].long) if options.case is None else range(options.case, options.case + 1)
        faults += fuzz(name, options.seed, cases)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
