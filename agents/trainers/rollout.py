"""Playing rounds to learn from: a round at each of some tables, every decision of the learner kept.

What is drawn at a table comes from a generator of its own, so that a round depends on its deal, that generator and the network
alone, and not on what happens at other tables, nor on how many there are.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from nainjaune_env.agent import SeatAssignment
from nainjaune_env.core.prng import RowStreams

from ..sampling import sample
from .multitask import Tables

LEARNER = -1
"""In the seats of a ``SeatAssignment``: nobody of its agents, so the network itself."""


@dataclass
class Rollout:
    """The T decisions of an iteration, in order of time; on a GPU the first five are torch's and lie there."""

    observation: Any  # (T, size) uint8
    omniscient: Any  # (T, larger size) uint8 for the privileged critic; (T, 0) without
    legal: Any  # (T,) int64 legal actions as words, bit a = action a
    action: Any  # (T,) int64
    log_prob: Any  # (T,) float32 of the action, under the policy that chose it
    value: NDArray[np.float32]  # (T,) in the game's unit: chips, cards
    part: NDArray[np.int64]  # (T,) which of the trainer's parts
    chain: NDArray[np.int64]  # (T,) table * players + seat, counted on from one part to the next
    earned: NDArray[np.float32]  # (T,) what that seat had netted when it decided, see own_share
    final: NDArray[np.float32]  # (chains,) what each seat netted in the end, see own_share
    spread: float  # standard deviation of a seat's payoff
    network_seconds: float


class Record:
    """Where decisions are written down as they are made, a row of each column, in memory that is used again."""

    def __init__(self, size: int, wider: int) -> None:
        """``size`` of what a seat observes, and of what a critic sees, 0 without one."""
        self._columns: list[NDArray[Any]] = [np.empty((0, size), np.uint8), np.empty((0, wider), np.uint8)]
        self._columns += [np.empty(0, kind) for kind in (np.int64, np.int64, np.float32, np.float32, np.int64, np.float32)]
        self._count = 0

    def clear(self) -> None:
        """Begin anew."""
        self._count = 0

    def rows(self, count: int) -> list[NDArray[Any]]:
        """So many rows more, to be written: as in :class:`Rollout` ``observation`` to ``value``, ``chain`` and ``earned``."""
        begin, self._count = self._count, self._count + count
        if self._count > len(self._columns[0]):
            longer = [np.empty((2 * self._count, *column.shape[1:]), column.dtype) for column in self._columns]
            for new, old in zip(longer, self._columns, strict=True):
                new[:begin] = old[:begin]
            self._columns = longer
        return [column[begin : self._count] for column in self._columns]

    def written(self) -> list[NDArray[Any]]:
        """All rows since it was cleared."""
        return [column[: self._count] for column in self._columns]


class Player(Protocol):
    """The networks, as collecting asks them."""

    def told(self, observation: NDArray[np.uint8], state: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits, not masked, and the value in the last column, ``(K, A + 1)``; ``state (K, recurrent)`` is written over."""
        ...

    def judged(self, omniscient: NDArray[np.uint8]) -> NDArray[np.float32] | None:
        """Values ``(K,)`` of the critic that sees all hands; None where there is none."""
        ...


def play(
    part: Tables,
    player: Player,
    others: SeatAssignment,
    record: Record,
    *,
    chance: NDArray[np.uint64],
    recurrent: int,
    own_share: Callable[[NDArray[np.float32]], NDArray[np.float32]],
) -> Rollout | None:
    """Play the rounds that were dealt at the tables of ``part``; None where none of them held a choice.

    ``others`` act in the seats that are not the :data:`LEARNER`'s; ``chance (B,) uint64`` is each table's generator for what is
    drawn there, and moves on. The rollout lies in the ``record``, until the next one does; its values are in the network's unit.
    """
    batch, n = part.batch, part.setup.players
    earned = batch.reward.astype(np.float32)
    network_seconds = 0.0
    record.clear()
    actions = np.zeros(len(part), np.int64)
    states = np.zeros((len(part), n, recurrent), np.float32)
    alone = not others.agents
    while (index := np.flatnonzero(~batch.done)).size:
        seat = batch.seat[index]
        if not alone:
            actions[index] = others.actions(index)
            mine = others.seats[index, seat] == LEARNER
            index, seat = index[mine], seat[mine]
        observation, omniscient, legal, action, log_prob, value, chain, so_far = record.rows(index.size)
        part.observed(index, observation)
        legal[:] = batch.legal[index]
        clock = time.perf_counter()
        state = states[index, seat]
        told = player.told(observation, state)
        states[index, seat] = state
        network_seconds += time.perf_counter() - clock
        action[:], log_prob[:] = sample(told, legal, RowStreams(chance, index))
        if omniscient.size:
            part.omniscient(index, omniscient)
        value[:] = told[:, -1]
        chain[:] = index * n + seat
        so_far[:] = own_share(earned[index])[np.arange(index.size), seat]
        actions[index] = action
        batch.step(actions)
        others.stepped()
        earned += batch.reward
    observation, omniscient, legal, action, log_prob, value, chain, so_far = record.written()
    if not len(action):
        return None
    clock = time.perf_counter()
    judged = player.judged(omniscient)
    network_seconds += time.perf_counter() - clock
    value = value if judged is None else judged
    final, spread, where = own_share(earned).ravel(), float(earned.std()), np.zeros(len(action), np.int64)
    return Rollout(observation, omniscient, legal, action, log_prob, value, where, chain, so_far, final, spread, network_seconds)


def joined(rollouts: list[Rollout]) -> Rollout:
    """The rollouts of several parts, one after the other."""
    if len(rollouts) == 1:
        return rollouts[0]
    ends = np.cumsum([len(rollout.final) for rollout in rollouts])
    for rollout, end in zip(rollouts, ends, strict=True):
        rollout.chain += end - len(rollout.final)
    columns = {
        f.name: _concatenated([getattr(rollout, f.name) for rollout in rollouts])
        for f in dataclasses.fields(Rollout)
        if f.name not in ("spread", "network_seconds")
    }
    spread = float(np.mean([rollout.spread for rollout in rollouts]))
    return Rollout(**columns, spread=spread, network_seconds=sum(rollout.network_seconds for rollout in rollouts))


def _concatenated(columns: list[Any]) -> Any:
    return torch.cat(columns) if isinstance(columns[0], torch.Tensor) else np.concatenate(columns)
