"""Simulates 10, 100 and 1,000 workers at a tournament, at labels and at PPO: with which shards, and what fails first.

The simulation has discrete events (``cluster_model.py``, with SimPy). Its times were measured on one machine or are assumed; they
stand with their sources in the file --times. --calibrate measures them anew, on a machine with nothing else to do, in less than a
minute once code is compiled. The same times and the same seed give the same tables.

  python benchmarks/scale_simulation.py                        tables for the times in benchmarks/taken/cluster_times.json
  python benchmarks/scale_simulation.py --markdown             the same into docs/lab/scale.md, with its plots
  python benchmarks/scale_simulation.py --calibrate --times here.json
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import figures
import numpy as np
from cluster_model import Farm, FarmOutcome, Training, TrainingOutcome, run_farm, run_training

PAGE = figures.ROOT / "docs" / "lab" / "scale.md"
SHARDS_PLOT = figures.ROOT / "docs" / "images" / "scale_shards.svg"
PPO_PLOT = figures.ROOT / "docs" / "images" / "scale_ppo.svg"
TIMES = figures.TAKEN / "cluster_times.json"
WORKERS = (10, 100, 1000)
SHARD_SECONDS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0)
"""Lengths of a shard that are compared; the first is about that of the tournament's own shards."""
MAX_DRIVER_SHARE = 0.95
"""Share of the time from which on the driver is what limits."""
PPO_DECISIONS, PPO_STEPS, PPO_BATCH = 10**9, 16, 2**19
"""Of the run; gradient steps and decisions of an iteration."""
SAVE_SECONDS, MAX_ATTEMPTS = 120.0, 6
"""The time between checkpoints, and attempts from the same one, of training with ``workers``."""


class Times:
    """The times of a file, as attributes."""

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries

    def __getattr__(self, name: str) -> Any:
        return self.entries[name]["value"]


@dataclass(frozen=True)
class Work:
    """Independent units of work, which shards consist of."""

    name: str
    count: int
    unit: str
    seconds: float
    """Of a worker, for each."""
    merge_seconds: float
    """Of the driver, for each shard."""
    merge_unit_seconds: float
    """Of the driver, for each unit."""
    bytes: float
    """Of the result, for each unit."""


def works(times: Times) -> list[Work]:
    """Returns what is simulated."""
    deals = functools.partial(
        Work, count=10**9, unit="deals", merge_seconds=times.merge_seconds, merge_unit_seconds=times.merge_deal_seconds,
        bytes=times.deal_bytes,
    )  # fmt: skip
    labels = (times.label_seconds, times.merge_seconds, times.merge_label_seconds, times.label_bytes)
    return [
        deals(name="10⁹ deals, rules of thumb", seconds=times.deal_seconds),
        deals(name="10⁹ deals, one player searches", seconds=times.search_seconds),
        Work("10⁷ searched labels", 10**7, "labels", *labels),
    ]


def farm(work: Work, times: Times, workers: int, size: int) -> Farm:
    """Returns the cluster that plays shards of ``size`` units."""
    transfer = size * work.bytes / times.bytes_per_second  # to the driver, whose network is one for all
    return Farm(
        workers,
        size * work.seconds,
        ratios=tuple(times.ratios),
        slow_share=times.slow_share,
        slow_factor=times.slow_factor,
        dispatch_seconds=times.dispatch_seconds,
        wait_seconds=times.wait_seconds,
        merge_seconds=work.merge_seconds + size * work.merge_unit_seconds + transfer,
        start_seconds=times.start_seconds,
        lost_after_seconds=3600 * times.lost_after_hours,
        detect_seconds=times.detect_seconds,
        replace_seconds=times.replace_seconds,
    )


