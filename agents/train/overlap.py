"""PPO that plays the next iteration's rounds in a second thread while it learns from this one's.

The rounds are played by the weights from before this iteration's update, which the probability ratio of the loss accounts for.
Compiled code and torch's operations leave the interpreter to the other thread, so that two cores are used. When the second thread
is done before this one, it takes parts of this one's work (:meth:`Prefetcher.run_pair`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.spec import Setup

from ..players.networks.policy_value import ValueNet
from .base import BaseTrainer
from .rollout import Rollout, RolloutPolicy

R = TypeVar("R")
T = TypeVar("T", bound=BaseTrainer[Any])


class Overlap(BaseTrainer[Any]):
    """A base before PPO's trainer: rounds are played by copies of the networks, an iteration behind."""

    critic: ValueNet | None
    dtype: torch.dtype

    def __init__(self, config: Any, setup: Setup) -> None:
        trainer: Any = super()  # PPO's
        self.prefetcher: Prefetcher[Any] = Prefetcher(trainer.next_rollout, config.threads)
        trainer.__init__(config, setup, run_pair=self.prefetcher.run_pair)
        self.behaviour = copy.deepcopy((self.net, self.critic))
        self.policy = RolloutPolicy(*self.behaviour, self.dtype)
        copies = zip(("behaviour.", "behaviour_critic."), self.behaviour, strict=True)
        self.modules |= {prefix: net for prefix, net in copies if net}

    def next_rollout(self, iteration: int) -> tuple[Rollout, np.random.Generator]:
        rollout: tuple[Rollout, np.random.Generator] = self.prefetcher.take(iteration)
        self.update_behaviour()
        if iteration + 1 < self.config.iterations:
            self.prefetcher.begin(iteration + 1)
        return rollout

    def load_initial_weights(self, run: str, **options: Any) -> None:
        super().load_initial_weights(run, **options)
        self.update_behaviour()

    def update_behaviour(self) -> None:
        """Copies the weights that learn to the networks that play."""
        for copied, module in zip(self.behaviour, (self.net, self.critic), strict=True):
            if copied and module:
                copied.load_state_dict(module.state_dict())


def check_overlap(trainer: T) -> T:
    """Returns ``trainer``; raises :class:`ConfigError` if its configuration has ``overlap`` and it is not an :class:`Overlap`."""
    if trainer.config.overlap and not isinstance(trainer, Overlap):
        raise ConfigError(
            f"With overlap=True rounds are played ahead: derive {type(trainer).__name__!r} from ppo.OverlapTrainer, or set "
            "'overlap' to false."
        )
    return trainer


class Prefetcher(Generic[R]):
    """The result of a function of the iteration's number, computed ahead, for one iteration at most."""

    def __init__(self, compute: Callable[[int], R], threads: int) -> None:
        """``compute`` must depend only on what does not change between :meth:`begin` and :meth:`take`.

        ``threads``: torch's in the other thread; unless the number is set there, it gives other bits than this thread.
        """
        self._compute = compute
        self._pool = ThreadPoolExecutor(1, "prefetcher", _set_up_thread, (threads,))
        self._pending: tuple[int, Future[R]] | None = None

    def run_pair(self, one: Callable[[], object], other: Callable[[], object]) -> None:
        """Calls both functions: ``other`` in the second thread where that has nothing to do, otherwise after ``one``.

        Neither may depend on what the other one writes. Whether they run at the same time depends on what else the machine does,
        so results must be the same either way: torch uses as many threads in both. Raises what they raise.
        """
        if self._pending is not None and not self._pending[1].done():
            one()
            other()
            return
        begun = self._pool.submit(_without_gradients, other)
        try:
            one()
        finally:
            begun.result()

    def begin(self, iteration: int) -> None:
        """Begins to compute the result of ``iteration`` in the other thread."""
        self._pending = iteration, self._pool.submit(self._compute, iteration)

    def take(self, iteration: int) -> R:
        """Returns the result of ``iteration``: waits for it if it was begun, else computes it now.

        Raises what the computation raised.
        """
        pending, self._pending = self._pending, None
        if pending is None:
            return self._compute(iteration)
        begun, future = pending
        assert begun == iteration
        return future.result()


def _set_up_thread(threads: int) -> None:
    torch.set_num_threads(threads)
    # The weights that autocast has cast are kept for all threads, and a thread that leaves its outermost autocast discards them.
    # Then the thread that learns would cast some again, at a moment that depends on chance, and add gradients in another order.
    # So this thread never leaves it; what it computes is in inference mode, where none are kept.
    torch.autocast_increment_nesting()


def _without_gradients(work: Callable[[], object]) -> None:
    with torch.no_grad():  # what is written are gradients and parameters, and torch keeps this setting for each thread
        work()
