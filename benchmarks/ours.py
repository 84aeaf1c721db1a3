"""What `speed.py` times of this project: random legal play, a batch of tables at a time."""

from __future__ import annotations

from typing import Any

from peers import Run, agent_iteration, calls_of

import nainjaune_env
from nainjaune_env import Batch, make_setup
from nainjaune_env.prng import streams

ONE_BY_ONE = "one by one through PettingZoo"
KINDS = (
    "plies+observation", "plies", "plies in rollouts",
    "decisions+observation", "decisions", "decisions in rollouts",
)  # fmt: skip
"""What a step is. Decisions: plies without a choice are made by themselves; "+observation": that and the mask are written."""


def make(case: dict[str, Any]) -> Run:
    """The runner of a case: ``preset``, ``players``, ``name``, ``tables``, ``threads``."""
    if case["name"] == ONE_BY_ONE:
        return agent_iteration(nainjaune_env.env(preset=case["preset"], num_players=case["players"]))
    setup, tables = make_setup(None, case["preset"], case["players"]), case["tables"]
    step, _, observed = case["name"].partition("+")
    unit, _, rolled = step.partition(" in ")
    batch = Batch(setup, tables, seed=0, skip_forced=unit == "decisions", observe=bool(observed), threads=case["threads"])
    random, calls = streams(1, tables), calls_of(tables)

    def roll_out() -> int:
        return sum(int(batch.play_out(random).sum()) for _ in range(max(calls // 16, 1)))

    def run() -> int:
        for _ in range(calls):
            batch.step(batch.sample(random))
        return calls * tables

    return roll_out if rolled else run
