"""Collecting a rollout where the tables are, in torch's operations: ``ppo.Trainer.play`` with nothing copied to the host.

Every step covers all tables of a setup, finished ones too, so that no step waits for the number of running ones; whether any runs
is read every few steps. With a mixture the setups are played in step, so that a forward pass is launched once for all of them. On
a CPU it plays the same rounds as ``ppo.Trainer.play``, up to rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.engine.batch import Batch

from .rollout import Decisions, RolloutPolicy, Tables

CHECK_EVERY = 4
"""Steps between two checks whether all tables are done: a check waits for the device."""


@torch.inference_mode()
def play_on_gpu(
    parts: Sequence[Tables],
    policy: RolloutPolicy,
    rng_states: NDArray[np.uint64],
    *,
    privileged: bool,
) -> list[tuple[Decisions, NDArray[np.float32]]]:
    """Plays as ``ppo.Trainer.play`` does, the learner in all seats, at the tables of several setups in step.

    One forward pass of the network is for the tables of all ``parts``; ``rng_states`` has the generators of all. ``privileged``:
    whether all hands are recorded. Returns what ``play`` does for each part.
    """
    device = policy.net.device
    firsts = np.cumsum([0, *(len(tables) * tables.setup.players for tables in parts)])
    policy.begin(int(firsts[-1]))
    played = [PlayedTables(tables, int(first), privileged, device) for tables, first in zip(parts, firsts, strict=False)]
    playing = played
    generators = torch.from_numpy(rng_states.copy().view(np.int64)).to(device)
    for step in itertools.count():
        sizes = [len(part.table) for part in playing]
        if step % CHECK_EVERY == 0:
            all_done = torch.stack([part.done.all() for part in playing]).tolist()
            if all(all_done):
                break
            if any(all_done):  # that setup is done; its tables would only be evaluated on
                states_by_setup = zip(torch.split(generators, sizes), all_done, strict=True)
                generators = torch.cat([states for states, ended in states_by_setup if not ended])
                playing = [part for part, ended in zip(playing, all_done, strict=True) if not ended]
                sizes = [len(part.table) for part in playing]
        # torch.cat copies: the batches overwrite their arrays
        seen, critic_obs, legal_bits, trajectory_id = (
            torch.cat(column) for column in zip(*(part.seen() for part in playing), strict=True)
        )
        logits, value = policy(seen, trajectory_id)
        action, log_prob = sample(logits, legal_bits.clamp(min=1), next_uniform(generators))
        columns = (
            torch.split(column, sizes) for column in (seen, critic_obs, legal_bits, action, log_prob, value, trajectory_id)
        )
        for part, *columns_of_part in zip(playing, *columns, strict=True):
            part.step(columns_of_part)
    return [part.recorded(policy) for part in played]


class PlayedTables:
    """The tables of one setup while they are played: the input of a step, and the records of earlier steps."""

    def __init__(self, tables: Tables, first: int, privileged: bool, device: torch.device) -> None:
        """``first``: the number of the first (table, seat), counted over all parts."""
        self._batch, self._players, self._first = tables.batch, tables.setup.players, first
        self._privileged = privileged
        self._objective_payoff = tables.objective_payoff
        self.table = torch.arange(len(tables), device=device)
        self.done = view(self._batch, self._batch.done)
        self._legal, self._payoff = view(self._batch, self._batch.legal), view(self._batch, self._batch.reward).float()
        # copied once: a copy to the device at each step would wait for it
        self._common = [
            (torch.from_numpy(common.rest).to(device), torch.from_numpy(common.places).to(device))
            for common in tables.views or ()
        ]
        self._steps: list[tuple[Tensor, ...]] = []

    def seen(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Returns observations as the network takes them, observations of all hands, legal actions, and whose turn it is."""
        observation = self._as_network_takes_it(0, self._batch.observation)
        critic_obs = self._as_network_takes_it(1, self._batch.omniscient()) if self._privileged else observation[:, :0]
        return (
            observation,
            critic_obs,
            self._legal,
            self._first + self.table * self._players + view(self._batch, self._batch.seat),
        )

    def step(self, columns: Sequence[Tensor]) -> None:
        """Records ``columns`` of a rollout, up to the value and the trajectory, and takes the action."""
        action, trajectory_id = columns[3], columns[-1]
        so_far = self._objective_payoff(self._payoff).flatten()[trajectory_id - self._first]
        self._steps.append((*columns, so_far, ~self.done))
        self._batch.step(action if self._batch.device != "cpu" else action.numpy())
        self._payoff += view(self._batch, self._batch.reward)

    def recorded(self, policy: RolloutPolicy) -> tuple[Decisions, NDArray[np.float32]]:
        """Returns what was recorded of tables that were not done, in order of time, and the payoffs ``(B, players)``."""
        self._batch.synchronize()
        payoff = self._payoff.cpu().numpy()
        if not self._steps:
            return Decisions(*[np.zeros(0, np.int64)] * 8), payoff
        columns = [torch.stack(column).flatten(0, 1) for column in zip(*self._steps, strict=True)]
        rows = columns.pop().nonzero().squeeze(1)
        *on_device, value, trajectory_id, so_far = (column[rows] for column in columns)
        if policy.has_critic:
            value = policy.critic_value(on_device[1])
        others = (value, trajectory_id - self._first, so_far)
        return Decisions(*on_device, *(column.cpu().numpy() for column in others)), payoff

    def _as_network_takes_it(self, kind: int, array: Any) -> Tensor:
        """Returns observations ``(K, own size) uint8`` in the layout of the network."""
        seen = view(self._batch, array)
        if not self._common:
            return seen
        rest, places = self._common[kind]
        whole = rest.repeat(len(seen), 1)
        whole[:, places] = seen
        return whole


