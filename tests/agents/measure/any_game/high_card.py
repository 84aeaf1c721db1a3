"""A small AEC environment of several seats, and such that are not as they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv


class HighCard(AECEnv):  # type: ignore[misc]
    """Each seat gets a number, folds (0) or stakes 1 (1) in turn; the highest of those who stake takes all stakes."""

    metadata = {"name": "high_card"}  # noqa: RUF012

    def __init__(self, seats: int = 3) -> None:
        super().__init__()
        self.possible_agents = [f"s{seat}" for seat in range(seats)]

    def observation_space(self, agent: str) -> Any:
        return spaces.Box(0, 99, (1,), np.int64)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(2)

    def numbers(self, seed: int | None) -> Any:
        return np.random.default_rng(seed).integers(0, 100, len(self.possible_agents))

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.dealt = self.numbers(seed)
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[0]
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0), dict.fromkeys(self.agents, 0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos: dict[str, Any] = {agent: {} for agent in self.agents}
        self.stakes: list[int] = []

    def observe(self, agent: str) -> Any:
        return self.dealt[[self.possible_agents.index(agent)]]

    def paid(self) -> list[Any]:
        stakes = np.array(self.stakes)
        winner = int(np.where(stakes > 0, self.dealt, -1).argmax())
        return [int(stakes.sum() * (seat == winner) - stakes[seat]) for seat in range(len(stakes))]

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.stakes.append(int(action))
        if len(self.stakes) == len(self.possible_agents):
            self.rewards = dict(zip(self.agents, self.paid(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
        self.agent_selection = self.possible_agents[len(self.stakes) % len(self.possible_agents)]


class NoSeed(HighCard):
    def reset(self) -> None:  # type: ignore[override]
        super().reset(seed=1)


class AlwaysAlike(HighCard):
    def numbers(self, seed: int | None) -> Any:
        return super().numbers(1)


class IgnoresSeed(HighCard):
    rng = np.random.default_rng(5)

    def numbers(self, seed: int | None) -> Any:
        return self.rng.integers(0, 100, len(self.possible_agents))


class SometimesIgnores(IgnoresSeed):
    def numbers(self, seed: int | None) -> Any:
        return super().numbers(seed) if seed is None or seed % 2 else HighCard.numbers(self, seed)


class Lost(HighCard):
    def paid(self) -> list[Any]:
        return [float("nan"), 0, 0]


class Huge(HighCard):
    def paid(self) -> list[Any]:
        return [0, 1e30, 0]


class Pairs(HighCard):
    def paid(self) -> list[Any]:
        return [np.zeros(2), 1, 2]


class Leaves(HighCard):
    def step(self, action: Any) -> None:
        super().step(action)
        if len(self.stakes) == 1:
            self.terminations["s1"] = True


class Appears(HighCard):
    def step(self, action: Any) -> None:
        super().step(action)
        if len(self.stakes) == 1:
            self.agents = [*self.agents, "s9"]
            self.agent_selection = "s9"
            for values in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations):
                values["s9"] = 0
            self.infos["s9"] = {}

    def observe(self, agent: str) -> Any:
        return self.dealt


class LateSeats(HighCard):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed)
        self.agents = self.agents[:2]


class UnequalSeats(HighCard):
    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(3 if agent == "s1" else 2)


class Continuous(HighCard):
    def action_space(self, agent: str) -> Any:
        return spaces.Box(0, 1, (1,))


class FromOne(HighCard):
    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(2, start=1)


class Binary(HighCard):
    def action_space(self, agent: str) -> Any:
        return spaces.MultiBinary(2)


class Tiny(HighCard):
    def paid(self) -> list[Any]:
        return [1e-10, 0, 0]


class Emptied(HighCard):
    def step(self, action: Any) -> None:
        super().step(action)
        if self.terminations["s0"]:
            self.agents = []
