"""Collecting a rollout: one round at each table, every decision of the learner recorded, and the advantages of these decisions.

What is sampled at a table comes from a generator of its own, so that a round depends on its deal, that generator and the network
alone, not on other tables nor on how many there are.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.agent import SeatAssignment
from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import make_batch
from nainjaune_env.engine.history import history_of, observation_with_history

from ..nets.common_layout import CommonView
from ..nets.fused_mlp import FusedInference
from ..nets.modules import ValueNet
from ..nets.policy_value import PolicyValueNet
from ..sampling import sample
from .starts import BatchStart

LEARNER = -1
"""In the seats of a ``SeatAssignment``: the network that learns, none of its agents."""
CRITIC_ROWS = 2048
"""Most observations that go through the critic at once."""


class Tables:
    """The tables of one setup, with their observations as the network takes them."""

    def __init__(
        self,
        setup: Setup,
        count: int,
        *,
        common: bool,
        device: str = "cpu",
        start: BatchStart = "fresh",
        history: int = 0,
        log: bool = False,
    ) -> None:
        """``common``: the network takes the common layout of the game, not the setup's own; ``device``: where the tables are.

        ``start`` is that of ``Batch``, and ``log`` for other players that read it; ``history``: plies that the network observes.
        """
        self.setup = setup
        queued: dict[str, Any] = {} if device == "cpu" else {"device": device, "checks": "later"}
        self.batch = make_batch(setup, count, start=start, autoreset=False, log=log or history > 0, **queued)
        self._plies = history
        self.views = (CommonView(setup), CommonView(setup, omniscient=True)) if common else None

    def __len__(self) -> int:
        return self.batch.num_tables

    def observe(self, index: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """Writes the observations of the seats to act at the tables ``index (K,)`` to ``out (K, size)``."""
        if self._plies:
            history = history_of(self.batch, index)
            out[:] = observation_with_history(
                self.setup, self.batch.observation[index], history, self.batch.seat[index], self._plies
            )
        elif self.views:
            out[:] = self.views[0](self.batch.observation[index])
        else:
            np.take(self.batch.observation, index, axis=0, out=out, mode="clip")  # not "raise", which copies once more

    def observe_all(self, index: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """Writes what a critic that sees all hands observes there to ``out (K, larger size)``."""
        seen = self.batch.omniscient(index)
        out[:] = self.views[1](seen) if self.views else seen


class RolloutPolicy:
    """The networks as rollouts use them: fused where they are plain MLPs, through torch otherwise."""

    def __init__(self, net: PolicyValueNet, critic: ValueNet | None, dtype: torch.dtype) -> None:
        """``dtype`` of the products. The networks stay on their device."""
        self.net = net
        chain = net.fused()
        self._fused = FusedInference(chain, dtype) if chain else None
        self._critic = FusedInference(critic.fused(), dtype) if critic else None
        self._bf16 = dtype is torch.bfloat16
        self._states = net.initial_state(0)

    @property
    def has_critic(self) -> bool:
        """Whether a critic of its own judges in place of the network's value head."""
        return self._critic is not None

    def begin(self, sequences: int) -> None:
        """Begins rounds: forgets all states, and keeps one for each of ``sequences`` numbers of a (table, seat)."""
        self._states = self.net.initial_state(sequences)

    def refresh(self) -> None:
        """Plays from here on by the parameters as they are now."""
        for fused in (self._fused, self._critic):
            if fused:
                fused.refresh()

    def __call__(self, observation: Tensor, sequence: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits ``(K, A)``, not masked, and values ``(K,)``, float32.

        ``observation (K, size) uint8``; ``sequence (K,) int64``, none twice: of whom, for networks with memory.
        """
        if self._fused:
            logits, value = self._fused(observation)
            return logits, value.squeeze(1)
        with torch.inference_mode(), torch.autocast(observation.device.type, torch.bfloat16, enabled=self._bf16):
            logits, value, after = self.net(observation, self._states[sequence])
            if after is not None:
                self._states[sequence] = after.float()
        return logits, value

    def critic_value(self, all_seen: Tensor) -> Tensor:
        """Returns the critic's values ``(K,)`` of ``all_seen (K, larger size) uint8``."""
        assert self._critic is not None
        return torch.cat([self._critic(part)[0] for part in torch.split(all_seen, CRITIC_ROWS)]).squeeze(1)


@dataclass
class Rollout:
    """The T decisions of an iteration, in order of time; on a GPU the first five are tensors there."""

    observation: Any  # (T, size) uint8
    omniscient: Any  # (T, larger size) uint8 for the critic and the belief head; (T, 0) without
    legal: Any  # (T,) int64 legal actions as words, bit a = action a
    action: Any  # (T,) int64
    log_prob: Any  # (T,) float32 of the action, under the policy that chose it
    value: NDArray[np.float32]  # (T,) in the game's unit: chips, cards
    task: NDArray[np.int64]  # (T,) index of the setup, among those of the run
    group: NDArray[np.int64]  # (T,) rounds whose payoffs spread alike: by setup and by the sum of drawn start values
    sequence: NDArray[np.int64]  # (T,) table * players + seat, counted on from one setup to the next
    return_so_far: NDArray[np.float32]  # (T,) payoff that the seat had when it decided
    final: NDArray[np.float32]  # (sequences,) payoff of each seat at the end of the round
    payoff_std: float  # standard deviation of a seat's payoff
    network_seconds: float

    def advantages(self, lam: float) -> NDArray[np.float32]:
        """Returns generalised advantage estimates ``(T,)``, see :func:`gae`."""
        return gae(self.sequence, self.return_so_far, self.value, self.final, lam)


class RolloutBuffer:
    """Memory for the columns of a rollout, allocated once and extended as decisions come."""

    def __init__(self, size: int, larger_size: int) -> None:
        """``size`` of an observation, and of what the critic observes, 0 without one."""
        self._columns: list[NDArray[Any]] = [np.empty((0, size), np.uint8), np.empty((0, larger_size), np.uint8)]
        self._columns += [np.empty(0, kind) for kind in (np.int64, np.int64, np.float32, np.float32, np.int64, np.float32)]
        self._count = 0

    def clear(self) -> None:
        """Discards all rows."""
        self._count = 0

    def append(self, count: int) -> list[NDArray[Any]]:
        """Adds ``count`` rows and returns them to be written: ``observation`` to ``value``, ``sequence``, ``return_so_far``."""
        begin, self._count = self._count, self._count + count
        if self._count > len(self._columns[0]):
            longer = [np.empty((2 * self._count, *column.shape[1:]), column.dtype) for column in self._columns]
            for new, old in zip(longer, self._columns, strict=True):
                new[:begin] = old[:begin]
            self._columns = longer
        return [column[begin : self._count] for column in self._columns]

    def columns(self) -> list[NDArray[Any]]:
        """Returns all rows, as :meth:`append` does."""
        return [column[: self._count] for column in self._columns]


def play(
    tables: Tables,
    policy: RolloutPolicy,
    others: SeatAssignment,
    buffer: RolloutBuffer,
    *,
    chance: NDArray[np.uint64],
    centred_payoff: Callable[[NDArray[np.float32]], NDArray[np.float32]],
) -> Rollout | None:
    """Plays the rounds that were dealt at ``tables`` to their end; returns None where none of them held a choice.

    ``others`` act in the seats that are not the :data:`LEARNER`'s. ``chance (B,) uint64`` is the state of each table's generator,
    and is advanced. ``centred_payoff`` maps payoffs ``(K, players)`` to those that are learned from. The rollout lies in the
    ``buffer`` until the next one is collected; its values are in the network's unit.
    """
    batch, n = tables.batch, tables.setup.players
    payoff = batch.reward.astype(np.float32)
    network_seconds = 0.0
    buffer.clear()
    actions = np.zeros(len(tables), np.int64)
    policy.begin(len(tables) * n)
    self_play = not others.agents
    while (index := np.flatnonzero(~batch.done)).size:
        seat = batch.seat[index]
        if not self_play:
            actions[index] = others.actions(index)
            learns = others.seats[index, seat] == LEARNER
            index, seat = index[learns], seat[learns]
        observation, omniscient, legal, action, log_prob, value, sequence, return_so_far = buffer.append(index.size)
        tables.observe(index, observation)
        legal[:] = batch.legal[index]
        sequence[:] = index * n + seat
        clock = time.perf_counter()
        logits, values = policy(torch.from_numpy(observation), torch.from_numpy(sequence))
        network_seconds += time.perf_counter() - clock
        action[:], log_prob[:] = sample(logits.numpy(), legal, RowStreams(chance, index))
        if omniscient.size:
            tables.observe_all(index, omniscient)
        value[:] = values.numpy()
        return_so_far[:] = centred_payoff(payoff[index])[np.arange(index.size), seat]
        actions[index] = action
        batch.step(actions)
        others.stepped()
        payoff += batch.reward
    observation, omniscient, legal, action, log_prob, value, sequence, return_so_far = buffer.columns()
    if not len(action):
        return None
    if policy.has_critic:
        clock = time.perf_counter()
        value = policy.critic_value(torch.from_numpy(omniscient)).numpy()
        network_seconds += time.perf_counter() - clock
    final, task, group = centred_payoff(payoff).ravel(), np.zeros(len(action), np.int64), np.zeros(len(action), np.int64)
    return Rollout(
        observation, omniscient, legal, action, log_prob, value, task, group, sequence, return_so_far, final,
        float(payoff.std()), network_seconds,
    )  # fmt: skip


def joined(rollouts: list[Rollout]) -> Rollout:
    """Returns the rollouts of several setups as one, in their order."""
    if len(rollouts) == 1:
        return rollouts[0]
    ends = np.cumsum([len(rollout.final) for rollout in rollouts])
    for rollout, end in zip(rollouts, ends, strict=True):
        rollout.sequence += end - len(rollout.final)
    columns = {
        f.name: _concatenated([getattr(rollout, f.name) for rollout in rollouts])
        for f in dataclasses.fields(Rollout)
        if f.name not in ("payoff_std", "network_seconds")
    }
    payoff_std = float(np.mean([rollout.payoff_std for rollout in rollouts]))
    return Rollout(**columns, payoff_std=payoff_std, network_seconds=sum(rollout.network_seconds for rollout in rollouts))


def _concatenated(columns: list[Any]) -> Any:
    return torch.cat(columns) if isinstance(columns[0], torch.Tensor) else np.concatenate(columns)


def gae(
    sequence: NDArray[np.int64],
    return_so_far: NDArray[np.float32],
    value: NDArray[np.float32],
    final: NDArray[np.float32],
    lam: float,
) -> NDArray[np.float32]:
    """Returns generalised advantage estimates of T decisions, undiscounted, every sequence played to its end.

    ``sequence (T,)`` numbers the (table, seat) that decides, in order of time; ``return_so_far (T,)`` is the payoff that the seat
    had then, ``final (C,)`` that of each sequence at the end, ``value (T,)`` the critic's estimate of the rest. The reward of a
    decision is the payoff up to the same seat's next one. With ``lam = 1``: the rest of the payoff, minus the value.

    Schulman, Moritz, Levine, Jordan and Abbeel, "High-dimensional continuous control using GAE", 2016, eq. 16.
    """
    out = np.empty(len(sequence), np.float32)
    later = np.zeros((len(final), 4))  # per sequence: payoff, value and advantage at its next decision; 1 = it has one
    _gae_backward(sequence, return_so_far, value, final, lam, out, later)
    return out


@jit
def _gae_backward(sequence: Any, return_so_far: Any, value: Any, final: Any, lam: Any, out: Any, later: Any) -> None:
    for t in range(sequence.size - 1, -1, -1):
        s = sequence[t]
        if later[s, 3] == 0.0:
            later[s, 0] = final[s]
        delta = later[s, 0] - return_so_far[t] + later[s, 1] - value[t]
        out[t] = delta + lam * later[s, 2]
        later[s, 0] = return_so_far[t]
        later[s, 1] = value[t]
        later[s, 2] = out[t]
        later[s, 3] = 1.0
