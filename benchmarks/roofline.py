"""Measures the network's share of PPO's time: the whole training loop against the network passes that it cannot do without.

The recipes are configuration files as they are shipped, with what --set changes. In turn, as often as --repeats says, on the same
network, observations and batch sizes:

  forward             every decision of an iteration once forward, in the batches in which tables still play: as in collecting
  forward and back    every decision forward and back, a minibatch at a time, as often as there are epochs: as in an update
  loop                the training loop: rounds played, actions drawn, minibatches gathered and learned from; with --threads 2 or
                      more also the loop with overlap, which collects in one thread and learns in another

The passes are those that the loop makes (players/networks/fused_mlp.py), bare: the weights of one step, a gradient of ones from
above, no draw, no loss, no optimizer. An iteration cannot take less than both together, which is its roofline. A second roofline
is of the same passes by a plain chain of layers and torch's autograd. A ratio is taken within each repeat, so that what slows the
machine for a while slows both; the table shows the least, the median and the most. On a machine that has other things to do, one
thread is better timed by --clock cpu.

--profile then shows where the loop's time goes, in milliseconds of wall time an iteration, each part without those within it.
With overlap, collecting and learning are of two threads, and learning waits where it is the faster one.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import platform
import statistics
import sys
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from nainjaune_agents.players.networks.fused_mlp import SIZES, FusedInference, FusedTraining, Layers, LinearChain, apply_layers
from nainjaune_agents.train import overlap, ppo, ppo_compiled, rollout
from nainjaune_agents.train.config import apply_settings, build, read_yaml
from nainjaune_agents.train.ppo import Config, Trainer
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.engine.batch import Batch

RECIPES = Path(__file__).resolve().parents[1] / "configs" / "nain_jaune"

FORWARD, BACK, ROOFLINE, AUTOGRAD, LOOP, OVERLAP = (
    "forward", "forward and back", "both: the roofline", "both by torch's autograd", "the loop", "the loop, overlap"
)  # fmt: skip


def chain_of(trainer: Trainer) -> LinearChain:
    """Returns the layers of the network that learns."""
    chain = trainer.net.fused()
    assert chain is not None
    return chain


# ---- our own passes ----------------------------------------------------------------------------------------------


def our_forward(inference: FusedInference, observation: Tensor, sizes: list[int]) -> None:
    """Passes the first of ``observation (T, size)`` forward, each of ``sizes`` once: which ones they are does not matter."""
    for size in sizes:
        inference(observation[:size])


def our_forward_and_back(fused: FusedTraining, observation: Tensor, size: int, epochs: int) -> None:
    """Passes ``observation (T, size)`` forward and back, in minibatches of equal size, at most ``size``."""
    with torch.no_grad():
        for _ in range(epochs):
            for piece in torch.tensor_split(observation, -(-len(observation) // size)):
                number, (*heads, _) = fused.forward(piece)
                for parameter in fused.parameters:
                    parameter.grad = None
                fused.backward(number, len(piece), [*map(torch.ones_like, heads), None])


# ---- the same by torch's autograd --------------------------------------------------------------------------------


def bare_layers(trainer: Trainer) -> Layers:
    """Returns the network's layers, apart from it: leaves that take gradients, in the precision that is multiplied."""
    layers = chain_of(trainer).layers(torch.bfloat16 if trainer.config.bf16 else torch.float32)
    return [(weight.requires_grad_(), bias.requires_grad_()) for weight, bias in layers]


def forward(layers: Layers, observation: Tensor, sizes: list[int]) -> None:
    """Does as :func:`our_forward`."""
    with torch.inference_mode():
        for size in sizes:
            apply_layers(layers, observation[:size])


def forward_and_back(layers: Layers, observation: Tensor, size: int, epochs: int) -> None:
    """Passes ``observation (T, size)`` forward and back, ``size`` at a time."""
    ones = torch.ones((size, len(layers[-1][1])), dtype=layers[0][0].dtype, device=observation.device)
    for _ in range(epochs):
        for piece in torch.split(observation, size):
            logits = apply_layers(layers, piece)
            torch.autograd.grad(logits, list(itertools.chain(*layers)), ones[: len(piece)])


def batches_of(playing: list[int], *, rounded: bool) -> Iterator[int]:
    """Yields what goes through the network at once where so many tables still play, step by step; ``rounded`` to ``SIZES``."""
    for count in playing:
        whole, rest = divmod(count, SIZES[-1])
        yield from [SIZES[-1]] * whole
        if rest:
            yield SIZES[bisect_left(SIZES, rest)] if rounded else rest


