"""Measures the share of MaskablePPO's time that is spent in the environment, in self-play and with one learner among ``tally``.

The model is that of our own PPO (two hidden layers of 256) on 512 tables of `djeco`, trained through sb3-contrib's ``learn``.
Time in the environment is that of its steps, masks and resets, and of making all infos, which Stable-Baselines3 reads at every
step.
Seconds are of the processor, one thread; the first rollout is not counted.

  python benchmarks/learner_share.py             about a minute
  python benchmarks/learner_share.py --light     seconds: whether it runs at all
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnvWrapper

from nainjaune_agents.train.sb3 import NetPolicy, SelfPlayBuffer
from nainjaune_env.envs.sb3_vec_env import SeatVecEnv

RULES = {"preset": "djeco", "players": 4}
STEPS = 96


class Timed(VecEnvWrapper):
    """Adds up the processor's seconds in the environment."""

    seconds = 0.0

    def _timed(self, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        self.seconds += time.process_time() - start
        return result

    def reset(self) -> Any:
        """Times a reset."""
        return self._timed(self.venv.reset)

    def step_async(self, actions: Any) -> None:
        """Times the hand-over of actions."""
        self._timed(lambda: self.venv.step_async(actions))

    def step_wait(self) -> Any:
        """Times a step, and the making of its infos."""

        def step() -> Any:
            *arrays, infos = self.venv.step_wait()
            return *arrays, [*infos]

        return self._timed(step)

    def env_method(self, *arguments: Any, **settings: Any) -> Any:
        """Times the masks."""
        return self._timed(lambda: self.venv.env_method(*arguments, **settings))


def measure(opponents: str, tables: int, rollouts: int, hidden: list[int]) -> tuple[float, float]:
    """Returns the share of the environment in the training, and decisions a second of the processor."""
    venv = Timed(SeatVecEnv(tables, opponents=opponents, **RULES))  # type: ignore[arg-type]
    self_play = {"rollout_buffer_class": SelfPlayBuffer, "rollout_buffer_kwargs": {"venv": venv}} if opponents == "self" else {}
    network = {"layout": venv.venv.setup.layout, "arch": {"name": "mlp", "hidden": hidden}}  # type: ignore[attr-defined]
    model = MaskablePPO(
        NetPolicy, venv, n_steps=STEPS, batch_size=1024, n_epochs=2, gamma=1.0, policy_kwargs=network, seed=1, device="cpu",
        **self_play,
    )  # fmt: skip
    model.learn(STEPS * tables)
    venv.seconds = 0.0
    start = time.process_time()
    model.learn(rollouts * STEPS * tables)
    spent = time.process_time() - start
    return venv.seconds / spent, rollouts * STEPS * tables / spent


def main(arguments: list[str] | None = None) -> None:
    """Measures both, and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=512, help="tables in parallel (512)")
    parser.add_argument("--rollouts", type=int, default=6, help="rollouts that are timed (6)")
    parser.add_argument("--light", action="store_true", help="a small network and 32 tables, only to check that it runs")
    options = parser.parse_args(arguments)
    hidden = [256, 256]
    if options.light:
        options.tables, options.rollouts, hidden = 32, 1, [8]
    torch.set_num_threads(1)
    for opponents in ("tally", "self"):
        share, rate = measure(opponents, options.tables, options.rollouts, hidden)
        print(f"opponents {opponents:5}  {share:6.1%} of the time in the environment, {rate:,.0f} decisions a second")


if __name__ == "__main__":
    main()
