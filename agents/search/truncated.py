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
from .rollouts import ByLogits, SteppedRollouts


class ValuingAgent(ScoringAgent, Protocol):
    """An agent that also estimates values."""

    def values(self, observation: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Returns what the seats to act net in the rest of the round, ``(K,)``, in the game's unit, by ``observation``."""
        ...


class TruncatedRollouts(SteppedRollouts):
    """Rollouts with ``agent`` in every seat; its value head predicts the payoff that ``objective`` counts."""

    def __init__(self, setup: Setup, agent: ValuingAgent, decisions: int, *, objective: str = OWN) -> None:
        super().__init__(setup, [ByLogits(agent.scorer(), stochastic=agent.stochastic)], objective=objective)
        self._agent = agent
        self._decisions = decisions

    def _play(self, tables: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        legal, observation = self._legal, self._observation
        seats, states = tables["seat"].astype(np.int64), tables["rng"].copy()
        decided, rest = np.zeros(len(tables), np.int64), np.zeros(len(tables))
        playing = np.arange(len(tables))
        while waiting := self._advance(tables, actions, playing):
            now = playing[:waiting]
            decided[now] += tables["seat"][now] == seats[now]
            ends = decided[now] == self._decisions
            if ends.any():
                rest[now[ends]] = self._agent.values(observation[:waiting][ends])
                going_on = np.flatnonzero(~ends)
                waiting = len(going_on)
                if not waiting:
                    break
                for array in (playing, legal, observation):
                    array[:waiting] = array[going_on]
            actions = self._choose(tables, playing[:waiting], states)
        return self._settled(tables, seats) + rest
