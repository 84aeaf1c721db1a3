"""Truncated rollouts: played by a network for some decisions of the searching seat, and valued by its value head from there on.

A rollout ends where the seat is to act for the ``decisions``-th time after the action that is tried, or with the round. There the
value head estimates what the seat nets in the rest: at its own decision, as the head was trained, and not in between. The values
have less noise than whole rounds and take a share of the time; in exchange they have the bias of the value head.

Sources: Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", 1996 (truncated rollouts); Silver et al.,
"Mastering the game of Go without human knowledge", 2017 (a value network in place of rollouts).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup

from ..task import OWN
from .policies import ScoringAgent
from .rollouts import ScoredRollouts


class ValuingAgent(ScoringAgent, Protocol):
    """An agent that also estimates values."""

    def values(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns what the seats to act net in the rest of the round, ``(K,)``, in the game's unit, by ``observation``."""
        ...


class TruncatedRollouts(ScoredRollouts):
    """Rollouts with ``agent`` in every seat; its value head predicts the payoff that ``objective`` counts."""

    def __init__(self, setup: Setup, agent: ValuingAgent, decisions: int, *, objective: str = OWN) -> None:
        super().__init__(setup, agent.scorer(), stochastic=agent.stochastic, objective=objective)
        self._agent = agent
        self._decisions = decisions

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        rules, legal, observation = self._setup.kernel_rules, self._legal, self._observation
        seats, states = tables["seat"].astype(np.int64), tables["rng"].copy()
        decided, rest = np.zeros(len(tables), np.int64), np.zeros(len(tables))
        playing = np.arange(len(tables))
        while left := self._loops.step_to_decision(tables, rules, actions, playing, legal, observation):
            now = playing[:left]
            decided[now] += tables["seat"][now] == seats[now]
            ends = decided[now] == self._decisions
            if ends.any():
                rest[now[ends]] = self._agent.values(observation[:left][ends])
                going_on = np.flatnonzero(~ends)
                left = len(going_on)
                if not left:
                    break
                playing[:left], legal[:left], observation[:left] = playing[going_on], legal[going_on], observation[going_on]
            actions = self._choose(states, playing[:left])
        return self._settled(tables, seats) + rest