# ---- in turn -----------------------------------------------------------------------------------------------------

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""The clocks: wall time, or the processor time of all threads of this process."""


def seconds(work: Callable[[], Any], clock: Callable[[], float], device: str) -> float:
    """Returns the seconds of a call, with a GPU's work finished."""
    begin = clock()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - begin


def decisions_by_step(trainer: Trainer) -> tuple[Tensor, list[int]]:
    """Returns the observations of a rollout, and how many decisions each of its steps had."""
    rollout = trainer.next_rollout(trainer.iteration)[0]
    # decisions come in order of time, and a table comes once a step: where it does not come after the last, a step begins
    table = rollout.trajectory_id // trainer.setup.players
    steps = np.diff(np.flatnonzero(np.diff(table, prepend=table[0] + 1, append=-1) <= 0)).tolist()
    return torch.as_tensor(rollout.observation, device=trainer.config.device), steps


def loop_rate(trainer: Trainer, iterations: int, clock: Callable[[], float]) -> float:
    """Returns the decisions a second of some iterations."""
    torch.set_num_threads(trainer.config.threads)
    before = trainer.decisions
    took = seconds(lambda: [trainer.iterate() for _ in range(iterations)], clock, trainer.config.device)
    return (trainer.decisions - before) / took


def time_in_turn(
    trainers: dict[str, Trainer], clock: Callable[[], float], iterations: int, repeats: int
) -> list[dict[str, float]]:
    """Times every part once per repeat, in turn; returns the decisions a second of each part, by its name, repeat by repeat.

    ``trainers``: the loops by their names, the first of which the passes are those of.
    """
    trainer = next(iter(trainers.values()))
    c = trainer.config
    dtype = torch.bfloat16 if c.bf16 else torch.float32
    for each in trainers.values():
        loop_rate(each, 1, clock)  # compiles, and fills the caches
    repeated_rates = []
    for _ in range(repeats):
        torch.set_num_threads(c.threads)
        observation, steps = decisions_by_step(trainer)
        sizes = list(batches_of(steps, rounded=bool(c.bf16) and c.device == "cpu"))
        chain, layers = chain_of(trainer), bare_layers(trainer)
        inference, fused = FusedInference(chain, dtype), FusedTraining(chain, dtype)
        ours = partial(our_forward, inference, observation, steps), partial(our_forward_and_back, fused, observation, c.minibatch)
        torchs = partial(forward, layers, observation, sizes), partial(forward_and_back, layers, observation, c.minibatch)
        took = []
        for there, back in (ours, torchs):
            there(), back(1)  # torch makes a kernel for each size that it meets with bfloat16
            took += [seconds(there, clock, c.device), seconds(partial(back, c.epochs), clock, c.device)]
        times = {FORWARD: took[0], BACK: took[1], ROOFLINE: took[0] + took[1], AUTOGRAD: took[2] + took[3]}
        rates = {name: len(observation) / each for name, each in times.items()}
        repeated_rates.append(rates | {name: loop_rate(each, iterations, clock) for name, each in trainers.items()})
    return repeated_rates


# ---- the profile -------------------------------------------------------------------------------------------------

PARTS: dict[str, list[tuple[Any, str]]] = {
    "collect: rules": [(Batch, "step"), (rollout.RoundStarts, "deal")],
    "collect: forward": [(rollout.RolloutPolicy, "__call__"), (rollout.RolloutPolicy, "critic_value")],
    "collect: sampling": [(ppo, "sample")],
    "collect: rest": [(Trainer, "collect")],
    "learn: gathering": [(Tensor, "index_select")],
    "learn: forward": [(FusedTraining, "forward")],
    "learn: loss": [(ppo_compiled.CompiledLoss, "apply")],
    "learn: backward": [(FusedTraining, "backward")],
    "learn: autograd": [(Tensor, "backward"), (rollout.LearningNets, "__call__")],
    "learn: clipping": [(FusedTraining, "clip_grad_norm_")],
    "learn: Adam": [(torch.optim.Adam, "step")],
    "learn: Muon": [(torch.optim.Muon, "step")],
    "learn: rest": [(Trainer, "update")],
    "waiting for rounds": [(overlap.Prefetcher, "take")],
    "rest": [(Trainer, "iterate")],
}
"""The functions of which each part consists, without those of other parts that they call."""


@contextlib.contextmanager
def timed(spent: dict[str, float]) -> Iterator[None]:
    """Adds the seconds of each of :data:`PARTS` to ``spent``, without those of parts within them, thread by thread."""
    within = threading.local()

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timer(*given: Any, **named: Any) -> Any:
            outer, within.inner = getattr(within, "inner", 0.0), 0.0
            begin = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                took = time.perf_counter() - begin
                spent[name] += took - within.inner
                within.inner = outer + took

        return timer

    with contextlib.ExitStack() as stack:
        for name, functions in PARTS.items():
            for owner, attribute in functions:
                stack.enter_context(mock.patch.object(owner, attribute, wrapped(name, getattr(owner, attribute))))
        yield


