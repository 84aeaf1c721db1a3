"""Compiles what most programs use, so that their first start loads it: ``python -m nainjaune_env.build.warm``.

``make setup`` calls it. It plays a little of the default game in the usual ways: by Gymnasium and by PettingZoo, at many tables,
by heuristics, and for a tournament. All else, such as what networks and trainers take, is compiled when it is first used.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping

import gymnasium
import numpy as np

import nainjaune_env
from nainjaune_env.agent import DecisionBatch, find_agent
from nainjaune_env.analysis.stats import tally
from nainjaune_env.compiler.ahead import open_library
from nainjaune_env.compiler.cache import cache_root, why_not_kept
from nainjaune_env.compiler.jit import JIT_ENABLED
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.engine.batch import Batch
from nainjaune_env.envs.registration import environment_id
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import make_setup

NAME = environment_id(DEFAULT_GAME)
HEURISTICS = ["closer", "tally", "lowest"]


def _gymnasium() -> None:
    for opponents in ("random", HEURISTICS):
        env = gymnasium.make(NAME, players=len(HEURISTICS) + 1, opponents=opponents)
        _, info = env.reset(seed=0)
        env.step(info["action_mask"].argmax())


def _gymnasium_vector() -> None:
    envs = gymnasium.make_vec(NAME, num_envs=2)
    _, infos = envs.reset(seed=0)
    envs.step(infos["action_mask"].argmax(axis=1))


def _pettingzoo() -> None:
    env = nainjaune_env.env()
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))


def _batch() -> None:
    batch = Batch(make_setup(), 2, seed=0)
    batch.step(batch.mask.argmax(axis=1))


def _agents() -> None:
    batch = Batch(make_setup(), 2, seed=0)
    decisions = DecisionBatch(batch, np.arange(2))
    for name in ("random", *HEURISTICS):
        find_agent(name, batch.setup).act(decisions, np.random.default_rng(0))


def _tournament() -> None:
    batch = Batch(make_setup(), 2, seed=0, autoreset=False)
    openings, actions = batch.tables.copy(), []
    while not batch.done.all():
        actions.append(batch.mask.argmax(axis=1))
        batch.step(actions[-1])
    tally(batch.setup, openings, np.array(actions), np.zeros((2, batch.num_players), np.int64), 1)


STEPS: Mapping[str, Callable[[], None]] = {
    "Gymnasium": _gymnasium,
    "Gymnasium, vectors": _gymnasium_vector,
    "PettingZoo": _pettingzoo,
    "many tables": _batch,
    "heuristics": _agents,
    "tournaments": _tournament,
}
"""What is compiled, by the name that is printed; the first is what the README's example needs."""


def main(arguments: list[str] | None = None) -> int:
    """Compiles, with a line for each step on stderr; returns the exit status, 1 if something cannot be compiled."""
    parser = argparse.ArgumentParser(prog="python -m nainjaune_env.build.warm", description=__doc__)
    parser.parse_args(arguments)
    if reason := _why_nothing():
        print(f"Nothing is compiled beforehand: {reason}", file=sys.stderr)
        return 0
    os.environ["NAINJAUNE_QUIET"] = "1"  # these lines say it
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has processes in the background ignore it
    began = time.monotonic()
    print("Compiling what most programs use, so that they start at once: about half a minute.", file=sys.stderr)
    try:
        for number, (name, compile_) in enumerate(STEPS.items(), 1):
            print(f"Compiling {number} of {len(STEPS)}: {name}", file=sys.stderr)
            compile_()
    except NainJauneError as error:
        print(f"Not all is compiled beforehand: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. What is missing is compiled when it is first used.", file=sys.stderr)
        return 130
    print(f"Compiled into {cache_root()} in {time.monotonic() - began:.0f} s.", file=sys.stderr)
    return 0


def _why_nothing() -> str:
    """Returns why nothing has to be compiled, or cannot be kept; empty where it has and can."""
    if not JIT_ENABLED:
        return "NUMBA_DISABLE_JIT is set, so everything runs as plain Python."
    if not open_library().is_empty:
        return "this installation brings its code compiled."
    return why_not_kept()


if __name__ == "__main__":
    sys.exit(main())
