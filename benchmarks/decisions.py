"""Times the decisions of agents on this machine: one at a time, and many at once.

The decisions are choices of rounds of self-play by the first agent, each as likely to be taken as any other. Every agent makes
the same ones on one thread, in turn, as often as --repeats says; of each figure the least is shown. What counts is the time of
the processor, not of the clock: on a machine that is not quiet the clock would tell of its neighbours.

  python benchmarks/decisions.py --agents tally tally@search=50 --preset classic
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.players.loading import load_agent
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent
from nainjaune_env.core.errors import AgentError, NainJauneError
from nainjaune_env.core.spec import Setup

ROUNDS = 400


def choices(setup: Setup, player: Agent, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Returns up to ``count`` tables that need a decision, from ``ROUNDS`` rounds with ``player`` in every seat."""
    batch = Batch(setup, ROUNDS, seed=1, autoreset=False)
    parts = [batch.tables[:0].copy()]
    while not batch.done.all():
        playing = np.flatnonzero(~batch.done)
        parts.append(batch.tables[playing])
        batch.step(player.act(DecisionBatch(batch, playing), rng), playing)
    tables = np.concatenate(parts)
    return tables[rng.permutation(len(tables))[:count]]


def milliseconds(agent: Agent, batch: Batch, indices: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Returns the seconds that ``agent`` takes for each of these batches of decisions."""
    rng, spent = np.random.default_rng(2), np.zeros(len(indices))
    for number, index in enumerate(indices):
        begun = time.process_time()
        agent.act(DecisionBatch(batch, index), rng)
        spent[number] = 1000 * (time.process_time() - begun)
    return spent


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", required=True, help="names as in evaluate.py; no recurrent agents")
    parser.add_argument("--preset", help="the preset of rules")
    parser.add_argument("--players", type=int, help="seats")
    parser.add_argument("--decisions", type=int, default=1000, help="decisions at once, a third of them also one by one")
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Times everything and prints the table."""
    options = parse(arguments)
    try:
        setup = make_setup(None, options.preset, options.players)
        agents = [load_agent(name, setup) for name in options.agents]
        for agent in agents:
            if isinstance(agent, RecurrentAgent) and agent.state_dtype(setup).itemsize:
                raise AgentError(f"{agent.name!r} remembers, and its memory cannot be reconstructed from a table.")
    except NainJauneError as error:
        sys.exit(str(error))
    set_torch_threads(1)
    rows = choices(setup, agents[0], options.decisions, np.random.default_rng(1))
    batch = Batch(setup, len(rows))
    batch.set_tables(np.arange(len(rows)), rows, trusted=True)
    one_by_one = [np.array([i]) for i in range(max(len(rows) // 3, 1))]
    single: list[list[NDArray[np.float64]]] = [[] for _ in agents]
    many: list[list[float]] = [[] for _ in agents]
    for agent in agents:
        milliseconds(agent, batch, [np.arange(len(rows)), *one_by_one[:20]])  # code is compiled and loaded
    for _ in range(options.repeats):
        for number, agent in enumerate(agents):
            single[number].append(milliseconds(agent, batch, one_by_one))
            many[number].append(milliseconds(agent, batch, [np.arange(len(rows))])[0] / len(rows))
    print(f"{setup.game.title}, {setup.preset}, {setup.players} seats; {platform.machine()}, one thread")
    print(f"\n| ms of processor time a decision | one by one: mean | median | 95 % | {len(rows)} at once |")
    print("|---|---|---|---|---|")
    for agent, alone, together in zip(agents, single, many, strict=True):
        least = min(alone, key=np.mean)
        figures = f"{least.mean():.2f} | {np.median(least):.2f} | {np.quantile(least, 0.95):.2f} | {min(together):.3f}"
        print(f"| `{agent.name}` | {figures} |")


if __name__ == "__main__":
    main()
