"""Compares the ONNX copies of networks, which onnxruntime computes, with the networks as agents play them.

With every network of the registry both choose at every decision of rounds; shown is how often the choices differ, and the largest
difference of logits, over their spread. Then the edge of each copy over a field of its original, by duplicate play.

  python benchmarks/onnx_copies.py --decisions 1000000 --deals 3000 --seed 1
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from without_torch import compared, networks

from nainjaune_agents.base.devices import set_torch_threads
from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.report.format_ci import mean_of_deals
from nainjaune_agents.players.foreign.onnx_model import OnnxAgent, load
from nainjaune_agents.players.networks.net_agent import NetAgent, playing_net
from nainjaune_agents.players.networks.onnx_export import write_onnx
from nainjaune_agents.players.zoo import player_registry
from nainjaune_env.core.spec import Setup


def copy_of(agent: NetAgent, setup: Setup, folder: Path) -> OnnxAgent:
    """Returns the player of the ONNX file of ``agent``, which is written to ``folder``."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "copy.onnx"
    write_onnx(path, agent, setup)
    return load(f"onnx:{path}", setup)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1_000_000, help="in all (default: %(default)s)")
    parser.add_argument("--deals", type=int, default=3000, help="of each edge (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Compares everything and prints the table."""
    options = parse(arguments)
    set_torch_threads(1)
    nets = [*networks(player_registry().folder)]
    print("| player | table | decisions | other choices | largest difference of logits | edge of the copy |")
    print("|---|---|---:|---:|---:|---:|")
    total = np.zeros(2, np.int64)
    with tempfile.TemporaryDirectory() as folder:
        for name, checkpoint, setup in nets:
            agent = NetAgent(name, playing_net(checkpoint, setup, name))
            copied = copy_of(agent, setup, Path(folder))
            made, differing, largest = compared(setup, agent, copied, -(-options.decisions // len(nets)), options.seed)
            total += made, differing
            edge = FieldAlone(OwnGame(setup, options.seed), agent, options.deals).edge(copied)
            gain = mean_of_deals(edge.moments)
            print(f"| {name} | {setup.preset}, {setup.players} | {made} | {differing} | {largest:.1e} | {gain} |", flush=True)
    print(f"| all | | {total[0]} | {total[1]} | | |")
    print(f"\nThe same choice at {100 * (1 - total[1] / total[0]):.4f} % of the decisions.")


if __name__ == "__main__":
    main()
