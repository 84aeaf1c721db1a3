"""RLlib's ``MultiAgentEnv`` over one table of any game, for RLlib's new API stack and its action-masking modules.

RLlib pins a version of Gymnasium, so it needs a virtual environment of its own: the pip extra ``rllib``, or ``make rllib``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nainjaune_env.core.errors import IllegalActionError, MissingLibraryError
from nainjaune_env.envs.pettingzoo_aec import raw_env
from nainjaune_env.envs.reset_options import check_deals

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise MissingLibraryError("The RLlib adaptor", "ray", "rllib") from error


class TableEnv(MultiAgentEnv):  # type: ignore[misc]
    """One table of a game as an RLlib environment; only the agent at turn gets an observation.

    **Observations** are ``{"observations": (size,) float32, "action_mask": (A,) float32}``, the keys and types of RLlib's
    ``ActionMaskingTorchRLModule``. RLlib's networks do not scale their inputs, so the layout's bytes are scaled here, feature by
    feature. No agent gets an observation at the end of an episode, so no mask is ever empty.

    **Rewards** come with an agent's next observation or at the end: all that it has gained since its last one, or since the
    episode began. RLlib loses rewards of an agent that has not acted yet, so they are held back until it has. An agent's rewards
    sum to its payoff. A seat that never decides has no part in RLlib's episode.

    **Illegal actions** raise :class:`IllegalActionError` and change nothing.

    An episode without any decision is skipped: the next one is dealt, as in ``Batch``.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """``config`` holds the arguments of :class:`~nainjaune_env.envs.pettingzoo_aec.raw_env`: preset, players, knobs …"""
        super().__init__()
        self.table = raw_env(**(config or {}))
        self.possible_agents = self.table.possible_agents
        self.agents = self.possible_agents[:]
        layout = self.table.layout
        low, high = (self._scaled(bound) for bound in (np.zeros_like(layout.high), layout.high))
        actions = len(self.table.setup.game.actions)
        observation = spaces.Dict(
            {
                "observations": spaces.Box(low, high, dtype=np.float32),
                "action_mask": spaces.Box(0, 1, (actions,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, observation)
        # RLlib checks an environment with random actions, and these spaces draw legal ones
        self.action_spaces = self.table.action_spaces
        self._unpaid: dict[str, int] = {}
        self._observed: set[str] = set()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins an episode and returns the observation of the agent at turn. Seeds and options are as in ``raw_env``.

        Raises :class:`~nainjaune_env.core.errors.RulesError` under rules with which no episode has a decision.
        """
        self.table.reset(seed, options)
        deals = 1
        while self._over():
            check_deals(self.table.setup, deals)
            self.table.reset()
            deals += 1
        self._unpaid = dict(self.table.rewards)
        self._observed.clear()
        return self._observe()

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Takes the action of the agent at turn.

        Raises :class:`IllegalActionError` for an illegal action and for actions of other agents; then nothing has changed.
        """
        if not self.table.agents or self._over():
            raise IllegalActionError("No episode is running: call reset() first.")
        acting = self.table.agent_selection
        if set(action_dict) != {acting}:
            given = ", ".join(map(str, action_dict)) or "nobody"
            raise IllegalActionError(f"Expected an action of {acting}, who is at turn, and of nobody else; got those of {given}.")
        self.table.step(action_dict[acting])
        for agent, reward in self.table.rewards.items():
            self._unpaid[agent] += reward
        if self._over():
            rewards = {agent: float(unpaid) for agent, unpaid in self._unpaid.items()}
            return {}, rewards, {"__all__": True}, {"__all__": False}, {}
        acting = self.table.agent_selection
        rewards = {acting: float(self._unpaid[acting])} if acting in self._observed else {}
        for agent in rewards:
            self._unpaid[agent] = 0
        observations, infos = self._observe()
        return observations, rewards, {"__all__": False}, {"__all__": False}, infos

    def _over(self) -> bool:
        return any(self.table.terminations.values())

    def _observe(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the observation of the agent at turn, and its empty info."""
        acting = self.table.agent_selection
        self._observed.add(acting)
        seen = self.table.observe(acting)
        observation = {
            "observations": self._scaled(seen["observation"]),
            "action_mask": seen["action_mask"].astype(np.float32),
        }
        return {acting: observation}, {acting: {}}

    def _scaled(self, values: NDArray[np.uint8]) -> NDArray[np.float32]:
        layout = self.table.layout
        scaled: NDArray[np.float32] = (values.astype(np.float32) - layout.zero) / layout.scale
        return scaled

    def render(self) -> Any:
        """Renders the table as ``raw_env`` does."""
        return self.table.render()

    def close(self) -> None:
        """Closes the window, if there is one."""
        self.table.close()
