"""What training time buys: runs of growing length, for several networks, presets and training seeds, each with its own schedule.

Every run is complete: its learning rate goes from the first value to the last, so a run of 16 times the length is not the
continuation of a shorter one. Its network is rated, by duplicate deals that no training uses, over a field of ``closer`` and over
a field of --yardstick; with --search also what a search over the network gains in the network's own field. Time is that of the
processor, as read by the training process, without compilation and evaluations.

The results are kept in --json after each run; called again, only what is missing is trained (Ctrl-C is safe).

  python benchmarks/scaling.py --markdown                     hours on one core; table and plot into docs/lab/scaling.md
  python benchmarks/scaling.py --presets djeco --networks mlp:128x128 --iterations 150 --seeds 3
  python benchmarks/scaling.py --presets djeco --networks mlp:128x128 --iterations 4800 --set minibatch=16384
                                                              the same with other settings, kept beside those of the file
  python benchmarks/scaling.py --again --markdown             nothing is trained: the page from the results so far
  python benchmarks/scaling.py --light                        seconds: whether it runs at all
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import figures
import numpy as np
from tqdm import tqdm

from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.stats.training_seeds import over_seeds
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import save_checkpoint
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.config import apply_settings, build, read_yaml

CONFIG = figures.ROOT / "configs" / "nain_jaune" / "ppo.yaml"
PAGE = figures.ROOT / "docs" / "lab" / "scaling.md"
PLOT = figures.ROOT / "docs" / "images" / "scaling.svg"
RATING_SEED = 3_141_592
"""Seed of the ratings of training seed 0, whose deals differ from those of the trainers' own evaluations; seed 1 has the next."""
KNOBS: dict[str, Any] = {"bf16": True, "overlap": False, "threads": 1, "eval_every": 0}
"""Values over those of the configuration."""
LIGHT: dict[str, Any] = {"presets": ["djeco"], "networks": ["mlp:8"], "iterations": [2], "seeds": 2, "deals": 20, "search": 4}
LIGHT_KNOBS: dict[str, Any] = {"tables": 16, "bf16": False}


def network(text: str) -> dict[str, Any]:
    """Returns the keys of a configuration for ``mlp:128x128`` or ``residual:256x256``."""
    name, _, widths = text.partition(":")
    hidden = [int(width) for width in widths.split("x")]
    return {"arch": {"name": name, **({"width": hidden[0], "blocks": len(hidden)} if name == "residual" else {"hidden": hidden})}}


