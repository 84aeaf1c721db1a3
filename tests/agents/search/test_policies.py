"""How agents play rollouts."""

from __future__ import annotations

import pytest

from nainjaune_agents.arena.timing import TimedAgent
from nainjaune_agents.heuristics import heuristics
from nainjaune_agents.search.policies import UNIFORM, AgentPolicy, CompiledPolicy, LogitsPolicy, policy_of, rollout_policy
from nainjaune_env.core.errors import AgentError
from nainjaune_env.registry import make_setup
from tests.support.positions import small
from tests.test_agent import untrained


def test_each_agent_has_the_fastest_policy() -> None:
    setup = small()
    known = heuristics("nain_jaune")
    assert rollout_policy(known["random"], setup) == CompiledPolicy(UNIFORM)
    numbers = [rollout_policy(agent, setup) for name, agent in known.items() if name != "random"]
    assert numbers == [CompiledPolicy(number) for number in range(len(known) - 1)]
    net = untrained(setup)
    assert rollout_policy(net, setup) == LogitsPolicy(net)
    timed = TimedAgent(net)
    assert rollout_policy(timed, setup) == AgentPolicy(timed)


def test_an_agent_that_remembers_has_no_rollouts() -> None:
    agent = heuristics("batasaurus")["cheapest"]
    with pytest.raises(AgentError, match="'cheapest', which remembers"):
        rollout_policy(agent, make_setup("batasaurus", memory="glimpse"))
    assert rollout_policy(agent, make_setup("batasaurus", memory="perfect")) == policy_of(agent)
