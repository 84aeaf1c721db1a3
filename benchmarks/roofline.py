"""Measures the network's share of PPO's time: the whole training loop against the network passes that it needs.

In turn, as often as ``--repeats`` says, on the same network, observations and batch sizes:

  forward             every decision of an iteration once forward, in the batches in which tables still play (in bfloat16
                      rounded up to some sizes, as ``fused_mlp`` does): as in collecting
  forward and back    every decision forward and back, a minibatch at a time, as often as there are epochs: as in an update
  loop                the training loop as it is: rounds played, drawn, put together, learned from

The passes are bare: a chain of ReLU layers over the bytes, weights already in the precision that is multiplied, a gradient of
ones from above, no draw, no loss, no optimizer. An iteration cannot take less than both together, which is its roofline. A ratio
is taken within each repeat, so that what slows the machine for a while slows both; the table shows the least, the median and the
most. On a machine that has other things to do, one thread is better timed by --clock cpu.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import statistics
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nainjaune_agents.nets.arch import DEFAULT_ARCH
from nainjaune_agents.nets.fused_mlp import SIZES, Layers, apply_layers
from nainjaune_agents.trainers.config import apply_settings, build
from nainjaune_agents.trainers.ppo import Config, Trainer
from nainjaune_env.core.errors import NainJauneError


@dataclass(frozen=True)
class Repeat:
    """The seconds of one repeat, and its number of ``decisions``."""

    decisions: int
    forward: float
    forward_and_back: float
    loop: float

    @property
    def share(self) -> float:
        """The passes' share of the loop's time."""
        return (self.forward + self.forward_and_back) / self.loop


def bare_layers(trainer: Trainer) -> Layers:
    """The network's layers, apart from it: leaves that take gradients, in the precision that is multiplied."""
    chain = trainer.net.fused()
    assert chain is not None
    layers = chain.layers(torch.bfloat16 if trainer.config.bf16 else torch.float32)
    return [(weight.requires_grad_(), bias.requires_grad_()) for weight, bias in layers]


def forward(layers: Layers, observation: Tensor, sizes: list[int]) -> None:
    """The first of ``observation (T, size)`` forward, each of ``sizes`` once: which ones they are does not matter."""
    with torch.inference_mode():
        for size in sizes:
            apply_layers(layers, observation[:size])


def forward_and_back(layers: Layers, observation: Tensor, size: int, epochs: int) -> None:
    """``observation (T, size)`` forward and back, ``size`` at a time."""
    ones = torch.ones((size, len(layers[-1][1])), dtype=layers[0][0].dtype, device=observation.device)
    for _ in range(epochs):
        for piece in torch.split(observation, size):
            logits = apply_layers(layers, piece)
            torch.autograd.grad(logits, list(itertools.chain(*layers)), ones[: len(piece)])


def batches_of(playing: list[int], *, rounded: bool) -> Iterator[int]:
    """What goes through the network at once where so many tables still play, step by step; ``rounded`` up to ``SIZES``."""
    for count in playing:
        whole, rest = divmod(count, SIZES[-1])
        yield from [SIZES[-1]] * whole
        if rest:
            yield SIZES[bisect_left(SIZES, rest)] if rounded else rest


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""The clocks: wall time, or the processor time of all threads of this process."""


def seconds(work: Callable[[], Any], clock: Callable[[], float], device: str) -> float:
    """Return the seconds of a call, with a GPU's work finished."""
    begin = clock()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - begin


