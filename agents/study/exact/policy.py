"""The policy of an agent on a tree: its action probabilities at every information set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, StochasticPolicy, needs_history
from nainjaune_env.agent_adapters import checked_probabilities
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.batch import Batch

from ...players.heuristics import RandomAgent
from .response import check_policy
from .tree import CHUNK, Tree

REPEATS = 3
"""How often an agent without ``probabilities`` acts at each information set, to detect random choices."""


def tabular(tree: Tree, agent: Agent, rng: np.random.Generator, *, draws: int = 0) -> NDArray[np.float64]:
    """Returns the policy of ``agent`` in every seat, ``(S,)``.

    It consists of the agent's ``probabilities``, or of its actions if it has none. Then neither its actions nor its memory may
    depend on ``rng``; raises :class:`AgentError` if they do. An agent's memory follows the decisions of its seat.

    With ``draws``, the actions may depend on ``rng``: the agent acts ``draws`` times at every information set, and the policy is
    the frequency of its actions. In the mean over ``rng`` this estimate has at least the exploitability of the true policy with
    two seats, since the value of a best response is convex in the policy; the excess shrinks with more draws.
    """
    if isinstance(agent, RandomAgent):
        return tree.uniform()
    if needs_history(agent):
        raise AgentError(
            f"{agent.name!r} reads the plies of the round, and a tree of the game keeps none: its policy is unknown."
        )
    rows = np.zeros((tree.num_infosets, len(tree.setup.game.actions)))
    kind = agent.state_dtype(tree.setup) if isinstance(agent, RecurrentAgent) else None
    # the last entry stays 0: the memory at the start of a round
    memory = np.zeros(tree.num_infosets + 1, kind) if kind is not None and kind.itemsize else None
    before = np.where(tree.infosets.previous < 0, tree.num_infosets, tree.infosets.of[tree.infosets.previous])
    for depth in range(tree.depth.max(initial=-1) + 1):
        level = np.flatnonzero(tree.depth == depth)
        for piece in np.split(level, range(CHUNK, len(level), CHUNK)):
            batch = Batch(tree.setup, len(piece), autoreset=False)
            batch.set_tables(np.arange(len(piece)), tree.tables[piece], trusted=True)
            remembered = None if memory is None else memory[before[piece]]
            rows[piece] = _probabilities(agent, batch, remembered, rng, draws)
            if memory is not None:
                memory[piece] = remembered
    policy = np.ascontiguousarray(rows[tree.infosets.of, tree.infosets.action], np.float64)
    check_policy(tree, policy)
    return policy


def _probabilities(
    agent: Agent, batch: Batch, memory: NDArray[Any] | None, rng: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    """Returns the action probabilities of ``agent`` at every table of ``batch``, ``(K, A)``; updates ``memory (K, ...)``."""
    index = np.arange(batch.num_tables)
    if isinstance(agent, StochasticPolicy):
        return checked_probabilities(agent, DecisionBatch(batch, index, memory))
    first: tuple[bytes, bytes] | None = None
    rows = np.zeros((batch.num_tables, batch.num_actions))
    for _ in range(draws or REPEATS):
        memory_after = None if memory is None else memory.copy()
        actions = agent.act(DecisionBatch(batch, index, memory_after), rng)
        # memory must never be random, as later actions may depend on it
        given = b"" if draws else actions.tobytes(), b"" if memory_after is None else memory_after.tobytes()
        if first not in (None, given):
            raise AgentError(
                f"The agent {agent.name!r} draws its {'memory' if draws else 'action'} at random "
                f"and has no probabilities, so its policy is unknown{'' if draws else ' without several draws (--draws)'}."
            )
        rows[index, actions] += 1
        first, final_memory = given, memory_after
    if memory is not None:
        memory[...] = final_memory
    return rows / (draws or REPEATS)
