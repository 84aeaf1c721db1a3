"""The times that the simulation of a cluster takes: measured on this machine, or assumed, each with its source."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from nainjaune_agents.measure.cross_table import fold
from nainjaune_agents.measure.distributed.units import Results, WorkPlan, WorkUnit
from nainjaune_agents.measure.own_game import OwnGame
from nainjaune_agents.measure.plan import Measurement, MeasurePlan, make_plan
from nainjaune_agents.measure.store import Store
from nainjaune_agents.players.loading import load_agent
from nainjaune_agents.train import expert, ppo
from nainjaune_agents.train.config import build
from nainjaune_agents.train.labels import LabelFile, Labels, load_labels, save_labels
from nainjaune_env.agent import Agent
from nainjaune_env.registry import make_setup

Times = dict[str, dict[str, Any]]
"""By name: ``value``, ``unit`` and ``source``."""
TABLE = {"preset": "djeco", "players": 4}
ASSUMED: Times = {
    "slow_share": {"value": 0.01, "unit": "", "source": "assumed: stragglers among shards"},
    "slow_factor": {"value": 3.0, "unit": "×", "source": "assumed: their time"},
    "lost_after_hours": {"value": 24.0, "unit": "h", "source": "assumed: mean time until a worker is preempted"},
    "detect_seconds": {"value": 5.0, "unit": "s", "source": "assumed; where tests kill a node it is some seconds"},
    "replace_seconds": {"value": 120.0, "unit": "s", "source": "assumed: until another machine is there"},
    "restart_seconds": {"value": 10.0, "unit": "s", "source": "assumed: training begins again from a checkpoint"},
    "bytes_per_second": {"value": 1.25e9, "unit": "B/s", "source": "assumed: 10 Gbit/s"},
    "hop_seconds": {"value": 5e-5, "unit": "s", "source": "assumed: latency of the network"},
    "gather_seconds": {
        "value": 0.007, "unit": "s", "source": "measured before: 103,449 gradients by `all_gather` between 2 processes, 2 cores",
    },
    "reduce_seconds": {
        "value": 0.0004, "unit": "s", "source": "measured before: 414 kB by `all_reduce` between 2 processes, 2 cores",
    },
}  # fmt: skip
"""What is not measured by :func:`measure`."""
SEARCHER = "tally@search=32"
NO_TASKS, WAITING = 300, 1000
IMPORT = "import nainjaune_agents.measure.plan as p; from nainjaune_agents.players.loading import load_agent; import torch"


def processor_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Returns the processor time of ``call`` in this process, which does not depend on what else runs, and what it returns."""
    began = time.process_time()
    returned = call()
    return time.process_time() - began, returned


def measure() -> Times:
    """Measures on this machine; returns the times with those assumed."""
    times = dict[str, dict[str, Any]]()

    def put(name: str, value: Any, unit: str, source: str) -> None:
        times[name] = {"value": value, "unit": unit, "source": source}

    for name, seconds in {**ray_seconds(), **shard_seconds(), **label_seconds(), **training_seconds()}.items():
        put(name, *seconds)
    put("start_seconds", start_seconds(), "s", "processor time of a process that imports what workers import")
    return {**times, **ASSUMED}


Measured = dict[str, tuple[Any, str, str]]


class Arrived:
    """Yields what a worker has sent for the only unit."""

    def __init__(self, payload: Any) -> None:
        self._payload = payload

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields it for each of ``units``."""
        for unit in units:
            yield unit, self._payload


def ray_seconds() -> Measured:
    """Returns the driver's times on a local Ray cluster of one node, by the loop of ``distributed/cluster.py``."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    try:
        task, long = ray.remote(lambda: None), ray.remote(lambda: time.sleep(60))
        ray.get([task.remote() for _ in range(20)])  # workers start
        pending, sent = list[Any](), 0
        began = time.perf_counter()
        while sent < NO_TASKS or pending:
            while len(pending) < 4 and sent < NO_TASKS:
                pending.append(task.remote())
                sent += 1
            done, pending = ray.wait(pending, timeout=1)
            ray.get(done[0])
        dispatch = (time.perf_counter() - began) / NO_TASKS
        ready, blocked = task.remote(), [long.remote() for _ in range(WAITING)]
        ray.get(ready)
        took = []
        for _ in range(9):
            began = time.perf_counter()
            ray.wait([*blocked, ready], timeout=1)
            took.append(time.perf_counter() - began)
    finally:
        ray.shutdown()
    return {
        "dispatch_seconds": (dispatch, "s", f"Ray on one machine, mean of {NO_TASKS} empty tasks with 2 workers, elapsed"),
        "wait_seconds": (float(np.median(took)) / WAITING, "s", f"`ray.wait` with {WAITING} tasks under way, by each, elapsed"),
    }


