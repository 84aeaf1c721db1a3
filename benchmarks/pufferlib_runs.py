"""The cases of ``adaptors.py`` that need PufferLib, in the virtual environment of `make pufferlib`. ``worker.py`` runs them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import figures
import numba
import numpy as np
from adaptor_runs import many
from peers import Run, calls_of

from nainjaune_env.core.prng import streams
from nainjaune_env.envs.pufferlib_env import SeatPufferEnv


def make(case: dict[str, Any]) -> Run:
    """Returns the runner of PufferLib's environment, or of the native one of the example."""
    if "folder" in case:
        return native(case)
    env = SeatPufferEnv(case["tables"], case["preset"], case["players"], opponents=case["opponents"])
    return many(env, env.step, case["tables"])


def native(case: dict[str, Any]) -> Run:
    """Returns the runner of the native environment, whose binding is compiled into the library's folder."""
    spec: Any = importlib.util.spec_from_file_location("native", figures.ROOT / "examples" / "pufferlib" / "native.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    binding, tables = module.build(Path(case["folder"])), case["tables"]
    env = module.NainJaune(binding, tables, case["preset"], case["players"], opponent=case["opponents"])
    observations, _ = env.reset(seed=1)
    legal, actions, random_streams = observations[:, env.mask_slice], np.zeros(tables, np.int32), streams(1, tables)
    calls = calls_of(16 * tables)

    def run() -> int:
        for _ in range(calls):
            choose(legal, random_streams, actions)
            env.step(actions)
        return calls * tables

    return run


@numba.njit
def choose(legal: Any, random_streams: Any, actions: Any) -> None:
    """Draws a uniformly random action for each row of ``legal (B, A)``."""
    for i in range(actions.size):
        random_streams[i] = random_streams[i] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        skip = (random_streams[i] >> np.uint64(32)) * np.uint64(legal[i].sum()) >> np.uint64(32)
        for a in range(legal.shape[1]):
            if legal[i, a] and skip == 0:
                actions[i] = a
                break
            skip -= np.uint64(legal[i, a])
