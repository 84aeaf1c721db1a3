"""A process that runs one library and answers over a pipe; `speed.py` and `adaptors.py` start it and ask all in turn.

So every library has packages, threads and processors to itself: `worker.py ours 2` and `worker.py peers 1` name the module that
makes runners, and the threads. The process keeps to as many processors, where the system lets it choose. A line of JSON asks: a
case, and for how many seconds of which clock to run it (0: once, to compile), or for versions. A line answers: how much was done
in how many seconds, or why nothing can be.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

CLOCKS = {"perf_counter": time.perf_counter, "process_time": time.process_time}
"""A request's ``clock``: wall time, the default, or processor time of this process."""


def keep_to(threads: int) -> None:
    """Use as many processors as threads, the last ones, and set that number of threads for libraries."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def timed(run: Callable[[], int], seconds: float, clock: Callable[[], float]) -> dict[str, float]:
    """Returns what ``run`` has done in about ``seconds`` of ``clock``, at least one call."""
    done, begin = 0, clock()
    while True:
        done += run()
        spent = clock() - begin
        if spent >= seconds:
            return {"done": done, "seconds": spent}


def main() -> None:
    """Answers requests until the pipe closes."""
    module, threads = sys.argv[1], int(sys.argv[2])
    keep_to(threads)
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    library = importlib.import_module(module)
    runners: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "versions" in request:
            print(json.dumps(library.versions()), file=answers, flush=True)
            continue
        key = json.dumps(request["case"], sort_keys=True)
        try:
            if key not in runners:
                runners[key] = library.make(request["case"])
                runners[key]()  # compiles, or fills the caches
            answer: dict[str, Any] = timed(runners[key], request["seconds"], CLOCKS[request.get("clock", "perf_counter")])
        except ImportError as error:
            answer = {"missing": str(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
