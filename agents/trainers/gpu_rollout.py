"""Collecting a rollout where the tables are, in torch's operations: ``rollout.play`` with nothing copied to the host.

Every step covers all tables, finished ones too, so that shapes are constant and no step waits for the number of running ones;
whether any runs is read every few steps. On a CPU it plays the same rounds as ``rollout.play``, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.engine.batch import Batch

from ..nets.common_layout import CommonView
from .rollout import Rollout, RolloutPolicy, Tables

CHECK_EVERY = 4
"""Steps between two checks whether all tables are done: a check waits for the device."""


@torch.inference_mode()
def play_on_gpu(
    tables: Tables,
    policy: RolloutPolicy,
    *,
    omniscient: bool,
    chance: NDArray[np.uint64],
    centred_payoff: Callable[[Any], Any],
) -> Rollout | None:
    """Plays as ``rollout.play`` does, the learner in all seats.

    ``omniscient``: whether all hands are recorded. ``observation``, ``omniscient``, ``legal``, ``action`` and ``log_prob`` of the
    rollout are tensors on the device of the tables; the other columns are NumPy arrays.
    """
    batch, n, device = tables.batch, tables.setup.players, policy.net.device
    generators = torch.from_numpy(chance.view(np.int64)).to(device)
    table = torch.arange(len(tables), device=device)
    policy.begin(len(tables) * n)
    payoff = view(batch, batch.reward).float()
    done, legal = view(batch, batch.done), view(batch, batch.legal)
    own_view, all_view = tables.views or (None, None)
    steps: list[tuple[Tensor, ...]] = []
    while len(steps) % CHECK_EVERY or not bool(done.all()):
        seat = view(batch, batch.seat).clone()
        observation = as_network_takes_it(own_view, view(batch, batch.observation))
        all_seen = as_network_takes_it(all_view, view(batch, batch.omniscient())) if omniscient else observation[:, :0]
        sequence = table * n + seat
        logits, value = policy(observation, sequence)
        words = legal.clone()
        action, log_prob = sample(logits, words.clamp(min=1), next_uniform(generators))
        so_far = centred_payoff(payoff)[table, seat]
        steps.append((observation, all_seen, words, action, log_prob, value, sequence, so_far, ~done))
        batch.step(action if batch.device != "cpu" else action.numpy())
        payoff += view(batch, batch.reward)
    batch.synchronize()
    if not steps:
        return None
    columns = [torch.stack(column).flatten(0, 1) for column in zip(*steps, strict=True)]
    rows = columns.pop().nonzero().squeeze(1)
    observation, all_seen, words, action, log_prob, value, sequence, so_far = (column[rows] for column in columns)
    if policy.has_critic:
        value = policy.critic_value(all_seen)
    final = payoff.cpu().numpy()
    return Rollout(
        observation, all_seen, words, action, log_prob, value.cpu().numpy(), np.zeros(len(rows), np.int64),
        np.zeros(len(rows), np.int64), sequence.cpu().numpy(), so_far.cpu().numpy(), centred_payoff(final).ravel(),
        float(final.std()), 0.0,
    )  # fmt: skip


def view(batch: Batch, array: Any) -> Tensor:
    """Returns an array of ``batch`` as a tensor: the same memory."""
    return torch.as_tensor(array, device=batch.device)


def as_network_takes_it(common: CommonView | None, seen: Tensor) -> Tensor:
    """Returns a copy of the observations ``seen (K, own size) uint8``, in the common layout where ``common`` is a view of it."""
    if common is None:
        return seen.clone()
    whole = torch.from_numpy(common.rest).to(seen.device).repeat(len(seen), 1)
    whole[:, torch.from_numpy(common.places).to(seen.device)] = seen
    return whole


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

    The states are words of 64 bits as int64, in which torch's sums and products wrap around like those of unsigned integers.
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
