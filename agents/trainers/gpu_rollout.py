"""Collecting where the tables are, in torch's operations: what ``collecting.play`` does, with nothing brought to the host.

Every step is of all tables, those at rest too, so that shapes stay and no step waits to be told how many still play; whether any
does is asked every few steps. On a CPU it plays the same rounds as ``collecting.play``, but for what rounding does to a draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nainjaune_env.engine.batch import Batch

from .multitask import Tables
from .passes import Networks
from .ppo_loss import unpacked
from .rollout import Rollout

LOOK_EVERY = 4
"""Steps between two looks whether all tables are at rest: to look is to wait."""


@torch.inference_mode()
def play_there(
    part: Tables,
    networks: Networks,
    *,
    chance: NDArray[np.uint64],
    own_share: Callable[[Any], Any],
) -> Rollout | None:
    """As ``collecting.play``, the learner in all seats; what is large of the rollout are tensors where the tables are.

    These are ``observation``, ``omniscient``, ``legal``, ``action`` and ``log_prob``; the rest are NumPy's.
    """
    batch, n, device = part.batch, part.setup.players, networks.net.device
    all_seen = bool(networks.critic or networks.belief)
    step = networks.stepper()
    drawn_from = torch.from_numpy(chance.view(np.int64)).to(device)
    table = torch.arange(len(part), device=device)
    states = torch.zeros((len(part), n, networks.net.recurrent), device=device)
    earned = view(batch, batch.reward).float()
    done, legal = view(batch, batch.done), view(batch, batch.legal)
    kept: list[tuple[Tensor, ...]] = []
    steps = 0
    while steps % LOOK_EVERY or not bool(done.all()):
        seat = view(batch, batch.seat).clone()
        observation = part.observed_there(view(batch, batch.observation))
        omniscient = part.omniscient_there(view(batch, batch.omniscient())) if all_seen else observation[:, :0]
        told, after = step(observation, states[table, seat])
        states[table, seat] = after
        words = legal.clone()
        action, log_prob = draw(told, words.clamp(min=1), next_uniform(drawn_from))
        so_far = own_share(earned)[table, seat]
        kept.append((observation, omniscient, words, action, log_prob, told[:, -1], table * n + seat, so_far, ~done))
        batch.step(action if batch.device != "cpu" else action.numpy())
        earned += view(batch, batch.reward)
        steps += 1
    batch.synchronize()
    if not kept:
        return None
    columns = [torch.stack(column).flatten(0, 1) for column in zip(*kept, strict=True)]
    rows = columns.pop().nonzero().squeeze(1)
    observation, omniscient, words, action, log_prob, value, chain, so_far = (column[rows] for column in columns)
    if networks.critic:
        value = networks.judged(omniscient)
    net = earned.cpu().numpy()
    return Rollout(
        observation, omniscient, words, action, log_prob, value.cpu().numpy(), np.zeros(len(rows), np.int64),
        chain.cpu().numpy(), so_far.cpu().numpy(), own_share(net).ravel(), float(net.std()), 0.0,
    )  # fmt: skip


def view(batch: Batch, array: Any) -> Tensor:
    """An array of a batch's, or that it gives, as torch's: the same memory."""
    return torch.as_tensor(array, device=batch.device)


def draw(told: Tensor, legal: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """``sampling.sample`` in torch's operations: actions ``(K,) int64`` and their log-probabilities ``(K,) float32``.

    ``told (K, A + 1) float32`` are logits and in the last column something else, ``legal (K,) int64`` words, none 0, and
    ``uniform (K,) float64`` in [0, 1).
    """
    logits = told[:, :-1].masked_fill(~unpacked(legal, told.shape[1] - 1), -torch.inf)
    below = logits - logits.max(dim=1, keepdim=True).values
    weights = below.exp().double()
    ends = weights.cumsum(dim=1)
    number = (ends <= (uniform * ends[:, -1])[:, None]).sum(dim=1)
    last = torch.where(weights > 0, torch.arange(weights.shape[1], device=told.device), 0).max(dim=1).values
    action = torch.minimum(number, last)  # rounding may leave a rest after the last one
    log_prob = below.gather(1, action[:, None]).squeeze(1) - ends[:, -1].log().float()
    return action, log_prob


def next_uniform(states: Tensor) -> Tensor:
    """``prng.RowStreams.random`` of a generator a row, ``states (K,)``, which move on: uniform numbers ``(K,) float64``.

    The states are words of 64 bits as int64, in which torch's sums and products wrap around like those of unsigned ones.
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
    return word >> by & (1 << 64 - by) - 1  # without the sign that comes in from the left
