"""Discrete events of a cluster: workers that play shards for one driver, and processes that train one network together.

Both take their times as arguments, so that each can be compared with closed forms; ``scale_simulation.py`` gives them those of
real work. Events are kept by SimPy. All draws come from the seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import simpy

MAX_SHARDS = 20_000
"""Shards that are simulated at least; of longer work the rest follows from the rate of the middle half."""


@dataclass(frozen=True)
class Farm:
    """Shards that depend on nothing but themselves, a driver that sends and merges them, and workers that may be lost.

    The driver does what ``distributed/cluster.py`` does: it keeps two shards a worker under way, and handles results one by one.
    """

    workers: int
    shard_seconds: float
    """On a worker, undisturbed."""
    ratios: tuple[float, ...] = (1.0,)
    """Times of equal shards over their median; each shard draws one."""
    slow_share: float = 0.0
    """Share of shards that take ``slow_factor`` times as long: stragglers."""
    slow_factor: float = 1.0
    dispatch_seconds: float = 0.0
    """Of the driver, to send a shard and to receive its result."""
    wait_seconds: float = 0.0
    """Of the driver, for each shard under way whenever it looks for a result."""
    merge_seconds: float = 0.0
    """Of the driver, to check, add and write a result."""
    start_seconds: float = 0.0
    """From the start of a worker to its first shard."""
    lost_after_seconds: float = np.inf
    """The mean time, exponentially distributed, after which a worker is lost."""
    detect_seconds: float = 0.0
    """Until the shard of a lost worker waits for another one."""
    replace_seconds: float = 0.0
    """Until another worker begins to start in the place of a lost one."""


@dataclass(frozen=True)
class FarmOutcome:
    """Work that is done."""

    seconds: float
    driver_share: float
    """Of the time, in which the driver was busy."""
    lost_share: float
    """Shards that were begun and lost, over those that were finished."""


class _FarmRun:
    """One simulation of a farm."""

    def __init__(self, farm: Farm, shards: int, seed: int) -> None:
        self.farm, self.shards, self.lost, self.busy = farm, shards, 0, 0.0
        self.finished: list[float] = []
        self.rng = np.random.default_rng(seed)
        self.env = simpy.Environment()
        self.waiting, self.played = simpy.Store(self.env), simpy.Store(self.env)
        for _ in range(farm.workers):
            self.env.process(self.worker())
        self.env.run(self.env.process(self.driver()))

    def driver(self) -> Iterator[Any]:
        farm, sent, under_way = self.farm, 0, 0
        while len(self.finished) < self.shards:
            while under_way < 2 * farm.workers and sent < self.shards:
                yield self.env.timeout(farm.dispatch_seconds)
                self.waiting.put(sent)
                self.busy += farm.dispatch_seconds
                sent, under_way = sent + 1, under_way + 1
            yield self.played.get()
            seconds = farm.wait_seconds * under_way + farm.merge_seconds
            yield self.env.timeout(seconds)
            self.busy += seconds
            under_way -= 1
            self.finished.append(self.env.now)

    def worker(self) -> Iterator[Any]:
        farm, env, rng = self.farm, self.env, self.rng
        while True:
            yield env.timeout(farm.start_seconds)
            lost_at = env.now + rng.exponential() * farm.lost_after_seconds
            while True:
                shard = yield self.waiting.get()
                seconds = farm.shard_seconds * farm.ratios[rng.integers(len(farm.ratios))]
                if rng.random() < farm.slow_share:
                    seconds *= farm.slow_factor
                if env.now + seconds >= lost_at:
                    yield env.timeout(max(0.0, lost_at - env.now))
                    self.lost += 1
                    env.process(self.again(shard))
                    break
                yield env.timeout(seconds)
                self.played.put(shard)
            yield env.timeout(farm.replace_seconds)

    def again(self, shard: int) -> Iterator[Any]:
        yield self.env.timeout(self.farm.detect_seconds)
        self.waiting.put(shard)


def run_farm(farm: Farm, shards: int, seed: int, most: int | None = None) -> FarmOutcome:
    """Returns what playing ``shards`` comes to.

    Of more than ``most`` (None: MAX_SHARDS, or 20 a worker) so many are simulated, and the others are taken to be finished at
    the rate of the middle half of these.
    """
    most = max(MAX_SHARDS, 20 * farm.workers) if most is None else most
    simulated = min(shards, most)
    run = _FarmRun(farm, simulated, seed)
    seconds, busy = run.env.now, run.busy
    if shards > simulated:
        low, high = simulated // 4, 3 * simulated // 4
        more = (shards - simulated) * (run.finished[high] - run.finished[low]) / (high - low)
        busy += more * min(1.0, run.busy / simulated * (high - low) / (run.finished[high] - run.finished[low]))
        seconds += more
    return FarmOutcome(seconds, busy / seconds, run.lost / simulated)


@dataclass(frozen=True)
class Training:
    """Processes that take every gradient step together, and begin again from a checkpoint where one is lost."""

    workers: int
    iterations: int
    steps: int
    """Gradient steps of an iteration."""
    rollout_seconds: float
    """Of each worker, an iteration."""
    step_seconds: float
    """Of each worker, a gradient without its exchange."""
    exchange_seconds: float = 0.0
    """Of all workers, a step."""
    ratios: tuple[float, ...] = (1.0,)
    """Times of equal work over their median. Each worker draws one for its rounds and for each step; all wait for the last."""
    lost_after_seconds: float = np.inf
    """As in :class:`Farm`, for each worker."""
    restart_seconds: float = 0.0
    """From a loss to the first iteration of the next attempt."""
    checkpoint_seconds: float = 0.0
    """The least time between checkpoints; 0: one after each iteration."""
    most_attempts: int | None = None
    """From the same checkpoint; None: any number."""


@dataclass(frozen=True)
class TrainingOutcome:
    """A run that ended."""

    seconds: float
    finished: bool
    """Whether it did all iterations; else there were ``most_attempts`` from one checkpoint."""
    restarts: int


def run_training(training: Training, seed: int) -> TrainingOutcome:
    """Returns what the run comes to."""
    env, rng = simpy.Environment(), np.random.default_rng(seed)
    ratios = np.sort(np.array(training.ratios))
    restarts = 0

    def slowest(count: int) -> Any:
        """Draws ``count`` times the largest ratio of all workers, by the inverse of its distribution."""
        return ratios[(rng.random(count) ** (1 / training.workers) * len(ratios)).astype(int)]

    def train() -> Iterator[Any]:
        nonlocal restarts
        saved, attempts = 0, 1
        while True:
            done, last_save = saved, env.now
            lost_at = env.now + rng.exponential() * training.lost_after_seconds / training.workers
            while done < training.iterations:
                seconds = training.rollout_seconds * slowest(1)[0] + training.step_seconds * slowest(training.steps).sum()
                seconds += training.exchange_seconds * training.steps
                if env.now + seconds >= lost_at:
                    yield env.timeout(lost_at - env.now)
                    break
                yield env.timeout(seconds)
                done += 1
                if env.now - last_save >= training.checkpoint_seconds:
                    saved, attempts, last_save = done, 1, env.now
            else:
                return True
            if attempts == training.most_attempts:
                return False
            attempts, restarts = attempts + 1, restarts + 1
            yield env.timeout(training.restart_seconds)

    finished = env.run(env.process(train()))
    return TrainingOutcome(env.now, bool(finished), restarts)
