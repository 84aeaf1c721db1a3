"""An agent's policy on a tree: what it would do at every information set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, RecurrentAgent, StochasticPolicy
from nainjaune_env.core.errors import AgentError
from nainjaune_env.engine.batch import Batch

from ..heuristics import RandomAgent
from .response import check_policy
from .tree import CHUNK, Tree

ASKED = 3
"""How often an agent that gives no probabilities is asked for its action, its chances moving on."""


def tabular(tree: Tree, agent: Agent, rng: np.random.Generator, *, draws: int = 0) -> NDArray[np.float64]:
    """The policy of ``agent`` in every seat, ``(S,)``.

    An agent is asked for its ``probabilities``, or where it has none for its action, which must not depend on ``rng``, nor must
    what it remembers; raises :class:`AgentError` where one does. What it remembers follows the decisions of its seat.

    With ``draws``, the action may depend on ``rng``: the agent is asked so often at every information set, and the policy is how
    often it took what. Each answer is drawn from its true policy, so with two seats that is as exploitable as the true one or
    more, in the mean over ``rng``, as the worth of a best response is convex in the policy; the less beyond it the more draws.
    """
    if isinstance(agent, RandomAgent):
        return tree.uniform()
    rows = np.zeros((tree.num_infosets, len(tree.setup.game.actions)))
    kind = agent.state_dtype(tree.setup) if isinstance(agent, RecurrentAgent) else None
    # one place more, which stays 0: nothing is remembered when a round begins
    memory = np.zeros(tree.num_infosets + 1, kind) if kind is not None and kind.itemsize else None
    before = np.where(tree.infosets.previous < 0, tree.num_infosets, tree.infosets.of[tree.infosets.previous])
    for depth in range(tree.depth.max(initial=-1) + 1):
        level = np.flatnonzero(tree.depth == depth)
        for piece in np.split(level, range(CHUNK, len(level), CHUNK)):
            batch = Batch(tree.setup, len(piece), autoreset=False)
            batch.set_tables(np.arange(len(piece)), tree.tables[piece])
            remembered = None if memory is None else memory[before[piece]]
            rows[piece] = _ask(agent, batch, remembered, rng, draws)
            if memory is not None:
                memory[piece] = remembered
    policy = tree.slots(rows)
    check_policy(tree, policy)
    return policy


def _ask(agent: Agent, batch: Batch, memory: NDArray[Any] | None, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
    """What ``agent`` would do at every table of ``batch``, ``(K, A)``; ``memory (K, ...)`` is rewritten in place."""
    index = np.arange(batch.num_tables)
    if isinstance(agent, StochasticPolicy):
        return agent.probabilities(DecisionBatch(batch, index, memory))
    first: tuple[bytes, bytes] | None = None
    rows = np.zeros((batch.num_tables, batch.num_actions))
    for _ in range(draws or ASKED):
        own = None if memory is None else memory.copy()
        actions = agent.act(DecisionBatch(batch, index, own), rng)
        # what it keeps must never be left to chance: later choices may follow from it
        given = b"" if draws else actions.tobytes(), b"" if own is None else own.tobytes()
        if first not in (None, given):
            raise AgentError(
                f"The agent {agent.name!r} leaves {'what it remembers' if draws else 'its choice'} to chance, "
                "and does not say how: it has no probabilities."
            )
        rows[index, actions] += 1
        first, kept = given, own
    if memory is not None:
        memory[...] = kept
    return rows / (draws or ASKED)
