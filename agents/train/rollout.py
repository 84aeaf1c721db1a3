"""What an iteration works with: tables, how their rounds begin, the record of decisions, and the networks that play and learn.

What is sampled at a table comes from a generator of its own, so that a round depends on its deal, that generator and the network
alone, not on other tables nor on how many there are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from nainjaune_env.agent import SeatAssignment, any_needs_history
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch, make_batch

from ..base.task import CARRIED, MATCH_ROUNDS, OWN, Task, match_rounds
from ..players.networks.common_layout import CommonView, random_payoff_scale
from ..players.networks.fused_mlp import FusedInference, FusedTraining, RunPair
from ..players.networks.policy_value import PolicyValueNet, ValueNet
from .opponents import Seating

BatchStart = Literal["fresh", "carried"]
START_BUCKETS = 8
"""Buckets of tables by the sum of drawn start values. Payoffs spread more where pots are large, so advantages and values are
learned in units of their spread within a bucket: otherwise the few rounds with the largest pots would outweigh all others."""
CRITIC_ROWS = 2048
"""Most observations that go through the critic at once."""
NO_CHOICE = "Not one round held a choice: there is nothing to learn here, unless more 'tables' have one."
"""What an error says where every action of the learner was the only legal one."""


def batch_start(task: Task) -> BatchStart:
    """Returns the argument ``start`` of a batch whose rounds :class:`RoundStarts` begins."""
    return "carried" if task.start == CARRIED else "fresh"


class RoundStarts:
    """Begins the rounds of a batch, one at every table at a time.

    With ``carried`` a table goes on with its match as long as the rules let it, or for ``MATCH_ROUNDS`` rounds under rules
    without an end, and then begins a new one. So that an iteration has rounds of all numbers, the first matches of a run end
    early: table i begins a second one after i mod ``MATCH_ROUNDS`` rounds. What goes on is the tables themselves, which
    :meth:`state_dict` returns for the checkpoint; to play each match from its beginning in every iteration would take many
    times as long.
    """

    def __init__(self, task: Task, batch: Batch, *, staggered: bool = True) -> None:
        """``batch`` is made with :func:`batch_start` and without autoreset; ``staggered``: whether first matches end early."""
        self._task = task
        self._draws = task.draws
        self._batch = batch
        self._most = match_rounds(batch.setup)
        self._staggered = staggered
        self._rounds = np.zeros(batch.num_tables, np.int64)  # begun of the running match; only counted where it is carried
        self._sums = np.zeros(batch.num_tables, np.int64)  # of the start values that were drawn last

    def deal(self, seeds: NDArray[np.uint64], iteration: int = 0) -> None:
        """Deals the next round at every table, its cards from ``seeds (B,)``, when ``iteration`` rounds were dealt before."""
        batch, task = self._batch, self._task
        if task.start != CARRIED:
            if self._draws:
                values = task.start_values(batch.setup, seeds)
                batch.set_start(values)
                self._sums = np.sum([value.sum(axis=1) for value in values.values()], axis=0)
            batch.reset(seeds=seeds)
            return
        over = batch.fetch(batch.tables)["stage"] == Stage.MATCH_OVER
        new_match = over | (self._rounds == 0)
        if self._most is not None:
            new_match |= self._rounds >= self._most
        if self._staggered and iteration < MATCH_ROUNDS:
            new_match |= np.arange(len(new_match)) % MATCH_ROUNDS == iteration
        for carry, which in ((False, np.flatnonzero(new_match)), (True, np.flatnonzero(~new_match))):
            if which.size:
                batch.reset(which, seeds=seeds[which], carry=carry)
        self._rounds = np.where(new_match, 1, self._rounds + 1)

    def buckets(self) -> NDArray[np.int64]:
        """Returns a number below :data:`START_BUCKETS` for each table ``(B,)``, by the sum of its drawn start values.

        The buckets are equal in size, except that tables with equal sums share one. Without drawn start values all tables are
        in bucket 0.
        """
        if not self._draws:
            return np.zeros_like(self._sums)
        below = np.searchsorted(np.sort(self._sums), self._sums)
        return below * START_BUCKETS // len(below)

    def state_dict(self) -> dict[str, Tensor]:
        """Returns what the next :meth:`deal` depends on: nothing, unless matches are carried."""
        if self._task.start != CARRIED:
            return {}
        tables = np.ascontiguousarray(self._batch.fetch(self._batch.tables))
        return {"tables": torch.from_numpy(tables.view(np.uint8).copy()), "rounds": torch.from_numpy(self._rounds.copy())}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Takes over what :meth:`state_dict` returned; raises ``KeyError`` or ``ValueError`` where it does not fit."""
        if self._task.start != CARRIED:
            return
        rows = state["tables"].numpy().view(self._batch.game.table)
        rounds = state["rounds"].numpy()
        if rows.shape != (self._batch.num_tables,) or rounds.shape != rows.shape:
            raise ValueError(f"expected the matches of {self._batch.num_tables} tables")
        if rounds.dtype != np.int64 or rounds.min() < 0:
            raise ValueError("expected numbers of rounds that are begun, int64 of at least 0")
        self._batch.set_tables(None, rows)
        self._rounds = rounds.copy()


