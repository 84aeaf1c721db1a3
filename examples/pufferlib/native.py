"""Nain Jaune as a native environment of PufferLib, in C over libnainjaune (README.md).

    nainjaune library build/library
    python examples/pufferlib/native.py build/library

compiles the binding into that folder, plays a second of random legal rounds in PufferLib's vectorization, and prints the rate.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import numpy as np
import pufferlib
import pufferlib.vector
from gymnasium import spaces

from nainjaune_agents.heuristics import heuristics
from nainjaune_env import make_setup

HERE = Path(__file__).parent
RANDOM = -1
"""The number of the agent ``random`` in the library; heuristics count from 0."""


def build(library: Path) -> Path:
    """Compiles the binding into the folder ``library`` that ``nainjaune library`` has written; returns its path."""
    out = library / f"binding{sysconfig.get_config_var('EXT_SUFFIX')}"
    headers = [library, Path(pufferlib.__file__).parent / "ocean", sysconfig.get_paths()["include"], np.get_include()]
    flags = ["-shared", "-fPIC", "-O2", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", *(f"-I{folder}" for folder in headers)]
    link = [f"-L{library}", "-lnainjaune", f"-Wl,-rpath,{library.resolve()}"]
    subprocess.run(["cc", *flags, str(HERE / "binding.c"), *link, "-o", str(out)], check=True)
    return out


def load(binding: Path) -> Any:
    """Returns the compiled module."""
    spec: Any = importlib.util.spec_from_file_location("binding", binding)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NainJaune(pufferlib.PufferEnv):  # type: ignore[misc]
    """``num_envs`` tables, each seen from one seat, whose number moves on with each round.

    Observations are ``(num_envs, size + A) uint8``, what the learner observes and then its legal actions, as in
    ``SeatPufferEnv``. An illegal action ends the round with ``illegal_reward``.
    """

    def __init__(
        self,
        binding: Path,
        num_envs: int = 1,
        preset: str | None = None,
        players: int | None = None,
        *,
        opponent: str = "tally",
        reward_scale: float = 1.0,
        illegal_reward: float = -100.0,
        report_interval: int = 128,
        buf: Any = None,
        seed: int = 0,
        **knobs: Any,
    ) -> None:
        self.setup = make_setup("nain_jaune", preset, players, **knobs)
        size, actions = self.setup.layout.size, len(self.setup.game.actions)
        self.layout_slice, self.mask_slice = slice(0, size), slice(size, size + actions)
        high = np.append(self.setup.layout.high, np.ones(actions, np.uint8))
        self.single_observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
        self.single_action_space = spaces.Discrete(actions)
        self.num_agents = num_envs
        super().__init__(buf)
        self._report_interval, self._steps = report_interval, 0
        settings: dict[str, float] = {f"knob_{k}": number for k, number in enumerate(self.setup.rules.numbers())}
        settings |= {"seats": self.setup.players, "size": size, "reward_scale": reward_scale, "illegal_reward": illegal_reward}
        settings["opponent"] = [*heuristics("nain_jaune")].index(opponent) + RANDOM
        buffers = (self.observations, self.actions, self.rewards, self.terminals, self.truncations)
        self._c = load(binding)
        self._envs = self._c.vec_init(*buffers, num_envs, seed, **settings)

    def reset(self, seed: int | None = None) -> tuple[Any, list[Any]]:
        """Begins a round at every table."""
        self._c.vec_reset(self._envs, seed or 0)
        return self.observations, []

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, list[Any]]:
        """Takes an action at every table; returns PufferLib's buffers, and now and then the means of rounds that have ended."""
        self.actions[:] = actions
        self._c.vec_step(self._envs)
        self._steps += 1
        infos = [self._c.vec_log(self._envs)] if self._steps % self._report_interval == 0 else []
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def close(self) -> None:
        """Gives the tables' memory back."""
        self._c.vec_close(self._envs)


def main() -> None:
    """Compiles, and plays at 2 * 512 tables."""
    settings = {"binding": build(Path(sys.argv[1])), "num_envs": 512, "preset": "djeco", "players": 4}
    envs = pufferlib.vector.make(NainJaune, env_kwargs=settings, num_envs=2, backend="Serial")
    observations, _ = envs.reset(seed=7)
    rng, infos, steps, begin = np.random.default_rng(7), [], 0, time.perf_counter()
    while time.perf_counter() < begin + 1:
        legal = observations[:, envs.driver_env.mask_slice]
        observations, _, _, _, new = envs.step((legal * (1 + rng.random(legal.shape))).argmax(axis=1))
        infos += new
        steps += len(legal)
    rounds = sum(info["n"] for info in infos)
    payoff = sum(info["episode_return"] * info["n"] for info in infos) / rounds
    print(f"{steps:,} steps in a second, choices included; {payoff:+.1f} chips a round of random play among tally")
    envs.close()


if __name__ == "__main__":
    main()
