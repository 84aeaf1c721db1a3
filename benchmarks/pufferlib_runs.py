"""The case of ``adaptors.py`` that needs PufferLib, in the virtual environment of `make pufferlib`. ``worker.py`` runs it."""

from __future__ import annotations

from typing import Any

from adaptor_runs import many
from peers import Run

from nainjaune_env.envs.pufferlib_env import SeatPufferEnv


def make(case: dict[str, Any]) -> Run:
    """Returns the runner of PufferLib's environment."""
    env = SeatPufferEnv(case["tables"], case["preset"], case["players"], opponents=case["opponents"])
    return many(env, env.step, case["tables"])
