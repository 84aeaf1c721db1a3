"""RLlib's ``MultiAgentEnv`` over one table of any game, for its new API stack and its action-masking modules.

RLlib pins a version of Gymnasium, so it lives in an environment of its own: the pip extra ``rllib``, ``make rllib``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nainjaune_env.core.errors import IllegalActionError, MissingLibraryError
from nainjaune_env.envs.pettingzoo_aec import raw_env

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise MissingLibraryError("The RLlib door", "ray", "rllib") from error


class TableEnv(MultiAgentEnv):  # type: ignore[misc]
    """One table of a game as an RLlib environment: the agent at turn is the one that is given an observation.

    **Observations** are ``{"observations": (size,) float32, "action_mask": (A,) float32}``, keys and types as RLlib's
    ``ActionMaskingTorchRLModule`` wants them. The bytes of the layout are scaled by its slots, since RLlib's networks take
    numbers as they are. Nobody is given an observation when the episode is over, so no mask is ever empty.

    **Rewards** come with an agent's next observation, or at the end: all that its payoff has grown by since it was
    last asked, the first time since the episode began. RLlib loses what an agent is paid before it has acted, so until then
    it is kept back. An agent's rewards sum to its payoff. A seat that is never asked has no part in RLlib's episode.

    **Illegal actions** raise :class:`IllegalActionError`, and change nothing.

    An episode in which nobody has a choice has nothing to show: the next one is dealt, as ``Batch`` does.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """``config`` holds the settings of :class:`~nainjaune_env.envs.pettingzoo_aec.raw_env`: preset, num_players, knobs …"""
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
        self.action_spaces = self.table.action_spaces  # they draw legal actions, as RLlib's check of environments does
        self._owed: dict[str, int] = {}
        self._asked: set[str] = set()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; the observation of the agent at turn. Seeds and options are those of ``raw_env``."""
        self.table.reset(seed, options)
        while self._over():
            self.table.reset()
        self._owed = dict(self.table.rewards)
        self._asked.clear()
        return self._ask()

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """The action of the agent at turn.

        Raises :class:`IllegalActionError`, before anything has changed, for what is not legal and for actions of others.
        """
        if not self.table.agents or self._over():
            raise IllegalActionError("No episode is running: call reset() first.")
        acting = self.table.agent_selection
        if set(action_dict) != {acting}:
            given = ", ".join(map(str, action_dict)) or "nobody"
            raise IllegalActionError(f"Expected an action of {acting}, who is at turn, and of nobody else; got those of {given}.")
        self.table.step(action_dict[acting])
        for agent, reward in self.table.rewards.items():
            self._owed[agent] += reward
        if self._over():
            rewards = {agent: float(owed) for agent, owed in self._owed.items()}
            return {}, rewards, {"__all__": True}, {"__all__": False}, {}
        acting = self.table.agent_selection
        rewards = {acting: float(self._owed[acting])} if acting in self._asked else {}
        for agent in rewards:
            self._owed[agent] = 0
        observations, infos = self._ask()
        return observations, rewards, {"__all__": False}, {"__all__": False}, infos

    def _over(self) -> bool:
        return any(self.table.terminations.values())

    def _ask(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The observation of the agent at turn, and its info, which holds nothing."""
        acting = self.table.agent_selection
        self._asked.add(acting)
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
        """As ``raw_env`` with its ``render_mode``."""
        return self.table.render()

    def close(self) -> None:
        """Closes the table's window, where there is one."""
        self.table.close()
