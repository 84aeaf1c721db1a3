"""Rollouts, compiled and through a batch, against rounds played one ply at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nainjaune_agents.players.heuristics import heuristics
from nainjaune_agents.players.networks.fused_mlp import FusedInference
from nainjaune_agents.players.networks.policy_value import PolicyValueNet
from nainjaune_agents.players.search.policies import Scorer, policy_of, rollout_policy
from nainjaune_agents.players.search.rollouts import ByAct, ByLogits, SteppedRollouts, rollouts_by
from nainjaune_env.agent import Agent, DecisionBatch
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.registry import make_setup
from tests.support.contract import payoffs
from tests.support.positions import small
from tests.test_agent import untrained

PERFECT = make_setup("batasaurus", None, 3, memory="perfect")
setups = pytest.mark.parametrize("setup", [small(), make_setup("nain_jaune", "djeco", 4), PERFECT])


def in_float32(net: PolicyValueNet) -> FusedInference:
    chain = net.fused()
    assert chain is not None
    return FusedInference(chain, torch.float32)


def by_logits(setup: Setup, scorer: Scorer, *, stochastic: bool = False) -> SteppedRollouts:
    return SteppedRollouts(setup, [ByLogits(scorer, stochastic=stochastic)])


def by_act(setup: Setup, agent: Agent, objective: str = "own") -> SteppedRollouts:
    return SteppedRollouts(setup, [ByAct(setup, agent)], objective=objective)


def positions(setup: Setup, *, skip_forced: bool = True, steps: int = 4) -> Batch:
    batch, draws = Batch(setup, 12, seed=5, skip_forced=skip_forced), streams(5, 12)
    for _ in range(steps):
        batch.step(batch.sample(draws))
    return batch


def by_hand(setup: Setup, agent: Agent, table: Any, action: int, objective: str = "own") -> float:
    """The payoff of the seat to act, the round played by ``agent`` a ply at a time."""
    batch = Batch(setup, 1, skip_forced=False, autoreset=False)
    batch.set_tables(0, table)
    seat = int(batch.seat[0])
    batch.step([action])
    while batch.legal[0]:
        batch.step(agent.act(DecisionBatch(batch, np.arange(1)), np.random.default_rng(0)))
    paid = payoffs(batch)
    return paid[seat] - (sum(paid) / len(paid) if objective == "centred" else 0)


def all_by_hand(setup: Setup, agent: Agent, batch: Batch, objective: str = "own") -> NDArray[np.float64]:
    """The payoffs of all legal actions, ``(tables, actions)``; 0 for the others."""
    expected = np.zeros(batch.mask.shape)
    for w, action in np.argwhere(batch.mask):
        expected[w, action] = by_hand(setup, agent, batch.tables[w], int(action), objective)
    return expected


@setups
@pytest.mark.parametrize(("skip_forced", "objective"), [(True, "own"), (False, "own"), (True, "centred")])
def test_rollouts_come_to_what_rounds_played_by_hand_do(setup: Setup, skip_forced: bool, objective: str) -> None:
    batch = positions(setup, skip_forced=skip_forced)
    tables = batch.tables
    for name in list(heuristics(setup.game.name))[1::3]:
        agent = heuristics(setup.game.name)[name]
        expected = all_by_hand(setup, agent, batch, objective)
        for rollouts in (rollouts_by(agent, setup, objective), by_act(setup, agent, objective)):
            before = tables.tobytes()
            assert rollouts.values(tables, batch.legal) == pytest.approx(expected, abs=1e-9), (name, type(rollouts))
            assert tables.tobytes() == before


@setups
@pytest.mark.parametrize("skip_forced", [True, False])
def test_rollouts_by_logits_are_those_of_the_agent_through_a_batch(setup: Setup, skip_forced: bool) -> None:
    """In float32, where the quick network chooses what the network does; and by hand, where it draws nothing."""
    batch = positions(setup, skip_forced=skip_forced)
    tables = batch.tables
    for stochastic in (False, True):
        agent = untrained(setup, stochastic=stochastic)
        scored = by_logits(setup, in_float32(agent.net), stochastic=stochastic)
        before = tables.tobytes()
        values = scored.values(tables, batch.legal)
        assert values.tolist() == by_act(setup, agent).values(tables, batch.legal).tolist()
        assert tables.tobytes() == before
        if not stochastic:
            assert values.tolist() == all_by_hand(setup, agent, batch).tolist()


class Seeing:
    """Logits that are always the same, of a net that notes what it is shown."""

    def __init__(self, actions: int) -> None:
        self.row = np.linspace(1, 0, actions, dtype=np.float32)
        self.shown: list[bytes] = []

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.shown += [row.tobytes() for row in observation]
        return np.tile(self.row, (len(observation), 1))


@setups
def test_a_scorer_is_shown_what_the_seat_to_act_observes_and_nothing_else(setup: Setup) -> None:
    batch = positions(setup)
    scorer = Seeing(batch.num_actions)
    by_logits(setup, scorer).values(batch.tables[:3], batch.legal[:3])
    expected: list[bytes] = []
    for table, word in zip(batch.tables[:3], batch.legal[:3], strict=True):
        for action in legal_actions(int(word)):
            played = Batch(setup, 1, autoreset=False)
            played.set_tables(0, table)
            while not played.done[0]:
                played.step([action])
                if not played.done[0]:
                    expected.append(played.observe(played.seat)[0].tobytes())
                    action = legal_actions(int(played.legal[0]))[0]
    assert sorted(scorer.shown) == sorted(expected)
    assert len(expected) > 10


@setups
def test_only_the_actions_asked_for_are_tried(setup: Setup) -> None:
    batch = positions(setup)
    some = batch.legal & -batch.legal
    for agent in (heuristics(setup.game.name)["random"], untrained(setup)):
        values = rollouts_by(agent, setup).values(batch.tables, some)
        tried = (some[:, None] >> np.arange(batch.num_actions) & 1).astype(bool)
        assert (values[~tried] == 0).all()
        assert values[tried].any()


def test_more_tables_than_are_played_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = small()
    batch = positions(setup)
    agent, net = heuristics("nain_jaune")["tally"], in_float32(untrained(setup).net)

    def values() -> list[Any]:
        ways = (by_act(setup, agent), by_logits(setup, net, stochastic=True))
        return [way.values(batch.tables, batch.legal).tolist() for way in ways]

    whole = values()
    monkeypatch.setattr("nainjaune_agents.players.search.rollouts.ROWS", 5)
    assert values() == whole


def test_an_agent_that_remembers_has_no_rollouts() -> None:
    agent = heuristics("batasaurus")["cheapest"]
    with pytest.raises(AgentError, match="'cheapest', which remembers"):
        rollout_policy(agent, make_setup("batasaurus", memory="glimpse"))
    assert rollout_policy(agent, make_setup("batasaurus", memory="perfect")) == policy_of(agent)
