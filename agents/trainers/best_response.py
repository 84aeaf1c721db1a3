"""Training best responses: PPO against frozen copies of an agent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from nainjaune_env.core import atomic_files
from nainjaune_env.core.spec import Setup

from ..loading import SAMPLED, checkpoint_path, unmodified
from ..nets.checkpoint import FILE_NAME, check_fits, load_checkpoint
from . import ppo
from .config import build

FRESH, FROM_NETWORK = "fresh", "from_its_network"
"""The two ways of beginning, and the folders of their runs. Where much is to be learned a fresh network does not come far; and a
network that has made up its mind tries nothing else, and stays where it is even where a great deal is to be gained."""

RECIPES: Mapping[str, Mapping[str, Any]] = {
    FRESH: {"entropy": 1.0},  # against one who never changes nothing else drives it to try what it does not do yet
    FROM_NETWORK: {"learning_rate": 1e-3, "entropy": 0.02, "last_entropy": 0.002},  # more, and it forgets what it knows
}
"""Keys of PPO's configuration that differ from its defaults. Besides, its own payoff counts, whatever the others get."""


def response_configs(
    setup: Setup, target: str, *, seed: int, iterations: int, settings: Mapping[str, Any]
) -> dict[str, ppo.Config]:
    """Configurations of best responders to the agent called ``target``, by the way they begin.

    A fresh network, and the target's own where it has one; of one for all tables, what it is at these. ``settings`` are keys
    that go over all others. Raises :class:`~nainjaune_env.core.errors.CheckpointError` where that network is not for these
    tables.
    """
    head = setup.to_dict()
    common = {**{key: head[key] for key in ("game", "preset", "players", "rules")}, "centre": False, "eval_every": 0}
    begins: dict[str, dict[str, Any]] = {FRESH: {}}
    path = checkpoint_path(target, setup)
    if path is not None:
        checkpoint, name = load_checkpoint(path), unmodified(target).removesuffix(SAMPLED)
        check_fits(checkpoint, setup, repr(name))
        begins[FROM_NETWORK] = {"init": name, "hidden": checkpoint.hidden, "recurrent": checkpoint.recurrent}
    own = {"opponents": target, "seed": seed, "iterations": iterations, **settings}
    return {way: build(ppo.Config, {**common, **RECIPES[way], **own, **begins[way]}) for way in begins}


def digest(target: str, setup: Setup) -> str | None:
    """SHA-256 of the checkpoint that the agent called ``target`` plays by at tables with ``setup``; None where by none."""
    path = checkpoint_path(target, setup)
    if path is None:
        return None
    return atomic_files.digest(path / FILE_NAME if path.is_dir() else path)


TRIED = 5
"""Iterations that are timed, after one that compiles; the middle one counts, as a machine may be busy for a moment."""


def seconds_an_iteration(config: ppo.Config) -> float:
    """How long an iteration of ``config`` takes here and now; what is learned meanwhile is thrown away."""
    trainer = ppo.Trainer(config, config.setup())
    trainer.iterate()
    clock = [time.perf_counter()]
    for _ in range(TRIED):
        trainer.iterate()
        clock.append(time.perf_counter())
    return float(np.median(np.diff(clock)))
