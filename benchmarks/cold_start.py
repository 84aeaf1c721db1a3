"""Measures what a first use compiles: seconds of the processor with an empty cache of compiled code, and once it is filled.

Each case is a process of its own, imports included. The code is compiled for a cache in a temporary folder.

  python benchmarks/cold_start.py                    all cases
  python benchmarks/cold_start.py --only make        one of them
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

CASES = {
    "make": """
import gymnasium, nainjaune_env
env = gymnasium.make("NainJaune-v0", preset="djeco", players=4)
_, info = env.reset(seed=1)
env.step(info["action_mask"].argmax())
""",
    "batch": """
from nainjaune_env import Batch, make_setup
batch = Batch(make_setup(None, "djeco", 4), 64, seed=1)
batch.step(batch.mask.argmax(axis=1))
""",
    "evaluate": """
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import make_setup
setup = make_setup(None, "djeco", 4)
hero, field = (load_agent(name, setup) for name in ("closer", "tally"))
FieldAlone(OwnGame(setup, 1), field, 50).edge(hero)
""",
}
"""Name -> the program: ``gymnasium.make``, ``reset`` and ``step``; a ``Batch`` and a step; 50 deals of duplicate play."""


def seconds(code: str, cache: str) -> float:
    """Returns the processor's seconds of a process that runs ``code`` with its compiled code in the folder ``cache``."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    environment = {**os.environ, "NAINJAUNE_CACHE": cache, "NAINJAUNE_QUIET": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, stdout=subprocess.DEVNULL)
    return spent() - before


def main(arguments: list[str] | None = None) -> None:
    """Measures, and prints a line a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CASES, help="measure this case alone")
    options = parser.parse_args(arguments)
    for name in [options.only] if options.only else CASES:
        with tempfile.TemporaryDirectory() as cache:
            first, second = seconds(CASES[name], cache), seconds(CASES[name], cache)
        print(f"{name:10} {first:5.1f} s with an empty cache, {second:5.1f} s with a filled one", flush=True)


if __name__ == "__main__":
    main()