def time_in_turn(trainer: Trainer, clock: Callable[[], float], iterations: int, repeats: int) -> list[Repeat]:
    """Time every part once per repeat, in turn: some iterations, and the passes of as many."""
    c = trainer.config
    trainer.iterate()  # compiles, and fills the caches
    found = []
    for _ in range(repeats):
        rollout = trainer.begin_rollout(trainer.iteration)[0]
        observation = torch.as_tensor(rollout.observation, device=c.device)
        # decisions come in order of time, and a table comes once a step: where it does not come after the last, a step begins
        table = rollout.sequence // trainer.setup.players
        steps = np.diff(np.flatnonzero(np.diff(table, prepend=table[0] + 1, append=-1) <= 0)).tolist()
        sizes = list(batches_of(steps, rounded=c.bf16 and c.device == "cpu"))
        layers = bare_layers(trainer)
        before = trainer.decisions
        loop = seconds(lambda: [trainer.iterate() for _ in range(iterations)], clock, c.device)
        decisions = trainer.decisions - before
        scale = decisions / len(observation)  # rounds differ in length, so iterations do
        there, back = partial(forward, layers, observation, sizes), partial(forward_and_back, layers, observation, c.minibatch)
        there(), back(1)  # torch makes a kernel for each size that it meets with bfloat16
        forward_seconds = seconds(there, clock, c.device)
        back_seconds = seconds(partial(back, c.epochs), clock, c.device)
        found.append(Repeat(decisions, scale * forward_seconds, scale * back_seconds, loop))
    return found


def line(name: str, values: list[float], shown: Callable[[float], str]) -> str:
    """Return a row of the table."""
    cells = " | ".join(f"{shown(value):>9}" for value in (min(values), statistics.median(values), max(values)))
    return f"| {name:34} | {cells} |"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="djeco", help="the rule sheet (djeco)")
    parser.add_argument("--threads", type=int, default=1, help="torch's threads (1)")
    parser.add_argument("--epochs", type=int, default=None, help="passes over the decisions of an iteration (both: 4, and 1)")
    parser.add_argument("--bf16", action=argparse.BooleanOptionalAction, default=None, help="bfloat16 (both: without, and with)")
    parser.add_argument("--hidden", type=int, nargs="*", default=[256, 256], metavar="W", help="widths of layers (256 256)")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="device of tables and network (cpu)")
    parser.add_argument("--clock", default="wall", choices=CLOCKS, help="wall or processor seconds (wall)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="set a key of the configuration")
    parser.add_argument("--iterations", type=int, default=2, help="iterations in each repeat (2)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each part is timed (5)")
    options = parser.parse_args(arguments)
    if min(options.iterations, options.repeats, options.threads) < 1:
        parser.error("--iterations, --repeats and --threads are 1 or more")
    return options


def main(arguments: list[str] | None = None) -> None:
    """Time everything and print the table."""
    options = parse(arguments)
    recipes = [(False, 4), (True, 1)]
    if options.bf16 is not None or options.epochs is not None:
        bf16 = bool(options.bf16)
        recipes = [(bf16, options.epochs or (1 if bf16 else 4))]
    print(f"{platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}, threads: {options.threads},")
    print(f"clock: {options.clock};", end=" ")
    print(f"{options.repeats} repeats in turn, of {options.iterations} iterations each; decisions a second")
    for bf16, epochs in recipes:
        values = {
            "preset": options.preset, "threads": options.threads, "bf16": bf16, "epochs": epochs, "hidden": options.hidden,
            "device": options.device, "eval_every": 0,
        }  # fmt: skip
        try:
            config = build(Config, apply_settings(values, options.set))
        except NainJauneError as error:
            sys.exit(str(error))
        other = config.recurrent or config.privileged or config.belief or config.mixture or config.opponents
        if other or config.arch != DEFAULT_ARCH:
            sys.exit("The bare passes are those of one network that remembers nothing, at one table, in self-play.")
        trainer = Trainer(config, config.setup())
        found = time_in_turn(trainer, CLOCKS[options.clock], options.iterations, options.repeats)
        what = f"{'bfloat16' if bf16 else 'float32'}, {epochs} epochs, minibatches of {config.minibatch}, {config.tables} tables"
        print(f"\n| {what:34} | {'least':>9} | {'median':>9} | {'most':>9} |\n|---|--:|--:|--:|")
        for name, took in (
            ("forward", lambda r: r.forward),
            (f"forward and back, {epochs}×", lambda r: r.forward_and_back),
            ("both: the roofline", lambda r: r.forward + r.forward_and_back),
            ("the loop", lambda r: r.loop),
        ):
            print(line(name, [r.decisions / took(r) for r in found], lambda rate: f"{rate / 1000:.0f} k"))
        print(line("loop over roofline", [r.share for r in found], lambda share: f"{share:.0%}"))


if __name__ == "__main__":
    main()