def view(batch: Batch, array: Any) -> Tensor:
    """Returns an array of ``batch`` as a tensor: the same memory."""
    return torch.as_tensor(array, device=batch.device)


def sample(logits: Tensor, legal: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """``sampling.sample`` in torch's operations: returns actions ``(K,) int64`` and log-probabilities ``(K,) float32``.

    ``logits (K, A) float32``, ``legal (K,) int64`` words, none 0, and ``uniform (K,) float64`` in [0, 1).
    """
    masked = logits.masked_fill(~unpacked(legal, logits.shape[1]), -torch.inf)
    below = masked - masked.max(dim=1, keepdim=True).values
    weights = below.exp().double()
    # a product is a fifth of the time of a cumsum on a GPU; either may round the sum differently from one action to the next,
    # also where the next one has no weight, so that it must not be chosen by its sum alone
    ends = weights @ torch.ones((weights.shape[1],) * 2, dtype=weights.dtype, device=weights.device).triu()
    possible = weights > 0
    beyond = possible & (ends > (uniform * ends[:, -1])[:, None])
    last = weights.shape[1] - 1 - possible.flip(1).byte().argmax(dim=1)
    action = torch.where(beyond.any(dim=1), beyond.byte().argmax(dim=1), last)  # rounding may leave a rest after the last one
    log_prob = below.gather(1, action[:, None]).squeeze(1) - ends[:, -1].log().float()
    return action, log_prob


def unpacked(legal: Tensor, actions: int) -> Tensor:
    """Returns masks ``(K, actions) bool`` of the words ``legal (K,) int64``, bit a = action a."""
    return (legal[:, None] >> torch.arange(actions, device=legal.device) & 1).bool()


def next_uniform(states: Tensor) -> Tensor:
    """``prng.RowStreams.random``: advances the generators ``states (K,) int64`` and returns uniform numbers ``(K,) float64``.

    States are 64-bit words as int64; torch's sums and products of them wrap around as unsigned ones do.
    """
    states += _signed(0x9E3779B97F4A7C15)
    word = states
    word = (word ^ _shifted(word, 30)) * _signed(0xBF58476D1CE4E5B9)
    word = (word ^ _shifted(word, 27)) * _signed(0x94D049BB133111EB)
    word = word ^ _shifted(word, 31)
    return _shifted(word, 11).double() * 2.0**-53


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _shifted(word: Tensor, by: int) -> Tensor:
    return word >> by & (1 << 64 - by) - 1  # without the sign, shifted in from the left
