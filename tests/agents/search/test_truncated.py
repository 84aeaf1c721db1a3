"""Truncated rollouts: whole rounds where nothing is cut, and by hand where something is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nainjaune_agents.nets.net_agent import NetAgent
from nainjaune_agents.search.truncated import TruncatedRollouts
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from tests.agents.search.test_rollouts import by_logits, positions, setups, untrained
from tests.support.positions import stirred


def player(setup: Setup, *, stochastic: bool = False) -> NetAgent:
    agent = untrained(setup, stochastic=stochastic)
    stirred(agent.net)
    with torch.no_grad():
        agent.net.payoff_scale.fill_(7.0)
    return agent


@setups
@pytest.mark.parametrize("stochastic", [False, True])
def test_beyond_the_rounds_end_they_are_whole(setup: Setup, stochastic: bool) -> None:
    batch, agent = positions(setup), player(setup, stochastic=stochastic)
    whole = by_logits(setup, agent.scorer(), stochastic=stochastic).values(batch.tables, batch.legal)
    assert TruncatedRollouts(setup, agent, 10_000).values(batch.tables, batch.legal).tolist() == whole.tolist()


@setups
@pytest.mark.parametrize("decisions", [1, 2])
def test_by_hand(setup: Setup, decisions: int) -> None:
    """A step at a time: what the seat has when it decides again, and the network's value there."""
    batch, agent = positions(setup), player(setup)
    before = batch.tables.tobytes()
    found = TruncatedRollouts(setup, agent, decisions).values(batch.tables, batch.legal)
    assert batch.tables.tobytes() == before
    scorer, cut = agent.scorer(), 0
    for w, word in enumerate(batch.legal):
        for tried in legal_actions(int(word)):
            table = Batch(setup, 1, autoreset=False)
            table.set_tables(0, batch.tables[w])
            seat, left, action = int(table.seat[0]), decisions, tried
            payoff = float(table.reward[0, seat])
            while True:
                table.step([action])
                payoff += float(table.reward[0, seat])
                if table.done[0]:
                    break
                left -= int(table.seat[0]) == seat
                if not left:
                    payoff += float(agent.values(table.observation)[0])
                    cut += 1
                    break
                action = int(np.where(table.mask[0], scorer.logits(table.observation)[0], -np.inf).argmax())
            assert found[w, tried] == pytest.approx(payoff, abs=1e-2), (w, tried)
    assert cut > 10