def played(work: Work, times: Times, workers: int, seconds: float, seed: int) -> dict[str, Any]:
    """Returns what shards of about so many ``seconds`` come to."""
    size = min(work.count, max(1, round(seconds / work.seconds)))
    shards = -(-work.count // size)
    outcome = run_farm(farm(work, times, workers, size), shards, seed)
    efficiency = work.count * work.seconds / (workers * outcome.seconds)
    return {"workers": workers, "size": size, "shards": shards, "outcome": outcome, "efficiency": efficiency}


def limit(case: dict[str, Any], times: Times) -> str:
    """Returns what costs most of the workers' time."""
    outcome: FarmOutcome = case["outcome"]
    if outcome.driver_share > MAX_DRIVER_SHARE:
        return "the driver"
    mean = float(np.mean(times.ratios)) * (1 + times.slow_share * (times.slow_factor - 1))
    spent = {
        "stragglers": 1 - 1 / mean,
        "lost shards": outcome.lost_share / 2,  # in the mean half of one was played
        "start of workers": times.start_seconds / outcome.seconds,
    }
    spent["the last shards"] = 1 - case["efficiency"] - sum(spent.values())
    return max(spent, key=lambda name: spent[name])


def exchange_seconds(times: Times, workers: int, reduction: str) -> float:
    """Returns the time of one exchange of gradients.

    ``ordered``: every process receives the gradient of every other one and adds it; what was measured between two is taken as
    often as there are others. ``all_reduce``: gloo's ring of 2 (n - 1) messages, each an n-th of the gradient.
    """
    if workers == 1:
        return 0.0
    if reduction == "ordered":
        return float(times.gather_seconds * (workers - 1))
    size = 4 * times.weights / workers
    ring = 2 * (workers - 1) * (times.hop_seconds + size / times.bytes_per_second)
    return float(max(times.reduce_seconds, ring))


def trained(times: Times, workers: int, reduction: str, lost: bool, seed: int, save: float = SAVE_SECONDS) -> dict[str, Any]:
    """Returns what a PPO run comes to, where workers are ``lost`` or not, with checkpoints after ``save`` seconds or more."""
    iterations = -(-PPO_DECISIONS // PPO_BATCH)
    phase = PPO_BATCH * times.decision_seconds / workers / 2  # half of it rounds, half of it gradients
    training = Training(
        workers,
        iterations,
        PPO_STEPS,
        rollout_seconds=phase,
        step_seconds=phase / PPO_STEPS,
        exchange_seconds=exchange_seconds(times, workers, reduction),
        ratios=tuple(times.ratios),
        lost_after_seconds=3600 * times.lost_after_hours if lost else np.inf,
        restart_seconds=times.restart_seconds,
        checkpoint_seconds=save,
        most_attempts=MAX_ATTEMPTS,
    )
    ideal = 2 * phase * workers * iterations
    about = {"workers": workers, "reduction": reduction, "lost": lost, "save": save, "ideal": ideal}
    return {**about, "outcome": run_training(training, seed)}


def simulate(times: Times, seed: int) -> dict[str, Any]:
    """Returns all cases."""
    farms = {
        work.name: [[played(work, times, workers, seconds, seed) for seconds in SHARD_SECONDS] for workers in WORKERS]
        for work in works(times)
    }
    counts = (1, *WORKERS)
    ppo = [
        trained(times, workers, reduction, lost, seed, save)
        for reduction in ("ordered", "all_reduce")
        for lost, save in ((False, SAVE_SECONDS), (True, SAVE_SECONDS), (True, 0.0))
        for workers in counts
    ]
    return {"farms": farms, "ppo": ppo}


# ---- tables --------------------------------------------------------------------------------------------------------------


def in_time(seconds: float) -> str:
    """Returns a time in the largest unit of which it is at least two."""
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.3g} s"


def farm_rows(results: dict[str, Any], times: Times) -> list[list[str]]:
    """Returns a row for each work and number of workers: the shards with which it ends first."""
    rows = []
    for work in works(times):
        for cases in results["farms"][work.name]:
            best = min(cases, key=lambda case: case["outcome"].seconds)
            outcome: FarmOutcome = best["outcome"]
            rows.append(
                [
                    work.name,
                    f"{best['workers']:,}",
                    f"{best['size']:,} {work.unit}, {in_time(best['size'] * work.seconds)}",
                    f"{best['shards']:,}",
                    in_time(outcome.seconds),
                    f"{int(1000 * best['efficiency']) / 10:.1f} %",
                    f"{100 * outcome.driver_share:.1f} %",
                    limit(best, times),
                ]
            )
    return rows


def ppo_rows(results: dict[str, Any]) -> list[list[str]]:
    """Returns a row for each case of training."""
    rows = []
    for case in results["ppo"]:
        outcome: TrainingOutcome = case["outcome"]
        rows.append(
            [
                f"`{case['reduction']}`",
                f"{case['workers']:,}",
                "yes" if case["lost"] else "no",
                in_time(case["save"]) if case["save"] else "every iteration",
                in_time(outcome.seconds) if outcome.finished else f"given up after {in_time(outcome.seconds)}",
                f"{figures.in_times(case['ideal'] / outcome.seconds)} ×" if outcome.finished else "–",
                str(outcome.restarts),
            ]
        )
    return rows


def time_rows(times: Times) -> list[list[str]]:
    """Returns a row for each time that went in."""
    rows = []
    for name, entry in times.entries.items():
        value = entry["value"]
        text = f"{min(value):.2f} to {max(value):.2f}" if isinstance(value, list) else f"{value:,.3g}"
        rows.append([f"`{name}`", f"{text} {entry['unit']}".strip(), entry["source"]])
    return rows


def report(results: dict[str, Any], measured: dict[str, Any], seed: int) -> str:
    """Returns all tables as Markdown."""
    times = Times(measured["times"])
    head = ["work", "workers", "best shard", "shards", "time", "of the ideal", "driver busy", "what costs most"]
    ppo_head = ["`reduction`", "workers", "preempted", "checkpoints", "time", "times one worker", "restarts"]
    return "\n\n".join(
        [
            f"Seed {seed}. Shards compared: {', '.join(in_time(seconds) for seconds in SHARD_SECONDS)} of a worker.",
            figures.table(head, farm_rows(results, times)),
            f"PPO, {PPO_DECISIONS:,} decisions, {PPO_BATCH:,} an iteration, {PPO_STEPS} gradient steps each:",
            figures.table(ppo_head, ppo_rows(results)),
            "The times that went in:",
            figures.table(["time", "value", "source"], time_rows(times)),
            f"Measured {figures.in_a_sentence(measured['about'])}",
        ]
    )


# ---- plots ---------------------------------------------------------------------------------------------------------------


def plot_shards(results: dict[str, Any], path: Path) -> None:
    """Plots the share of the ideal speed against the length of shards."""
    from plots import OURS, figure, save

    chart, axes = figure("Simulated: the length of a shard", "seconds of a shard", "share of the ideal speed")
    for (name, by_workers), style in zip(results["farms"].items(), ("-", "--", ":"), strict=True):
        for cases, colour in zip(by_workers, OURS, strict=False):
            label = f"{name}, {cases[0]['workers']:,} workers"
            axes.plot(
                SHARD_SECONDS, [case["efficiency"] for case in cases], label=label, color=colour, ls=style, marker="o", ms=3
            )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    save(chart, axes, path)


def plot_ppo(results: dict[str, Any], path: Path) -> None:
    """Plots the speed of training against the number of workers; a run that was given up has no point."""
    from plots import OURS, figure, save

    chart, axes = figure("Simulated: PPO by many processes", "workers", "times as fast as one")
    for reduction, colour in zip(("ordered", "all_reduce"), OURS, strict=False):
        for lost, save_seconds, style in ((False, SAVE_SECONDS, "-"), (True, SAVE_SECONDS, "--"), (True, 0.0, ":")):
            chosen = (reduction, lost, save_seconds)
            cases = [case for case in results["ppo"] if (case["reduction"], case["lost"], case["save"]) == chosen]
            done = [case for case in cases if case["outcome"].finished]
            label = f"{reduction}{', preempted' if lost else ''}{'' if save_seconds else ', all iterations saved'}"
            at, speed = [case["workers"] for case in done], [case["ideal"] / case["outcome"].seconds for case in done]
            axes.plot(at, speed, label=label, color=colour, ls=style, marker="o", ms=3)
    axes.plot((1, WORKERS[-1]), (1, WORKERS[-1]), label="ideal", color="#888888", lw=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    save(chart, axes, path)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Returns the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrate", action="store_true", help="measure the times on this machine, and write them to --times")
    parser.add_argument(
        "--times", type=Path, default=TIMES, metavar="FILE", help="the times (benchmarks/taken/cluster_times.json)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all draws (0)")
    parser.add_argument("--markdown", action="store_true", help="put the tables into --page, and draw the plots it shows")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="the page (docs/lab/scale.md)")
    parser.add_argument("--plots", type=Path, nargs=2, default=[SHARDS_PLOT, PPO_PLOT], metavar=("SHARDS", "PPO"))
    options = parser.parse_args(arguments)
    if not options.calibrate and not options.times.exists():
        parser.error(f"There are no times at {options.times}: --calibrate measures and writes them.")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Simulates, prints and writes."""
    options = parse(arguments)
    if options.calibrate:
        from cluster_times import measure

        figures.write(options.times, {"about": figures.where_and_when("ray", "torch"), "times": measure()})
    measured = figures.read(options.times)
    results = simulate(Times(measured["times"]), options.seed)
    text = report(results, measured, options.seed)
    print(text)
    if options.markdown:
        figures.put_between(options.page, "scale simulation", text)
        plot_shards(results, options.plots[0])
        plot_ppo(results, options.plots[1])


if __name__ == "__main__":
    main()
