"""Time to equal strength: our PPO and sb3-contrib's MaskablePPO, the same network and game, trained in turn in one run.

Each run is a configuration and knobs over it, as train.py takes them. Runs go on in turn: the one that has trained for the least
time comes next, up to its next measurement. At a growing distance of iterations the network's edge over a field of --against is
measured by duplicate deals, the same for all and every time. Seconds are those spent in iterations: compiling, measurements and
files do not count. Seconds of the processor are reported too; where the machine does other things by the side, go by them.

A level is reached where the line between two measurements first crosses it; its interval goes from where the upper end of the
95 % interval of the edge crosses it to where the lower one does. Whoever does not reach it has no time. Intervals are over deals:
they are those of one training seed (--seed), and another seed may lie outside of them.

Everything is kept in --out, network, optimizer and curve; called again, it goes on where it was (Ctrl-C is safe).

  python benchmarks/training.py --markdown       about half an hour on a quiet core; curve and table into docs/lab/speed.md
  python benchmarks/training.py --runs a=C.yaml b=C.yaml,epochs=6,iterations=20 --out runs/tuning --json runs/tuning.json
  python benchmarks/training.py --light          seconds: whether it runs at all
  python benchmarks/training.py --again --markdown    nothing is trained: table and plot of the figures that were taken last
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import figures
import numpy as np
from tqdm import tqdm

from nainjaune_agents.measure.edges import FieldAlone
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.players.networks.checkpoint import load_checkpoint, save_checkpoint
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_agents.train import get_trainer
from nainjaune_agents.train.config import apply_settings, build, read_yaml
from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import NainJauneError

CONFIGS = figures.ROOT / "configs" / "nain_jaune"
RUNS = [
    f"PPO, ours={CONFIGS / 'ppo_float32.yaml'}",
    f"MaskablePPO={CONFIGS / 'maskable_ppo.yaml'}",
    f"MaskablePPO, no past selves={CONFIGS / 'maskable_ppo.yaml'},opponents={{tally: 0.5, lowest: 0.5}}",
]
"""The runs. The third plays heuristics only, which takes less time, and the yardstick is one of them."""
PLOT = figures.ROOT / "docs" / "images" / "training_speed.svg"
LEVELS = [-0.2, 0.0, 0.1, 0.2, 0.3, 0.4]
"""Edges whose times are reported, in chips per round."""
EVAL_SEED = 2_718_281
"""Seed of the measurements, whose deals differ from those of the trainers' own evaluations."""
ONE_SEED = (
    "Intervals are over deals, for the networks of one training seed. The differences between training seeds are not in them: "
    "they are too narrow for a claim about the algorithms."
)
LIGHT = {"deals": 20, "measured": 2, "levels": [-10.0]}
LIGHT_KNOBS = {
    "ppo": {"iterations": 2, "tables": 8, "arch": {"hidden": [8]}, "eval_every": 0},
    "maskable_ppo": {"iterations": 2, "tables": 8, "minibatch": 64, "arch": {"hidden": [8]}, "eval_every": 0},
}


@dataclass(frozen=True)
class Point:
    """A measurement during a run."""

    iteration: int
    decisions: int
    seconds: float
    """Wall seconds of training since the run began."""
    processor_seconds: float
    edge: float
    """Chips (cards) per round over the field."""
    ci95: float


class Contestant:
    """One run in its own folder, with its checkpoint and its curve."""

    def __init__(self, name: str, config: Any, folder: Path, options: argparse.Namespace) -> None:
        self.name = name
        self.config = config
        self.folder = folder
        self.deals = options.deals
        self.against = options.against
        trainer = get_trainer(config.algorithm).Trainer
        trainer(config, config.setup()).iterate()  # thrown away: code is compiled and loaded before the clock runs
        self.trainer = trainer(config, config.setup())
        self.curve: list[Point] = []
        counts = np.geomspace(max(config.iterations / 64, 1), config.iterations, options.measured)
        self.due = sorted({round(count) for count in counts})
        self.resume()

    @property
    def seconds(self) -> float:
        """The number of iterations trained so far."""
        return self.curve[-1].seconds if self.curve else 0.0

    @property
    def done(self) -> bool:
        """Whether all iterations are done."""
        return bool(self.trainer.iteration >= self.config.iterations)

    def resume(self) -> None:
        """Resumes the run in the folder, if any; ValueError where it has another configuration."""
        curve_file = self.folder / "curve.json"
        if not (curve_file.exists() and (self.folder / "checkpoint.safetensors").exists()):
            return
        curve_data = json.loads(curve_file.read_text(encoding="utf-8"))
        wanted = {"config": self.config.to_dict(), "deals": self.deals, "against": self.against}
        if {key: curve_data[key] for key in wanted} != wanted:
            raise ValueError(f"{self.folder} holds a run that was made or measured in another way: choose another --out.")
        checkpoint = load_checkpoint(self.folder / "checkpoint.safetensors")
        self.trainer.restore(checkpoint)
        # the curve is written first: of a run that was killed between the two, the last stretch is made again
        self.curve = [Point(**point) for point in curve_data["curve"] if point["iteration"] <= checkpoint.iteration]

    def go_on(self, bar: Any) -> None:
        """Trains until the next measurement, and measures."""
        seconds, processor = self.seconds, self.curve[-1].processor_seconds if self.curve else 0.0
        goal = next(count for count in self.due if count > self.trainer.iteration)
        while self.trainer.iteration < goal:
            begun, begun_processor = time.perf_counter(), time.process_time()
            self.trainer.iterate()
            seconds += time.perf_counter() - begun
            processor += time.process_time() - begun_processor
            bar.update()
        setup = self.config.setup()
        field = FieldAlone(OwnGame(setup, EVAL_SEED), load_agent(self.against, setup), self.deals)
        edge = field.edge(NetAgent(self.name, self.trainer.net))
        self.curve.append(Point(self.trainer.iteration, self.trainer.decisions, seconds, processor, edge.mean, edge.ci95))
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / "curve.json", json.dumps(self.to_dict(), indent=1) + "\n")
        save_checkpoint(self.folder / "checkpoint.safetensors", self.trainer.checkpoint())

    def to_dict(self) -> dict[str, Any]:
        """Returns the run as JSON."""
        about = {"name": self.name, "config": self.config.to_dict(), "deals": self.deals, "against": self.against}
        return {**about, "curve": [asdict(point) for point in self.curve]}


