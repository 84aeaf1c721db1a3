"""Compares networks as agents play them, by NumPy and compiled code, with the same networks computed by torch.

First choices: with every network of the registry both choose at every decision of rounds; shown is how often the choices differ,
and the largest difference of logits, over their spread. Then processor time, in turn: decisions one by one and 1,024 at once,
duplicate deals, and search, each in one thread; the least of --repeats is shown.
torch multiplies in float32, and in bfloat16 for the rollouts of a search where the processor does so in hardware, as agents did
until 2026-11-25.

  python benchmarks/without_torch.py --decisions 1000000 --seed 1
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.base.sampling import greedy
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.networks.checkpoint import Checkpoint, load_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent, playing_net
from nainjaune_agents.players.networks.policy_agent import PolicyAgent
from nainjaune_agents.players.networks.torch_nets import build_net
from nainjaune_agents.players.search import searching
from nainjaune_agents.players.zoo import player_registry
from nainjaune_env import Batch, make_setup
from nainjaune_env.agent import Agent, DecisionBatch, RecurrentStates
from nainjaune_env.core.spec import Setup

TABLES = 256
ANYWHERE = [("djeco", 3), ("skip", 6), ("classic", 8)]
"""Tables of Nain Jaune for networks that play at any."""


def networks(folder: Path) -> Iterator[tuple[str, Checkpoint, Setup]]:
    """Yields each network of the registry in ``folder`` by name, with each of the setups at which it is compared."""
    for path in sorted(folder.glob("*/*.safetensors")):
        checkpoint = load_checkpoint(path)
        tables = [make_setup("nain_jaune", *table) for table in ANYWHERE] if checkpoint.common else [checkpoint.setup]
        for setup in tables:
            yield f"{path.parent.name}/{path.stem}", checkpoint, setup


def pairs(folder: Path) -> Iterator[tuple[str, Setup, NetAgent, NetAgent]]:
    """Yields each of :func:`networks` with its setup, without torch and by torch."""
    for name, checkpoint, setup in networks(folder):
        nets = playing_net(checkpoint, setup, name), build_net(checkpoint, setup, name)
        ours, by_torch = (NetAgent(who, net) for who, net in zip(("ours", "torch"), nets, strict=True))
        yield name, setup, ours, by_torch


def compared(setup: Setup, agent: PolicyAgent, other: PolicyAgent, decisions: int, seed: int) -> tuple[int, int, float]:
    """Returns how many decisions were made, at how many the likeliest actions differ, and the largest difference of legal logits.

    A third of the actions are drawn at random, so that positions differ. The difference is over the standard deviation of logits.
    """
    batch, rng = Batch(setup, TABLES, seed=seed), np.random.default_rng(seed)
    states = RecurrentStates(batch, [agent, other])
    made = differing = 0
    largest = 0.0
    while made < decisions:
        logits = []
        for number, each in enumerate((agent, other)):
            to_make = states.decision_batch(number, np.arange(TABLES))
            logits.append(each.logits(to_make))
            states.keep(number, to_make)
        chosen, choice = (greedy(scores, batch.legal) for scores in logits)
        made += TABLES
        differing += int((chosen != choice).sum())
        ours, theirs = (scores[batch.mask] for scores in logits)
        largest = max(largest, float(np.abs(ours - theirs).max() / theirs.std()))
        anything = greedy(rng.random(logits[0].shape, np.float32), batch.legal)
        batch.step(np.where(rng.random(TABLES) < 1 / 3, anything, chosen))
        states.stepped()
    return made, differing, largest


def least(uses: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Returns the least seconds of processor time of each of ``uses``, which take turns."""
    seconds = dict.fromkeys(uses, np.inf)
    for use in uses.values():
        use()
    for _ in range(repeats):
        for name, use in uses.items():
            begun = time.process_time()
            use()
            seconds[name] = min(seconds[name], time.process_time() - begun)
    return seconds


def uses_of(setup: Setup, agent: NetAgent, deals: int) -> dict[str, Callable[[], object]]:
    """Returns what is timed by its name."""
    batch, rng = Batch(setup, 1024, seed=5), np.random.default_rng(0)
    for _ in range(10):
        batch.step(greedy(rng.random((1024, batch.num_actions), np.float32), batch.legal))

    def decisions(tables: NDArray[np.int64]) -> DecisionBatch:
        return DecisionBatch(batch, tables, np.zeros((len(tables), agent.net.recurrent), np.float32))

    ones, many = [decisions(np.array([table])) for table in range(64)], decisions(np.arange(1024))

    def duplicate(player: Agent, count: int) -> Callable[[], object]:
        return lambda: FieldAlone(OwnGame(setup, 3), agent, count).edge(player)

    uses: dict[str, Callable[[], object]] = {
        "64 decisions one by one": lambda: [agent.act(one, rng) for one in ones],
        "1,024 decisions at once": lambda: agent.act(many, rng),
        f"{deals} duplicate deals": duplicate(NetAgent("twin", agent.net, stochastic=True), deals),
    }
    if not agent.net.recurrent:
        few = max(deals // 50, 1)
        for number in (8, 50):
            uses[f"{few} duplicate deals, search={number}"] = duplicate(searching(agent, number, setup), few)
    return uses


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000, help="in all (default: %(default)s)")
    parser.add_argument("--deals", type=int, default=500, help="of a timed match (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--timed", nargs="*", default=["strong/nain_jaune", "strong-1/djeco-4", "strong/batasaurus-2"])
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Compares and times everything and prints the tables."""
    options = parse(arguments)
    set_torch_threads(1)
    compared_nets = [*pairs(player_registry().folder)]
    print("| player | table | decisions | other choices | largest difference of logits |\n|---|---|---:|---:|---:|")
    total = np.zeros(2, np.int64)
    for name, setup, ours, by_torch in compared_nets:
        made, differing, largest = compared(setup, ours, by_torch, -(-options.decisions // len(compared_nets)), options.seed)
        total += made, differing
        print(f"| {name} | {setup.preset}, {setup.players} | {made} | {differing} | {largest:.1e} |", flush=True)
    print(f"| all | | {total[0]} | {total[1]} | |")
    print(f"\nThe same choice at {100 * (1 - total[1] / total[0]):.4f} % of the decisions.")
    print("\n| player | use | ms | ms by torch | times as fast |\n|---|---|---:|---:|---:|")
    timed: set[str] = set()
    for name, setup, *agents in compared_nets:
        if name in options.timed and name not in timed:
            timed.add(name)
            both = [uses_of(setup, agent, options.deals) for agent in agents]
            for use in both[0]:
                seconds = least({"ours": both[0][use], "torch": both[1][use]}, options.repeats)
                ours_ms, torch_ms = 1000 * seconds["ours"], 1000 * seconds["torch"]
                print(f"| {name} | {use} | {ours_ms:.1f} | {torch_ms:.1f} | {torch_ms / ours_ms:.2f} |", flush=True)


if __name__ == "__main__":
    main()
