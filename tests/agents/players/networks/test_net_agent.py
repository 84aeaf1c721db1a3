"""A trained network as an agent: whatever is asked at once, none included."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nainjaune_agents.players.networks.fused_mlp import FusedInference
from nainjaune_agents.players.networks.net_agent import NetAgent
from nainjaune_env.agent import DecisionBatch
from nainjaune_env.engine.batch import Batch
from tests.agents.players.networks.test_checkpoint import fresh_net
from tests.support.positions import small


@pytest.mark.parametrize("stochastic", [False, True])
def test_no_decision_is_no_action(stochastic: bool) -> None:
    agent = NetAgent("net", fresh_net(small()), stochastic=stochastic)
    decisions = DecisionBatch(Batch(small(), 3, seed=1), np.zeros(0, np.int64))
    assert agent.act(decisions, np.random.default_rng(0)).shape == (0,)
    assert agent.probabilities(decisions).shape == (0, decisions.num_actions)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_agent_computes_with_its_own_number_of_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's default makes small batches many times slower; what a user trains in the same process keeps its number."""
    seen: list[int] = []
    compute = FusedInference._compute
    monkeypatch.setattr(FusedInference, "_compute", lambda *given: (seen.append(torch.get_num_threads()), compute(*given)))
    net = fresh_net(small())
    net.threads = threads
    agent = NetAgent("net", net)
    fused = agent.scorer()
    net.policy.register_forward_hook(lambda *_: seen.append(torch.get_num_threads()))
    decisions = DecisionBatch(Batch(small(), 4, seed=1), np.arange(4))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        agent.act(decisions, np.random.default_rng(0))
        agent.probabilities(decisions)
        agent.scorer().logits(decisions.observation)  # with a hook it is not fused
        fused.logits(decisions.observation)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == [threads] * 4