def contestants(options: argparse.Namespace) -> list[Contestant]:
    """Returns all runs; raises NainJauneError for configurations that do not exist, ValueError for folders of other runs."""
    runs = []
    for name, path, settings in options.runs:
        values = read_yaml(path)
        common = {"threads": options.threads, "seed": options.seed, "eval_every": 0}
        light = LIGHT_KNOBS[str(values["algorithm"])] if options.light else {}
        values = apply_settings({**values, **common, **light}, settings)
        config = build(get_trainer(str(values["algorithm"])).Config, values)
        folder = options.out / "".join(c if c.isalnum() else "_" for c in name)
        runs.append(Contestant(name, config, folder, options))
    return runs


def take(options: argparse.Namespace) -> dict[str, Any]:
    """Trains all runs in turn."""
    about = figures.where_and_when("torch", "stable-baselines3", "sb3-contrib")
    runs = contestants(options)
    total, begun = sum(run.config.iterations for run in runs), sum(run.trainer.iteration for run in runs)
    with tqdm(total=total, initial=begun, unit="iteration", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
        while unfinished := [run for run in runs if not run.done]:
            run = min(unfinished, key=lambda run: run.seconds)
            run.go_on(bar)
            last = run.curve[-1]
            bar.write(f"{run.name}: {last.seconds:.1f} s, {last.edge:+.3f} ± {last.ci95:.3f}", file=sys.stderr)
    setup = runs[0].config.setup()
    game = {"preset": setup.preset, "players": setup.players, "unit": setup.game.unit}
    return {
        "about": about,
        "game": game,
        "threads": options.threads,
        "seed": options.seed,
        "runs": [run.to_dict() for run in runs],
    }


# ---- what the figures say ---------------------------------------------------------------------------------------------------


def reached(curve: list[dict[str, float]], clock: str, level: float, side: float) -> float | None:
    """Returns the seconds when the line through ``edge + side * ci95`` first reaches ``level``; None where it never does."""
    before: tuple[float, float] | None = None
    for point in curve:
        at, height = point[clock], point["edge"] + side * point["ci95"]
        if height >= level:
            if before is None:
                return at  # it was there at the first measurement, or before
            return before[0] + (at - before[0]) * (level - before[1]) / (height - before[1])
        before = at, height
    return None


def in_seconds(value: float | None) -> str:
    """Formats whole seconds; a dash for never."""
    return "–" if value is None else f"{value:,.0f} s"


def level_table(results: dict[str, Any], levels: list[float], clock: str) -> str:
    """Returns the table of seconds to each level for each run, with the ratios to the first run."""
    first, *others = results["runs"]
    head = ["edge", *(run["name"] for run in results["runs"]), *(f"{run['name']} ÷ {first['name']}" for run in others)]
    rows = []
    for level in levels:
        # earliest, the line itself, latest
        times = [[reached(run["curve"], clock, level, side) for side in (1.0, 0.0, -1.0)] for run in results["runs"]]
        cells = [f"{in_seconds(mid)} ({in_seconds(early)} – {in_seconds(late)})" for early, mid, late in times]
        for early, mid, late in times[1:]:
            mine_early, mine, mine_late = times[0]
            if mid is None or mine is None:
                cells.append("–")
                continue
            low = f"{figures.in_times(early / mine_late)}" if early is not None and mine_late else "?"
            high = f"{figures.in_times(late / mine_early)}" if late is not None and mine_early else "?"
            cells.append(f"**{figures.in_times(mid / mine)}** ({low} – {high})")
        rows.append([f"{level:+.2f}", *cells])
    return figures.table(head, rows)


def report(results: dict[str, Any], levels: list[float]) -> str:
    """Returns all figures as Markdown."""
    game, first = results["game"], results["runs"][0]
    network = first["config"]["arch"]
    measured = f"{first['deals']:,} deals each time (seed {EVAL_SEED}), over a field of `{first['against']}`"
    ends = [
        [
            run["name"],
            f"{run['curve'][-1]['iteration']:,}",
            f"{run['curve'][-1]['decisions']:,}",
            f"{run['curve'][-1]['seconds']:,.0f} s ({run['curve'][-1]['processor_seconds']:,.0f} s)",
            figures.in_words(run["curve"][-1]["decisions"] / run["curve"][-1]["seconds"]),
            f"{run['curve'][-1]['edge']:+.3f} ± {run['curve'][-1]['ci95']:.3f}",
        ]
        for run in results["runs"]
    ]
    parts = [
        figures.in_a_sentence(results["about"]),
        f"`{game['preset']}`, {game['players']} seats, a {'×'.join(map(str, network['hidden']))} net, "
        f"{results['threads']} thread(s), training seed {results['seed']}; {measured}.",
        f"\n{ONE_SEED}\n\nTo the end of each run ({game['unit']} a round, ± 95 % over deals):\n",
        figures.table(["", "iterations", "decisions", "seconds (of the processor)", "decisions a second", "edge"], ends),
        "\nSeconds to an edge, and from where to where its interval reaches:\n",
        level_table(results, levels, "seconds"),
        "\nThe same in seconds of the processor:\n",
        level_table(results, levels, "processor_seconds"),
    ]
    return "\n".join(parts)


def plot(results: dict[str, Any], path: Path) -> None:
    """Plots edges against seconds."""
    from plots import BATCHED, OURS, figure, save

    unit, against = results["game"]["unit"], results["runs"][0]["against"]
    title = f"Strength against time of training, {results['game']['preset']}, {results['threads']} thread(s)"
    chart, axes = figure(title, "seconds of training", f"{unit} a round over {against}")
    for number, run in enumerate(results["runs"]):
        colour = OURS[0] if number == 0 else BATCHED[(number - 1) % len(BATCHED)]
        at, edge, half = (np.array([point[key] for point in run["curve"]]) for key in ("seconds", "edge", "ci95"))
        axes.plot(at, edge, color=colour, marker="o", ms=3, label=run["name"])
        axes.fill_between(at, edge - half, edge + half, color=colour, alpha=0.2, lw=0)
    axes.axhline(0, color="#888888", lw=0.8)
    axes.set_xscale("log")
    save(chart, axes, path)


# ---- the command ------------------------------------------------------------------------------------------------------------


def run_of(text: str) -> tuple[str, Path, list[str]]:
    """Parses ``name=config.yaml,key=value,key=value``."""
    name, _, rest = text.partition("=")
    path, *settings = re.split(r",(?![^{]*\})", rest)  # not within braces
    if not name or not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"a run is name=config.yaml,key=value,… with a file that exists, not {text!r}")
    return name, Path(path), settings


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    runs = [run_of(text) for text in RUNS]
    parser.add_argument(
        "--runs",
        type=run_of,
        nargs="+",
        default=runs,
        metavar="NAME=CONFIG[,KEY=VALUE…]",
        help="the runs to train (ours and theirs)",
    )
    parser.add_argument("--threads", type=int, default=1, help="torch's threads in all runs (1)")
    parser.add_argument("--seed", type=int, default=0, help="seed of training (0)")
    parser.add_argument("--against", default="closer", help="the agent of the field (closer)")
    parser.add_argument("--deals", type=int, default=6000, help="deals of a measurement (6000)")
    parser.add_argument("--measured", type=int, default=24, help="measurements per run, at growing intervals (24)")
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS, metavar="EDGE", help="edges to reach (-0.2 … 0.4)")
    parser.add_argument("--out", type=Path, default=figures.ROOT / "runs" / "training_speed", help="the folder of all runs")
    parser.add_argument("--light", action="store_true", help="tiny runs, only to check that it works")
    parser.add_argument("--again", action="store_true", help="train nothing; print the figures of --json")
    figures.add_output_options(parser, "training", PLOT)
    options = parser.parse_args(arguments)
    if options.light:
        vars(options).update(LIGHT)
    if options.threads < 1 or options.deals < 2 or options.measured < 1 or options.seed < 0:
        parser.error("--threads and --measured are 1 or more, --deals 2 or more, --seed 0 or more")
    if options.again and not options.json.exists():
        parser.error(f"--again tells the figures of {options.json}, and there is no such file")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Trains, prints and writes the figures."""
    options = parse(arguments)
    if options.again:
        results = figures.read(options.json)
    else:
        try:
            results = take(options)
        except (NainJauneError, ValueError) as error:
            sys.exit(str(error))
        figures.write(options.json, results)
    figures.publish(options, "training", report(results, options.levels), functools.partial(plot, results), PLOT)


if __name__ == "__main__":
    main()