def profile(trainer: Trainer, iterations: int) -> dict[str, float]:
    """Returns the milliseconds an iteration of each of :data:`PARTS` that the trainer has."""
    spent: dict[str, float] = defaultdict(float)
    with timed(spent):
        loop_rate(trainer, iterations, time.perf_counter)
    return {name: 1000 * spent[name] / iterations for name in PARTS if name in spent}


# ---- the table ---------------------------------------------------------------------------------------------------


def line(name: str, values: list[float], shown: Callable[[float], str]) -> str:
    """Returns a row of the table."""
    cells = " | ".join(f"{shown(value):>9}" for value in (min(values), statistics.median(values), max(values)))
    return f"| {name:34} | {cells} |"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recipes = [RECIPES / "ppo.yaml", RECIPES / "strong.yaml"]
    parser.add_argument(
        "configs", nargs="*", type=Path, default=recipes, metavar="FILE", help="recipes of PPO (ppo.yaml strong.yaml)"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="torch's threads, of the passes and of the loop without overlap (1)"
    )
    parser.add_argument("--clock", default="wall", choices=CLOCKS, help="wall or processor seconds (wall)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="set a key of all recipes, as in --set epochs=1"
    )
    parser.add_argument("--iterations", type=int, default=2, help="iterations in each repeat (2)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each part is timed (5)")
    parser.add_argument("--profile", action="store_true", help="show where the loop's time goes too")
    options = parser.parse_args(arguments)
    if min(options.iterations, options.repeats, options.threads) < 1:
        parser.error("--iterations, --repeats and --threads are 1 or more")
    return options


def trainers_of(path: Path, settings: list[str], threads: int) -> dict[str, Trainer]:
    """Returns the loops of a recipe by their names: without overlap, and with more than one thread also with it.

    Raises NainJauneError for an invalid configuration, and SystemExit for one whose passes are not those of one plain MLP.
    """
    trainers = {}
    for name, arrangement in ((LOOP, {"overlap": False, "threads": threads}), (OVERLAP, {"overlap": True, "threads": 1})):
        if threads == 1 and name == OVERLAP:
            continue
        config = build(Config, apply_settings(read_yaml(path), settings) | {"eval_every": 0} | arrangement)
        other = config.recurrent or config.privileged or config.mixture or config.opponents
        if other or config.arch.name != "mlp":
            sys.exit("The bare passes are those of one network that remembers nothing, at one table, in self-play.")
        trainers[name] = ppo.new_trainer(config)
        if config.init is not None:
            trainers[name].load_initial_weights(config.init, objective=config.objective)
            trainers[name].update_behaviour()
    return trainers


def main(arguments: list[str] | None = None) -> None:
    """Times everything and prints the tables."""
    options = parse(arguments)
    print(f"{platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}, threads: {options.threads},")
    print(
        f"clock: {options.clock}; {options.repeats} repeats in turn, of {options.iterations} iterations each; decisions a second"
    )
    for path in options.configs:
        try:
            trainers = trainers_of(path, options.set, options.threads)
        except NainJauneError as error:
            sys.exit(str(error))
        c = next(iter(trainers.values())).config
        print(
            f"\n{path.name}: {'bfloat16' if c.bf16 else 'float32'}, {type(c.optimizer).__name__.lower()}, "
            f"layers of {c.arch.hidden}, {c.epochs} epochs, minibatches of {c.minibatch}, {c.tables} tables"
        )
        repeated_rates = time_in_turn(trainers, CLOCKS[options.clock], options.iterations, options.repeats)
        print(f"\n| {'':34} | {'least':>9} | {'median':>9} | {'most':>9} |\n|---|--:|--:|--:|")
        for name in repeated_rates[0]:
            print(line(name, [rates[name] for rates in repeated_rates], lambda rate: f"{rate / 1000:.0f} k"))
        for name, of in itertools.product(trainers, (ROOFLINE, AUTOGRAD)):
            share = [rates[name] / rates[of] for rates in repeated_rates]
            print(line(f"{name} over {'roofline' if of == ROOFLINE else 'autograd'}", share, lambda value: f"{value:.0%}"))
        if options.profile:
            columns = {name: profile(trainer, max(options.iterations, 5)) for name, trainer in trainers.items()}
            print(f"\n| ms an iteration | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
            for part in PARTS:
                if any(part in column for column in columns.values()):
                    cells = (f"{column[part]:.1f}" if part in column else "" for column in columns.values())
                    print(f"| {part} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
