"""Training best responses: PPO against frozen copies of an agent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from nainjaune_env.core.spec import Setup

from ..base.task import OWN
from ..players.loading import base_name, checkpoint_path
from ..players.networks.checkpoint import load_checkpoint
from ..players.networks.fit import check_fits
from . import ppo
from .config import build

FRESH, FROM_NETWORK = "fresh", "from_its_network"
"""The two initial networks, and the folders of their runs. A fresh network does not come far where there is much to learn; one
with a settled policy explores little, and stays as it is even where there is much to gain."""

RECIPES: Mapping[str, Mapping[str, Any]] = {
    FRESH: {"entropy": 1.0},  # nothing else makes it explore, as its opponent never changes
    FROM_NETWORK: {"optimizer": {"learning_rate": 1e-3}, "entropy": 0.02, "last_entropy": 0.002},  # with more it forgets
}
"""Keys of PPO's configuration that differ from its defaults, besides the task."""


def response_configs(
    setup: Setup, target: str, *, seed: int, iterations: int, settings: Mapping[str, Any]
) -> dict[str, ppo.Config]:
    """Returns the configurations of best responses to the agent named ``target``, by their initial networks.

    These are a fresh one and, if the target has a network, that one. ``settings`` override all other keys. Raises
    :class:`~nainjaune_env.core.errors.CheckpointError` if that network is not for tables with ``setup``.
    """
    table = setup.to_dict()
    common = {**{key: table[key] for key in ("game", "preset", "players", "rules")}, "objective": OWN, "eval_every": 0}
    initial: dict[str, dict[str, Any]] = {FRESH: {}}
    path = checkpoint_path(target, setup)
    if path is not None:
        checkpoint, name = load_checkpoint(path), base_name(target)
        check_fits(checkpoint, setup, repr(name))
        initial[FROM_NETWORK] = {"init": name, "arch": checkpoint.arch}
    overrides = {"opponents": target, "seed": seed, "iterations": iterations, **settings}
    recipes = {start: {**common, **RECIPES[start], **overrides, **initial[start]} for start in initial}
    for start, recipe in recipes.items():  # settings of the optimizer go over those of the recipe, one by one
        recipe["optimizer"] = {**RECIPES[start].get("optimizer", {}), **settings.get("optimizer", {})}
    return {start: build(ppo.Config, recipe) for start, recipe in recipes.items()}


TIMED = 5
"""Iterations that are timed, after one that compiles; their median counts, as a machine may be busy for a moment."""


def seconds_an_iteration(config: ppo.Config) -> float:
    """Returns the duration of an iteration of ``config`` on this machine; what it learns is discarded."""
    trainer = ppo.new_trainer(config)
    trainer.iterate()
    clock = [time.perf_counter()]
    for _ in range(TIMED):
        trainer.iterate()
        clock.append(time.perf_counter())
    return float(np.median(np.diff(clock)))