def shard_seconds() -> Measured:
    """Returns the times of shards of a tournament: to play them, by heuristics and by a search, and to merge them."""
    setup = make_setup(**TABLE)

    def play(
        names: tuple[str, str], deals: int, count: int
    ) -> tuple[list[float], list[tuple[WorkUnit, Any]], tuple[MeasurePlan, list[Agent]]]:
        agents = [load_agent(name, setup) for name in names]
        plan = make_plan(OwnGame(setup, 1), agents, deals * count, one_way=True, measure=True, chunk=deals)
        player = plan.player(agents)
        units = [WorkUnit(0, number * deals, deals) for number in range(count)]
        player(WorkUnit(0, 0, 2))  # compiles
        played = [processor_seconds(lambda unit=unit: player(unit)) for unit in units]  # type: ignore[misc]
        return (
            [seconds for seconds, _ in played],
            [(unit, payload) for unit, (_, payload) in zip(units, played, strict=True)],
            (plan, agents),
        )

    rules, played, plan = play(("lowest", "tally"), 1638, 40)
    _, large, large_plan = play(("lowest", "tally"), 32760, 3)
    searched, _, _ = play((SEARCHER, "tally"), 4, 8)
    merges = []
    for results, (of, agents) in ((played, plan), (large, large_plan)):
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
            took = []
            for unit, payload in results:
                text = json.dumps(payload)
                one = structs.replace(of, first=unit.first, deals=unit.deals)
                began = time.process_time()
                fold(Measurement(one, agents, store=store, executor=Arrived(json.loads(text))), one_way=True)
                took.append(time.process_time() - began)
            merges.append(float(np.median(took)))
    each = max(0.0, (merges[1] - merges[0]) / (32760 - 1638))
    middle = float(np.median(rules))
    whole = [seconds / middle for seconds in rules]
    result = len(json.dumps(large[0][1])) / 32760
    return {
        "deal_seconds": (middle / 1638, "s", "`lowest` in a field of `tally`, a deal, processor time"),
        "search_seconds": (float(np.median(searched)) / 4, "s", f"`{SEARCHER}` in a field of `tally`, a deal, processor time"),
        "ratios": (sorted(round(ratio, 3) for ratio in whole), "", "times of 40 shards of 1,638 deals over their median"),
        "merge_seconds": (max(0.0, merges[0] - 1638 * each), "s", "a shard of a tournament: check, add, write; processor time"),
        "merge_deal_seconds": (each, "s", "the same, for each deal more"),
        "deal_bytes": (result, "B", "a result, for each deal"),
    }


def label_seconds() -> Measured:
    """Returns the times of a searched label, and of the driver for one."""
    few, shard = 64, 1024
    values = {**TABLE, "rounds": 600, "shard": shard, "deals": 50, "shards": 1, "generations": 1}
    with tempfile.TemporaryDirectory() as folder:
        trainer = expert.Trainer(build(expert.Config, values), Path(folder))
        trainer.label(0, trainer.experts())  # compiles
        seconds, labels = processor_seconds(lambda: trainer.label(1, trainer.experts()))
        path, merges, label_file = Path(folder) / "labels.npz", [], LabelFile(trainer.labels_run, trainer.iteration, 1)
        for count in (few, shard):
            part = Labels(**{f.name: getattr(labels, f.name)[:count] for f in fields(Labels)})

            def merge(part: Labels = part) -> None:
                save_labels(path, part, trainer.setup, label_file)
                load_labels(path, trainer.setup, label_file, count=len(part))

            merges.append(float(np.median([processor_seconds(merge)[0] for _ in range(5)])))
        size = path.stat().st_size / shard
        each = (merges[1] - merges[0]) / (shard - few)
    return {
        "label_seconds": (seconds / shard, "s", "a decision searched with 50 determinizations, processor time"),
        "merge_label_seconds": (each, "s", "to write and check a label, for each one more in its shard; processor time"),
        "label_bytes": (size, "B", "a label in its file"),
    }


def training_seconds() -> Measured:
    """Returns PPO's processor time for a decision, with 103,449 weights or nearly, in rounds and in gradients."""
    values = {**TABLE, "tables": 512, "minibatch": 1024, "iterations": 9, "eval_every": 0}
    config = build(ppo.Config, values)
    trainer = ppo.Trainer(config, config.setup())
    trainer.iterate()  # compiles
    before = trainer.decisions
    seconds, _ = processor_seconds(lambda: [trainer.iterate() for _ in range(3)])
    weights = sum(weight.numel() for weight in trainer.net.parameters())
    source = f"PPO with {weights:,} weights, one process, minibatches of 1,024; processor time"
    return {
        "decision_seconds": (seconds / (trainer.decisions - before), "s", source),
        "weights": (weights, "", "of that network"),
    }


def start_seconds() -> float:
    """Returns the processor time of a process that imports what workers import."""
    code = f"{IMPORT}; import time; print(time.process_time())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)
