"""How agents play rollouts."""

from __future__ import annotations

import sys

import pytest

from nainjaune_agents.measure.arena.timing import TimedAgent
from nainjaune_agents.players.heuristics import RandomAgent, heuristics, heuristics_module
from nainjaune_agents.players.search.policies import policy_of, rollout_policy
from nainjaune_env.agent import CompiledPolicy
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.learner_loops import UNIFORM
from nainjaune_env.registry import make_setup
from tests.support.positions import small
from tests.test_agent import untrained


class CompiledElsewhere(RandomAgent):
    """Its compiled code is not that of the game's heuristics, which rollouts are compiled with."""

    def compiled_policy(self) -> CompiledPolicy:
        return CompiledPolicy(sys.modules[__name__], 0)


def test_each_agent_has_the_fastest_policy() -> None:
    setup = small()
    known = heuristics("nain_jaune")
    assert rollout_policy(known["random"], setup) == CompiledPolicy(None, UNIFORM)
    numbers = [rollout_policy(agent, setup) for name, agent in known.items() if name != "random"]
    assert numbers == [CompiledPolicy(heuristics_module("nain_jaune"), number) for number in range(len(known) - 1)]
    net = untrained(setup)
    assert rollout_policy(net, setup) is net
    elsewhere = CompiledElsewhere()
    assert rollout_policy(elsewhere, setup) is elsewhere
    timed = TimedAgent(net)
    assert rollout_policy(timed, setup) is timed


def test_an_agent_that_remembers_has_no_rollouts() -> None:
    agent = heuristics("batasaurus")["cheapest"]
    with pytest.raises(AgentError, match="'cheapest', which remembers"):
        rollout_policy(agent, make_setup("batasaurus", memory="glimpse"))
    assert rollout_policy(agent, make_setup("batasaurus", memory="perfect")) == policy_of(agent)
