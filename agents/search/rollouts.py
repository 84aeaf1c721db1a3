"""Rollouts: what an action is worth in a world, by playing the round to its end with one policy in every seat.

Compiled where the policy is (``random``, rules of thumb), else through a batch, as many worlds and actions at once as memory is
set aside for.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rememberer, Turn
from nainjaune_env.batch import Batch
from nainjaune_env.errors import AgentError
from nainjaune_env.jit import instantiate
from nainjaune_env.prng import RowStreams, streams
from nainjaune_env.spec import GameSpec, Setup

from ..heuristics import Compiled, RandomAgent, rules_of_thumb

ROWS = 16384
"""Most tables that are played at once through a batch."""


class Rollouts(Protocol):
    """A way to play rounds to their end."""

    def values(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the seats to act in ``worlds (N,)`` come to by each of ``actions (N,)``, legal ones as words.

        Gives their payoffs of the round, in the game's unit, shape ``(N, A)``; 0 for other actions.
        """
        ...


def rollouts_by(agent: Agent, setup: Setup) -> Rollouts:
    """Rollouts with ``agent`` in every seat.

    Raises :class:`AgentError` where it remembers: what a seat has come to remember on the way to a table cannot be read off it.
    """
    if isinstance(agent, Rememberer) and agent.memory(setup).itemsize:
        raise AgentError(
            f"No search can play rounds out by {agent.name!r}, which remembers: "
            "what each seat would remember by now cannot be told from the table."
        )
    if isinstance(agent, RandomAgent):
        return CompiledRollouts(setup, None)
    if isinstance(agent, Compiled):
        return CompiledRollouts(setup, agent.which)
    return BatchedRollouts(setup, agent)


def compiled_for(game: GameSpec) -> ModuleType:
    """The compiled loops of ``compiled`` for one game."""
    return instantiate(f"{__package__}.compiled", game.name, game=game.kernel, rules_of_thumb=rules_of_thumb(game.name))


class CompiledRollouts:
    """By the rule of thumb number ``which``, or at random (None)."""

    def __init__(self, setup: Setup, which: int | None) -> None:
        self._rules = setup.kernel_rules
        self._which = which
        self._actions = len(setup.game.actions)
        self._code = compiled_for(setup.game)
        self._table = np.zeros(1, setup.game.table)
        self._payoff = np.zeros(setup.players, np.int32)

    def values(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`."""
        value = np.zeros((len(worlds), self._actions))
        if self._which is None:
            self._code.try_uniform(worlds, self._rules, actions, self._table, self._payoff, value)
        else:
            self._code.try_by_rule(worlds, self._rules, self._which, actions, self._table, self._payoff, value)
        return value


class BatchedRollouts:
    """By any agent that remembers nothing; plies that need not be asked for are made without asking."""

    def __init__(self, setup: Setup, agent: Agent) -> None:
        self._agent = agent
        self._code = compiled_for(setup.game)
        self._batch = Batch(setup, ROWS, autoreset=False)
        self._states = streams(0, ROWS)

    def values(self, worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :class:`Rollouts`. What the agent draws at a table comes from the state of its world's generator."""
        which, action = np.nonzero(actions[:, None] >> np.arange(self._batch.num_actions) & 1)
        value = np.zeros((len(worlds), self._batch.num_actions))
        for at in range(0, len(which), ROWS):
            part = slice(at, at + ROWS)
            value[which[part], action[part]] = self._play(worlds[which[part]], action[part])
        return value

    def _play(self, worlds: NDArray[Any], action: NDArray[np.int64]) -> NDArray[np.int64]:
        """The payoffs of the seats to act by one ``action (R,)`` each."""
        batch, index = self._batch, np.arange(len(worlds))
        seat = worlds["seat"].astype(np.int64)
        self._code.step_each(worlds, batch.setup.kernel_rules, action)
        self._states[index] = worlds["rng"]
        batch.set_tables(index, worlds)
        payoff = batch.reward[index, seat].astype(np.int64)
        while not batch.done[index].all():
            playing = index[~batch.done[index]]
            batch.step(self._agent.act(Turn(batch, playing), RowStreams(self._states, playing)), playing)
            payoff[playing] += batch.reward[playing, seat[playing]]
        return payoff
