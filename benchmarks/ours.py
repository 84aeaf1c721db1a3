"""This project's cases for `speed.py`: random legal play, one batch of tables at a time.

On several threads the tables are shared out to as many batches, each stepped by a loop of its own in a thread of its own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from peers import Run, agent_iteration, calls_of

import nainjaune_env
from nainjaune_env import Batch, make_setup
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup

ONE_BY_ONE = "one by one through PettingZoo"
KINDS = (
    "plies+observation", "plies", "plies in rollouts",
    "decisions+observation", "decisions", "decisions in rollouts",
)  # fmt: skip
"""The kinds of steps. Decisions: forced plies are played automatically; "+observation": observation and mask are written."""

IN_A_ROW = 16
"""Runs of each thread before all wait for each other, because starting threads takes time in which nothing is stepped."""


def make(case: dict[str, Any]) -> Run:
    """Returns the runner of a case: ``preset``, ``players``, ``name``, ``tables``, ``threads``."""
    if case["name"] == ONE_BY_ONE:
        return agent_iteration(nainjaune_env.env(preset=case["preset"], players=case["players"]))
    setup, threads = make_setup(None, case["preset"], case["players"]), case["threads"]
    runs = [batch_run(setup, case["name"], case["tables"] // threads, number) for number in range(threads)]
    if threads == 1:
        return runs[0]
    pool = ThreadPoolExecutor(threads)
    return lambda: sum(pool.map(lambda run: sum(run() for _ in range(IN_A_ROW)), runs))


def batch_run(setup: Setup, name: str, tables: int, number: int) -> Run:
    """Returns the runner of one batch; each thread has its own."""
    step, _, observed = name.partition("+")
    unit, _, rolled = step.partition(" in ")
    batch = Batch(setup, tables, seed=number, skip_forced=unit == "decisions", observe=bool(observed))
    random, calls = streams(1, tables, stream=number), calls_of(tables)

    def roll_out() -> int:
        return sum(int(batch.play_out(random).sum()) for _ in range(max(calls // 16, 1)))

    def run() -> int:
        for _ in range(calls):
            batch.step(batch.sample(random))
        return calls * tables

    return roll_out if rolled else run
