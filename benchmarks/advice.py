"""Times advice on this machine: seconds to reach a given precision, and the review of a whole match.

The positions are choices at given depths of rounds that the first model plays in every seat. Each is evaluated by itself, as
`nainjaune advise` does, until the best move's chips and how far it is ahead are within --error; loading is left out.
The match is a duplicate deal's: the model in two seats, random players in the others. It is reviewed by the whole command
`nainjaune analyse`, loading and all.

  python benchmarks/advice.py --models tally zoo:strong --threads 2
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.study.advice import Adviser
from nainjaune_agents.study.advice.models import players
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.core.spec import Setup

AFTER = (0, 3, 6)
"""Numbers of decisions in a round before the position."""


def positions(setup: Setup, player: Agent, after: int, count: int) -> NDArray[Any]:
    """Returns up to ``count`` tables after this many decisions of a round; rounds that ended earlier are left out."""
    batch = Batch(setup, count, seed=11, autoreset=False)
    rng = np.random.default_rng(0)
    for _ in range(after):
        playing = np.flatnonzero(~batch.done)
        batch.step(player.act(DecisionBatch(batch, playing), rng), playing)
    return batch.tables[~batch.done].copy()


def seconds(adviser: Adviser, tables: NDArray[Any], error: float, every: bool) -> tuple[NDArray[np.float64], float]:
    """Returns wall and processor seconds of each position, ``(K, 2)``, and the mean number of legal actions."""
    spent, moves = np.zeros((len(tables), 2)), []
    for k in range(len(tables)):
        clock, processor = time.perf_counter(), time.process_time()
        advice = adviser.advise(tables[k : k + 1], np.random.default_rng(k), error=error, every=every)
        spent[k] = time.perf_counter() - clock, time.process_time() - processor
        moves.append(np.count_nonzero(advice.deals))
    return spent, float(np.mean(moves))


def review_seconds(setup: Setup, model: str, threads: int) -> tuple[float, int]:
    """Returns the wall seconds of `nainjaune analyse` for a match that ``model`` plays, and its number of decisions."""
    command = [sys.executable, "-m", "nainjaune_agents.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        record, review = Path(folder) / "match.jsonl", Path(folder) / "review.csv"
        setup_words = ["--preset", setup.preset, "--players", str(setup.players)]
        play = ["evaluate", "--agents", model, "random", *setup_words, "--deals", "2", "--seed", "3"]
        subprocess.run([*command, *play, "--records", record, "--matches", "1"], check=True, capture_output=True)
        analyse = ["analyse", record, "--model", model, "--threads", str(threads), "--out", review]
        clock = time.perf_counter()
        subprocess.run([*command, *analyse], check=True, capture_output=True)
        return time.perf_counter() - clock, len(review.read_text(encoding="utf-8").splitlines()) - 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--models",
        nargs="+",
        default=["tally", "zoo:strong"],
        help="agents, each in all seats (tally zoo:strong)",
    )
    parser.add_argument("--preset", help="the preset of rules")
    parser.add_argument("--players", type=int, help="seats")
    parser.add_argument("--positions", type=int, default=30, help="positions of each kind (30)")
    parser.add_argument("--error", type=float, default=0.2, help="precision: half the width of the 95 %% interval (0.2)")
    parser.add_argument("--threads", type=int, default=1, help="threads for rollouts (1)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Times everything and prints the table."""
    options = parse(arguments)
    try:
        setup = make_setup(None, options.preset, options.players)
        advisers = {m: Adviser(setup, players(setup, [m] * setup.players), threads=options.threads) for m in options.models}
        first = load_agent(options.models[0], setup)
    except NainJauneError as error:
        sys.exit(str(error))
    set_torch_threads(1)
    machine = f"{platform.machine()}, {options.threads} thread{'s' if options.threads > 1 else ''}"
    print(f"{setup.game.title}, {setup.preset}, {setup.players} seats, ± {options.error:g}; {machine}")
    print("\n| seconds: median, 90 %, most (of the processor) | " + " | ".join(f"`{model}`" for model in advisers) + " |")
    print("|---|" + "---|" * len(advisers))
    for after in AFTER:
        tables = positions(setup, first, after, options.positions)
        for every in (False, True):
            cells, moves = [], 0.0
            for adviser in advisers.values():
                adviser.advise(tables[:1], np.random.default_rng(0), deals=64)  # code is compiled and loaded
                spent, moves = seconds(adviser, tables, options.error, every)
                clock, processor = np.quantile(spent, [0.5, 0.9, 1.0], axis=0).T
                times = [", ".join(f"{value:.2f}" for value in row) for row in (clock, processor)]
                cells.append(f"{times[0]} ({times[1]})")
            kind = f"after {after} decisions, {moves:.1f} moves" + (", every one as sharp" if every else "")
            print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
    reviews = [review_seconds(setup, model, options.threads) for model in advisers]
    cells = [f"{spent:.1f} ({decisions} decisions)" for spent, decisions in reviews]
    print("| a match reviewed, loading included | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
