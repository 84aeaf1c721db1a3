"""Hold a game's kernel against its slow twin for as many rounds as you like.

    python -m tests.prove --game nain_jaune --rounds 1000000 --seed 0 --processes 2

A game without rounds counts whole games.

Half of the rounds go to the presets, half to random knobs, evenly over the numbers of seats. Prints the rounds
compared for each; at the first difference prints the setup, the deal and the moves, and exits with 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator

from tqdm import tqdm

from nainjaune_env.games import DEFAULT_GAME
from tests.twin.cells import SIDES, Cell, all_cells, compare
from tests.twin.mismatch import Mismatch

CHUNK = 500
"""Rounds between two moves of the bar."""

Task = tuple[Cell, int, int, int]
"""Cell, seed, number of the chunk, rounds."""


def tasks(rounds: int, seed: int, game: str = DEFAULT_GAME) -> list[Task]:
    """Chunks of work; each depends on the seed, its cell and its number alone."""
    cells = all_cells(game)
    random_cells = sum(cell.preset is None for cell in cells)
    plan: list[Task] = []
    for cell in cells:
        peers = random_cells if cell.preset is None else len(cells) - random_cells
        share = -(-rounds // (2 * peers))
        plan += [(cell, seed, k, min(CHUNK, share - k * CHUNK)) for k in range(-(-share // CHUNK))]
    return plan


def work(task: Task) -> tuple[Cell, Counter[str], str]:
    """One chunk: the cell, what came up, and the story of a mismatch (empty: none)."""
    cell, seed, number, rounds = task
    try:
        return cell, compare(cell, f"{seed}.{number}", rounds), ""
    except Mismatch as mismatch:
        return cell, Counter(), str(mismatch)


def results(plan: list[Task], processes: int) -> Iterator[tuple[Cell, Counter[str], str]]:
    """The chunks' results, as they come."""
    if processes == 1:
        yield from map(work, plan)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(work, plan)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--game", choices=list(SIDES), default=DEFAULT_GAME, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=1_000_000, help="rounds to compare (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=1, help="default: %(default)s")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.processes < 1:
        parser.error("--rounds and --processes are at least 1")
    plan = tasks(options.rounds, options.seed, options.game)
    seen: dict[Cell, Counter[str]] = {cell: Counter() for cell in all_cells(options.game)}
    started = time.perf_counter()
    total = sum(task[3] for task in plan)
    seconds = 0.1 if sys.stderr.isatty() else 60  # a line a minute in a log
    with tqdm(total=total, unit=" rounds", mininterval=seconds, miniters=1) as bar:
        for cell, came_up, story in results(plan, options.processes):
            if story:
                bar.close()
                print(story)
                return 1
            seen[cell] += came_up
            bar.update(came_up["rounds"])
    report(seen, time.perf_counter() - started)
    return 0


def report(seen: dict[Cell, Counter[str]], seconds: float) -> None:
    """The rounds of each cell, and how often what came up in all."""
    for cell, came_up in seen.items():
        print(f"{cell!s:20} {came_up['rounds']:>10,} rounds")
    total = sum(seen.values(), Counter[str]())
    print(f"no difference in {total['rounds']:,} rounds, {total['plies']:,} plies, {seconds:.0f} s; among them:")
    for event, count in total.most_common():
        if event not in ("rounds", "plies"):
            print(f"  {event:36} {count:>10,}")


if __name__ == "__main__":
    sys.exit(main())
