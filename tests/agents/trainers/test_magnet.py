"""The magnet: its divergence, its gradient, what it follows, and that it keeps a policy near it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from nainjaune_agents.trainers.magnet import Magnet
from nainjaune_agents.trainers.sequences import Sequences, minibatches
from tests.agents.trainers.test_ppo import masks, tiny, trainer_of
from tests.support.positions import stirred


@pytest.mark.parametrize(
    "other", [{}, {"arch": {"hidden": [16], "recurrent": 8}}, {"arch": {"name": "residual", "width": 16}}], ids=str
)
def test_the_divergence_and_its_gradient(other: dict[str, Any]) -> None:
    """Worked out action by action; the gradient reaches the policy and not the magnet."""
    trainer = trainer_of(tiny(**other, magnet=1.0, tables=20))
    magnet_net = trainer.network("magnet.")
    stirred(magnet_net)
    magnet = Magnet(magnet_net, torch.float32)
    rollout = trainer.collect(0, np.random.default_rng(1))
    sequences = Sequences(rollout.sequence) if trainer.config.recurrent else None
    rows, sizes = next(minibatches(len(rollout.action), sequences, 64, np.random.default_rng(0)))
    seen, legal = torch.from_numpy(rollout.observation)[rows], torch.from_numpy(rollout.legal)[rows]
    logits, _, _ = trainer.net(seen, sequences=sizes)
    found = magnet.kl(logits, legal, seen, sizes)
    with torch.no_grad():
        goals, _, _ = magnet_net(seen, sequences=sizes)
    total = 0.0
    for row, mask in enumerate(masks(trainer, rollout)[rows.numpy()]):
        p, q = (torch.softmax(each[row, torch.from_numpy(mask)].detach().double(), 0).numpy() for each in (logits, goals))
        total += (p * np.log(p / q)).sum()
    assert total > 0.01
    assert float(found.detach()) == pytest.approx(total / len(rows), rel=1e-3)
    found.backward()
    assert float(next(trainer.net.policy.parameters()).grad.abs().sum()) > 0  # type: ignore[union-attr]
    assert all(parameter.grad is None for parameter in magnet_net.parameters())


def test_the_magnet_begins_as_the_network_and_follows_it() -> None:
    trainer = trainer_of(tiny(magnet=0.1, magnet_decay=0.75))
    assert trainer.iterate()["update/magnet_kl"] >= 0
    first = trainer.net.policy.weight.detach().clone()
    assert torch.equal(trainer.network("magnet.").policy.weight, first)
    trainer.iterate()
    expected = first + 0.25 * (trainer.net.policy.weight.detach() - first)
    assert torch.allclose(trainer.network("magnet.").policy.weight, expected, atol=1e-7)
    assert trainer.player_net is trainer.net


def test_a_strong_magnet_keeps_the_policy_near_it() -> None:
    """At a decay of 1 the magnet stays what it was after the first iteration."""
    settings = {"optimizer": {"learning_rate": 0.01}, "entropy": 0.0, "tables": 128}
    near, far = (trainer_of(tiny(**settings, magnet=weight, magnet_decay=1.0)) for weight in (10.0, 1e-6))
    moved = [[trainer.iterate()["update/magnet_kl"] for _ in range(6)][-1] for trainer in (near, far)]
    assert moved[0] < moved[1] / 5
