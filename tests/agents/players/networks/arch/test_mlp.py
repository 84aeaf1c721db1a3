"""The default network: its outputs, its initialisation, and its memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nainjaune_agents.players.networks.arch import make_net
from nainjaune_agents.players.networks.arch.mlp import MLP
from nainjaune_env.core.layout import Feature, Layout
from tests.support.networks import mlp
from tests.support.positions import small, stirred


def net(seed: int = 0, hidden: tuple[int, ...] = (16, 8), recurrent: int = 0) -> MLP:
    return mlp(small(), hidden, recurrent=recurrent, seed=seed)


def test_bytes_are_scaled_slot_by_slot() -> None:
    """A single layer of ones and zeros shows what goes in: (byte - zero) / scale."""
    layout = Layout((Feature("a", (2,), "", high=255, scale=4.0, zero=128), Feature("b", (1,), "", high=9, scale=0.5)))
    one = make_net({"name": "mlp", "hidden": []}, layout, 3, torch.Generator().manual_seed(0))
    with torch.no_grad():
        one.policy.weight.copy_(torch.eye(3))
    logits, _ = one.evaluate(np.array([[128, 255, 7], [0, 130, 0]], np.uint8))
    assert logits.tolist() == [[0.0, 31.75, 14.0], [-32.0, 0.5, 0.0]]


# ---------------------------------------------------------------- memory

LENGTHS = [5, 5, 4, 2, 2, 1]
"""Decisions of six seats, the longest sequences first."""


def sequences_of_observations(seed: int = 0) -> list[torch.Tensor]:
    """Observations that are no game's, any byte up to its largest value."""
    rng, high = np.random.default_rng(seed), small().layout.high.astype(np.int64)
    return [torch.from_numpy(rng.integers(0, high + 1, (length, high.size)).astype(np.uint8)) for length in LENGTHS]


def outputs(a: MLP, sequences: list[torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Logits, values and states of each sequence's decisions, whole sequences at once."""
    packed = torch.nn.utils.rnn.pack_sequence(sequences)
    rows = torch.nn.utils.rnn.pack_sequence([torch.tensor([[k, t] for t in range(len(c))]) for k, c in enumerate(sequences)]).data
    logits, values, states = a(packed.data, sequences=packed.batch_sizes)
    assert states is not None
    mine = [rows[:, 0] == k for k in range(len(sequences))]
    return [(logits[at], values[at], states[at]) for at in mine]


def loud(hidden: tuple[int, ...] = (16, 8)) -> MLP:
    return stirred(net(hidden=hidden, recurrent=6))


@pytest.mark.parametrize("hidden", [(), (16,), (16, 8)])
def test_whole_sequences_give_what_decision_by_decision_gives(hidden: tuple[int, ...]) -> None:
    a, sequences = loud(hidden), sequences_of_observations()
    whole = outputs(a, sequences)
    states = np.zeros((len(sequences), 6), np.float32)
    for t in range(max(LENGTHS)):
        there = np.array([k for k, length in enumerate(LENGTHS) if t < length])
        state = states[there]
        logits, values = a.evaluate(torch.stack([sequences[k][t] for k in there]).numpy(), state)
        states[there] = state
        for row, k in enumerate(there):
            for stepped, at_once in zip((logits[row], values[row], state[row]), whole[k], strict=True):
                assert stepped == pytest.approx(at_once[t].detach().numpy(), rel=1e-4, abs=1e-4)
    assert np.ptp(states, axis=0).max() > 0.5
