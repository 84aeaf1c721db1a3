"""How an agent plays rollouts: in compiled code, by logits from observations, or through its ``act``."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, CompiledAgent, CompiledPolicy, is_recurrent, needs_history
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from .. import heuristics


class Scorer(Protocol):
    """A function from observations to logits, such as a network."""

    def logits(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns logits ``(K, A)`` of all actions, legal or not, for ``observation (K, size)``."""
        ...


@runtime_checkable
class ScoringAgent(Agent, Protocol):
    """An agent that plays the legal action with the largest logit or, if ``stochastic``, draws from their softmax."""

    stochastic: bool

    def scorer(self) -> Scorer:
        """Returns the agent's logits by the fastest computation available; they may differ by rounding."""
        ...


def policy_of(agent: Agent) -> CompiledPolicy | Agent:
    """Returns the fastest way to play ``agent``: compiled code, or the agent itself, by its logits if it is a scoring one."""
    if isinstance(agent, CompiledAgent):
        policy = agent.compiled_policy()
        if policy.module is None or policy.module.__package__ == heuristics.__name__:  # rollouts are compiled with these
            return policy
    return agent


def rollout_policy(agent: Agent, setup: Setup) -> CompiledPolicy | Agent:
    """Returns :func:`policy_of` ``agent`` for rollouts that start at any table.

    Raises :class:`AgentError` if the agent remembers, since its state on the way to a table cannot be reconstructed from the
    table, or reads the plies of the round, which rollouts do not note.
    """
    if is_recurrent(agent, setup):
        raise AgentError(
            f"Rollouts cannot be played by {agent.name!r}, which remembers: its memory cannot be reconstructed from the table."
        )
    if needs_history(agent):
        raise AgentError(f"Rollouts cannot be played by {agent.name!r}, which reads the plies of the round: they note none.")
    return policy_of(agent)