def train(knobs: dict[str, Any], folder: Path, bar: Any) -> dict[str, Any]:
    """Trains a run to its end and saves its network; returns what it took, and the entropy in the run's last tenth, in nats."""
    config = build(get_trainer("ppo").Config, {**read_yaml(CONFIG), **knobs})
    trainer_class = get_trainer("ppo").Trainer
    trainer_class(config, config.setup()).iterate()  # not kept: code is compiled and loaded before the clock runs
    trainer = trainer_class(config, config.setup())
    wall, processor = time.perf_counter(), time.process_time()
    entropies = []
    while trainer.iteration < config.iterations:
        entropies.append(trainer.iterate()["rollout/entropy"])
        bar.update()
    took = {"seconds": time.perf_counter() - wall, "processor_seconds": time.process_time() - processor}
    folder.mkdir(parents=True, exist_ok=True)
    save_checkpoint(folder / "checkpoint.safetensors", trainer.checkpoint())
    return {**took, "decisions": trainer.decisions, "entropy": float(np.mean(entropies[-max(config.iterations // 10, 1) :]))}


def rate(run: dict[str, Any], folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Returns the edges of the network in ``folder``: over both fields, and of a search over it in its own field."""
    setup = build(get_trainer("ppo").Config, {**read_yaml(CONFIG), "preset": run["preset"]}).setup()
    path = str(folder)
    pairs = {"closer": (path, "closer", options.deals), "yardstick": (path, options.yardstick, options.deals)}
    if options.search_deals and run["seed"] == 0:
        pairs["search"] = (f"{path}@search={options.search}", path, options.search_deals)
    edges: dict[str, Any] = {}
    rating_seed = RATING_SEED + run["seed"]
    for name, (hero, field, deals) in pairs.items():
        edge = FieldAlone(OwnGame(setup, rating_seed), load_agent(field, setup), deals).edge(load_agent(hero, setup))
        edges[name] = {"mean": edge.mean, "ci95": edge.ci95, "deals": deals, "seed": rating_seed}
    return edges


def key(run: dict[str, Any]) -> tuple[Any, ...]:
    """Returns what distinguishes one run from the others."""
    return run["preset"], run["network"], run["iterations"], run["seed"], run.get("settings", "")


def planned(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns the runs in their order, the short ones first. The first length alone has several training seeds."""
    shortest = min(options.iterations)
    return [
        {"preset": preset, "network": net, "iterations": iterations, "seed": seed, "settings": " ".join(options.set)}
        for iterations in sorted(options.iterations)
        for preset, net in product(options.presets, options.networks)
        for seed in range(options.seeds if iterations == shortest else 1)
    ]


def take(options: argparse.Namespace) -> dict[str, Any]:
    """Trains and rates the runs that the results do not have yet; writes the results after each of them."""
    results = figures.read(options.json) or {"runs": []}
    have = {key(run) for run in results["runs"]}
    missing = [run for run in planned(options) if key(run) not in have]
    for run in missing:
        run_name = re.sub(r"[^\w.=-]+", "-", "-".join(str(word) for word in key(run) if word != ""))
        with tqdm(
            total=run["iterations"], unit="iteration", file=sys.stderr, desc=run_name, dynamic_ncols=True, leave=False
        ) as bar:
            knobs = {**KNOBS, **network(run["network"]), **(LIGHT_KNOBS if options.light else {})}
            knobs |= {"preset": run["preset"], "iterations": run["iterations"], "seed": run["seed"]}
            knobs = apply_settings(knobs, options.set)
            folder = options.out / run_name
            run |= train(knobs, folder, bar)
            run["edges"] = rate(run, folder, options)
        results["runs"].append(run)
        results["about"] = figures.where_and_when("torch")
        results |= {"yardstick": options.yardstick, "search": options.search}
        figures.write(options.json, results)
    return results


def grouped(results: dict[str, Any]) -> dict[tuple[str, str], dict[int, list[dict[str, Any]]]]:
    """Returns the runs by preset and network (and settings over the file's), then by length: those of all training seeds."""
    runs_of: dict[tuple[str, str], dict[int, list[dict[str, Any]]]] = {}
    for run in sorted(results["runs"], key=key):
        described = f"{run['network']} {run.get('settings', '')}".rstrip()
        runs_of.setdefault((run["preset"], described), {}).setdefault(run["iterations"], []).append(run)
    return runs_of


def in_cell(runs: list[dict[str, Any]], name: str) -> str:
    """Returns the edge called ``name`` of the runs of several training seeds: mean, interval, and the worst of them.

    Older results have no seeds of ratings, as all were of the same deals.
    """
    edges = [run["edges"][name] for run in runs if name in run["edges"]]
    if not edges:
        return "–"
    means = [edge["mean"] for edge in edges]
    if len(edges) == 1:
        return f"{means[0]:+.3f} ± {edges[0]['ci95']:.3f}"
    same_deals = len({edge.get("seed") for edge in edges}) < len(edges)
    mean = over_seeds(means, [edge["ci95"] for edge in edges], same_deals=same_deals)
    return f"{mean.mean:+.3f} ± {mean.ci95:.3f} (worst {min(means):+.3f})"


def report(results: dict[str, Any]) -> str:
    """Returns all results as Markdown."""
    rows = []
    for (preset, net), lengths in grouped(results).items():
        for iterations, runs in lengths.items():
            took = np.mean([run["processor_seconds"] for run in runs])
            decisions = np.mean([run["decisions"] for run in runs])
            edges = [in_cell(runs, name) for name in ("closer", "yardstick", "search")]
            entropies = [run["entropy"] for run in runs if "entropy" in run]  # older results have none
            edges.append(f"{np.mean(entropies):.3f}" if entropies else "–")
            rows.append(
                [f"`{preset}`", net, f"{iterations:,}", f"{decisions / 1e6:.1f} M", f"{took:,.0f} s", str(len(runs)), *edges]
            )
    head = ["sheet", "network", "iterations", "decisions", "processor", "training seeds", "over `closer`"]
    head += [f"over `{results['yardstick']}`", f"gain of `@search={results['search']}`", "entropy"]
    return f"{figures.in_a_sentence(results['about'])}\n\n{figures.table(head, rows)}"


def plot(results: dict[str, Any], path: Path) -> None:
    """Plots edges over ``closer`` against processor seconds."""
    from plots import BATCHED, figure, save

    chart, axes = figure("What training time buys", "seconds of a processor", "chips a round over closer")
    for number, ((preset, net), lengths) in enumerate(grouped(results).items()):
        points = [(run["processor_seconds"], run["edges"]["closer"]) for runs in lengths.values() for run in runs]
        at, edges = zip(*sorted(points, key=lambda point: point[0]), strict=True)
        label, colour = f"{preset}, {net}", BATCHED[number % len(BATCHED)]
        axes.errorbar(
            at, [edge["mean"] for edge in edges], yerr=[edge["ci95"] for edge in edges],
            color=colour, marker="o", ms=3, lw=1, label=label,
        )  # fmt: skip
    axes.axhline(0, color="#888888", lw=0.8)
    axes.set_xscale("log")
    save(chart, axes, path)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["djeco", "classic"], help="the presets (djeco classic)")
    parser.add_argument(
        "--networks", nargs="+", default=["mlp:128x128", "mlp:256x256", "mlp:512x512x512"], metavar="ARCH:WIDTHS",
        help="architectures and widths (mlp:128x128 mlp:256x256 mlp:512x512x512)",
    )  # fmt: skip
    parser.add_argument("--iterations", type=int, nargs="+", default=[150, 600, 2400], help="lengths of the runs (150 600 2400)")
    parser.add_argument("--seeds", type=int, default=3, help="training seeds of the shortest length (3)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of ppo.yaml (VALUE: YAML)"
    )
    parser.add_argument("--yardstick", default="zoo:strong-1", help="the second field (zoo:strong-1)")
    parser.add_argument("--deals", type=int, default=6000, help="deals of a rating (6000)")
    parser.add_argument("--search", type=int, default=50, help="determinizations of the search over the network (50)")
    parser.add_argument("--search-deals", type=int, default=300, help="deals of its rating, 0 for none (300)")
    parser.add_argument("--out", type=Path, default=figures.ROOT / "runs" / "scaling", help="the folder of the networks")
    parser.add_argument("--light", action="store_true", help="tiny runs, only to check that it works")
    parser.add_argument("--again", action="store_true", help="train nothing; report the results of --json")
    figures.add_output_options(parser, "scaling", PLOT)
    parser.set_defaults(page=PAGE)
    options = parser.parse_args(arguments)
    if options.light:
        vars(options).update({**LIGHT, "search_deals": 2})
    if min(options.iterations) < 1 or options.seeds < 1 or options.deals < 2 or options.search < 1 or options.search_deals < 0:
        parser.error("--iterations, --seeds and --search are 1 or more, --deals 2 or more, --search-deals 0 or more")
    given = {setting.partition("=")[0] for setting in options.set}
    if taken := sorted(given & {"preset", "arch", "iterations", "seed"}):
        parser.error(f"--set {taken[0]}=…: --presets, --networks, --iterations and --seeds say that")
    if options.again and not options.json.exists():
        parser.error(f"--again reports the results of {options.json}, and there is no such file")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Trains, rates, prints and writes the results."""
    options = parse(arguments)
    results = figures.read(options.json) if options.again else take(options)
    figures.publish(options, "scaling", report(results), functools.partial(plot, results), PLOT)


if __name__ == "__main__":
    main()