class Tables:
    """The tables of one setup: starts of rounds, observations, players, payoffs."""

    def __init__(
        self,
        setup: Setup,
        part: slice,
        *,
        task: Task,
        sizes: tuple[int, int] = (0, 0),
        buffers: int = 1,
        number: int = 0,
        common: bool = False,
        device: str = "cpu",
        seating: Seating | None = None,
        rng_of: Callable[..., np.random.Generator] | None = None,
    ) -> None:
        """``part``: these tables among all of the run, whose setups are numbered; ``sizes`` of observations, and of what a
        critic observes, for ``buffers`` that are used in turn.

        ``common``: the network takes the common layout of the game, not the setup's own; ``device``: where the tables are;
        ``seating``: the opponents, None in self-play, with the generator ``rng_of(iteration, 1 + number)``.
        """
        self.setup = setup
        self.part = part
        self.number = number
        queued: dict[str, Any] = {} if device == "cpu" else {"device": device, "checks": "later"}
        log = seating is not None and any_needs_history(seating.agents)
        count = part.stop - part.start
        self.batch = make_batch(setup, count, start=batch_start(task), autoreset=False, log=log, **queued)
        self.starts = RoundStarts(task, self.batch)
        self._converts = None if task.objective == OWN else task.payoff
        self.views = (CommonView(setup), CommonView(setup, omniscient=True)) if common else None
        self._random_scale = random_payoff_scale(setup) if common else 0.0
        self._buffers = [RolloutBuffer(*sizes) for _ in range(buffers)]
        self._seating = seating if seating is not None and seating.agents else None
        self._rng_of = rng_of

    def __len__(self) -> int:
        return self.batch.num_tables

    def observe(self, index: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """Writes the observations of the seats to act at the tables ``index (K,)`` to ``out (K, size)``."""
        if self.views:
            out[:] = self.views[0](self.batch.observation[index])
        else:
            np.take(self.batch.observation, index, axis=0, out=out, mode="clip")  # not "raise", which copies once more

    def observe_all(self, index: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """Writes what a critic that sees all hands observes there to ``out (K, critic_obs_size)``."""
        seen = self.batch.omniscient(index)
        out[:] = self.views[1](seen) if self.views else seen

    def objective_payoff(self, payoff: Any) -> Any:
        """Returns ``payoff (K, players)``, NumPy's or torch's, as the objective counts it."""
        return self._converts(payoff) if self._converts else payoff

    def buffer(self, iteration: int) -> RolloutBuffer:
        """Returns the empty buffer for the decisions of an iteration."""
        buffer = self._buffers[iteration % len(self._buffers)]
        buffer.clear()
        return buffer

    def unit(self, net: PolicyValueNet) -> float:
        """Returns the unit of the values of ``net`` at these tables, in the game's unit."""
        return self._random_scale or float(net.payoff_scale)

    def seat_opponents(self, iteration: int) -> SeatAssignment | None:
        """Returns who plays where in this iteration; None in self-play."""
        if self._seating is None or self._rng_of is None:
            return None
        rng = self._rng_of(iteration, 1 + self.number)
        return SeatAssignment(self.batch, self._seating.agents, self._seating.seats(len(self), iteration), lambda *_: rng)

    def rollout(self, decisions: Decisions, payoff: NDArray[np.float32], unit: float) -> Rollout:
        """Returns the ``decisions`` of rounds that ended with ``payoff (B, players)``; their values are in ``unit``."""
        table = decisions.trajectory_id // self.setup.players
        columns = decisions._replace(value=decisions.value * np.float32(unit))._asdict()
        return Rollout(
            **columns,
            setup_index=np.full(len(table), self.number),
            bucket=self.number * START_BUCKETS + self.starts.buckets()[table],
            final=self.objective_payoff(payoff).ravel(),
            payoff_std=float(payoff.std()),
        )


class Decisions(NamedTuple):
    """N decisions at the tables of one setup, in order of time; on a GPU the first five are tensors there."""

    observation: Any  # (N, size) uint8
    omniscient: Any  # (N, critic_obs_size) uint8 for the critic; (N, 0) without
    legal: Any  # (N,) int64 legal actions as words, bit a = action a
    action: Any  # (N,) int64
    log_prob: Any  # (N,) float32 of the action, under the policy that chose it
    value: Any  # (N,) float32 in the network's unit
    trajectory_id: Any  # (N,) int64, table * players + seat
    return_so_far: Any  # (N,) float32, payoff that the seat had when it decided


@dataclass
class Rollout:
    """The T decisions of an iteration, in order of time; on a GPU the first five are tensors there."""

    observation: Any  # (T, size) uint8
    omniscient: Any  # (T, critic_obs_size) uint8 for the critic; (T, 0) without
    legal: Any  # (T,) int64 legal actions as words, bit a = action a
    action: Any  # (T,) int64
    log_prob: Any  # (T,) float32 of the action, under the policy that chose it
    value: NDArray[np.float32]  # (T,) in the game's unit: chips, cards
    setup_index: NDArray[np.int64]  # (T,) among the setups of the run
    bucket: NDArray[np.int64]  # (T,) rounds whose payoffs spread alike: by setup and by the sum of drawn start values
    trajectory_id: NDArray[np.int64]  # (T,) table * players + seat, counted on from one setup to the next
    return_so_far: NDArray[np.float32]  # (T,) payoff that the seat had when it decided
    final: NDArray[np.float32]  # (trajectories,) payoff of each seat at the end of the round
    payoff_std: float  # standard deviation of a seat's payoff


class RolloutBuffer:
    """Memory for the columns of a rollout, allocated once and extended as decisions come."""

    def __init__(self, size: int, critic_obs_size: int) -> None:
        """``size`` of an observation, and of what the critic observes, 0 without one."""
        self._columns: list[NDArray[Any]] = [np.empty((0, size), np.uint8), np.empty((0, critic_obs_size), np.uint8)]
        self._columns += [np.empty(0, kind) for kind in (np.int64, np.int64, np.float32, np.float32, np.int64, np.float32)]
        self._count = 0

    def clear(self) -> None:
        """Discards all rows."""
        self._count = 0

    def append(self, count: int) -> Decisions:
        """Adds ``count`` decisions and returns them to be written."""
        begin, self._count = self._count, self._count + count
        if self._count > len(self._columns[0]):
            longer = [np.empty((2 * self._count, *column.shape[1:]), column.dtype) for column in self._columns]
            for new, old in zip(longer, self._columns, strict=True):
                new[:begin] = old[:begin]
            self._columns = longer
        return Decisions(*(column[begin : self._count] for column in self._columns))

    def decisions(self) -> Decisions:
        """Returns all decisions."""
        return Decisions(*(column[: self._count] for column in self._columns))


def joined(rollouts: list[Rollout]) -> Rollout:
    """Returns the rollouts of several setups as one, in their order, without the ones that have no decision.

    Where none has one, it is the first of them.
    """
    decided = [rollout for rollout in rollouts if len(rollout.action)] or rollouts[:1]
    if len(decided) == 1:
        return decided[0]
    ends = np.cumsum([len(rollout.final) for rollout in decided])
    for rollout, end in zip(decided, ends, strict=True):
        rollout.trajectory_id += end - len(rollout.final)
    columns = {f.name: [getattr(rollout, f.name) for rollout in decided] for f in dataclasses.fields(Rollout)}
    payoff_std = float(np.mean(columns.pop("payoff_std")))
    return Rollout(**{name: _concatenated(parts) for name, parts in columns.items()}, payoff_std=payoff_std)


def _concatenated(columns: list[Any]) -> Any:
    return torch.cat(columns) if isinstance(columns[0], torch.Tensor) else np.concatenate(columns)


# ---- networks ----------------------------------------------------------------------------------------------------


class RolloutPolicy:
    """The networks that play: fused where they are plain MLPs, through torch otherwise."""

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
        """Whether a separate critic estimates values, not the network's value head."""
        return self._critic is not None

    def begin(self, trajectories: int) -> None:
        """Begins rounds: forgets all states, and keeps one for each of ``trajectories`` numbers of a (table, seat)."""
        if self.net.recurrent:
            self._states = self.net.initial_state(trajectories)

    def refresh(self) -> None:
        """Plays from here on by the parameters as they are now."""
        for fused in (self._fused, self._critic):
            if fused:
                fused.refresh()

    def __call__(self, observation: Tensor, trajectory_id: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits ``(K, A)``, not masked, and values ``(K,)``, float32.

        ``observation (K, size) uint8``; ``trajectory_id (K,) int64``, none twice: of whom, for networks with memory.
        """
        if self._fused:
            logits, value = self._fused(observation)
            return logits, value.squeeze(1)
        with torch.inference_mode(), torch.autocast(observation.device.type, torch.bfloat16, enabled=self._bf16):
            state = self._states[trajectory_id] if self.net.recurrent else None
            logits, value, after = self.net(observation, state)
            if after is not None:
                self._states[trajectory_id] = after.float()
        return logits, value

    def critic_value(self, critic_obs: Tensor) -> Tensor:
        """Returns the critic's values ``(K,)``, or ``(K, outputs)``, of ``critic_obs (K, critic_obs_size) uint8``."""
        assert self._critic is not None
        return torch.cat([self._critic(part)[0] for part in torch.split(critic_obs, CRITIC_ROWS)]).squeeze(1)


class NetOutput(NamedTuple):
    """The outputs of the networks for K decisions."""

    logits: Tensor  # (K, A) float32, not masked
    value: Tensor  # (K,) float32
    critic_value: Tensor | None  # (K,) float32, (K, outputs) of a critic with several, None without one
    state: Tensor | None  # (K, recurrent) after each decision, None without memory
    features: Tensor  # (K, width) that the heads take


class LearningNets:
    """The networks that learn, with gradients: fused where they are plain MLPs, through torch otherwise."""

    def __init__(self, net: PolicyValueNet, critic: ValueNet | None, dtype: torch.dtype, run_pair: RunPair | None = None) -> None:
        """``dtype`` of the products; ``run_pair`` runs two parts of a pass at the same time (None: in turn)."""
        self.net = net
        self._bf16 = dtype is torch.bfloat16
        chain = net.fused()
        self._fused = FusedTraining(chain, dtype, run_pair) if chain else None
        self._critic = FusedTraining(critic.fused(), dtype, run_pair) if critic else None

    def __call__(self, observation: Tensor, omniscient: Tensor, batch_sizes: Tensor | None) -> NetOutput:
        """Returns the outputs for ``observation (K, size) uint8``, and ``omniscient (K, critic_obs_size) uint8`` for the critic.

        ``batch_sizes`` of packed sequences for a network with memory, see ``PolicyValueNet.trunk``.
        """
        critic_value = self._critic(omniscient)[0].squeeze(1) if self._critic else None
        if self._fused:
            logits, value, features = self._fused(observation)
            return NetOutput(logits, value.squeeze(1), critic_value, None, features)
        with self._autocast():
            features, state = self.net.trunk(observation, sequences=batch_sizes)
            logits, value = self.net.heads(features)
        return NetOutput(logits, value, critic_value, state, features)

    def clip(self, max_norm: float) -> Tensor:
        """Scales the gradient of each network down to ``max_norm``; returns the norm that the policy's had."""
        norm = self._fused.clip_grad_norm_(max_norm) if self._fused else clip_grad_norm_(self.net.parameters(), max_norm)
        if self._critic:
            self._critic.clip_grad_norm_(max_norm)
        return norm

    def recall_loss(self, observation: Tensor, state: Tensor | None, batch_sizes: Tensor | None) -> Tensor:
        """Returns ``PolicyValueNet.recall_loss``, for a network with memory."""
        assert state is not None
        assert batch_sizes is not None
        with self._autocast():
            return self.net.recall_loss(observation, state, batch_sizes)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.net.device.type, torch.bfloat16, enabled=self._bf16)
