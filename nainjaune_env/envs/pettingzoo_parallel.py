"""PettingZoo's parallel interface over one table of any game, on PettingZoo's own converter of the AEC environment.

A step is made here, not by the converter, which observes the agents one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from nainjaune_env.core.errors import IllegalActionError, quoted
from nainjaune_env.core.illegal import action_name
from nainjaune_env.core.validation import whole
from nainjaune_env.envs.pettingzoo_aec import env as aec_env
from nainjaune_env.envs.registration import pettingzoo_spec
from nainjaune_env.envs.spaces import LegalDiscrete, masked_space

Observation = dict[str, NDArray[Any]]
Infos = dict[str, dict[str, Any]]


class parallel_env(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]
    """One table of a game as a PettingZoo parallel environment: one agent acts, and all others wait.

    **Actions** are as in the AEC environment, with one more, the last, ``no_op``: to wait. Every agent in ``agents`` gives one
    at every step. The mask ``(A + 1,) int8``, in ``observation["action_mask"]`` and in ``info["action_mask"]``, has the legal
    actions for the agent at turn, without the no-op, and the no-op alone for every other agent; so it is never empty. An
    illegal action, off turn as well as at turn, raises :class:`IllegalActionError` and changes nothing.

    **Every ply is a step** unless ``skip_forced=True`` is given, unlike in the AEC environment: all agents observe every step,
    and an environment that stops at a seat would show them that this seat has a choice.

    **Rewards** are ints, and an agent's sum over an episode is its payoff. All agents terminate in the same step. An episode
    without any choice (``skip_forced=True``) is over when it is dealt: in its one step every agent waits.

    ``state()``, ``state_space``, ``render()``, seeds and the options of ``reset`` are as in the AEC environment, which is
    ``unwrapped`` (``unwrapped.record()`` is the record of a finished episode).
    """

    def __init__(
        self, preset: str | None = None, players: int | None = None, *, skip_forced: bool = False, **settings: Any
    ) -> None:
        """Takes the arguments of :class:`~nainjaune_env.envs.pettingzoo_aec.raw_env`; ``skip_forced`` has another default."""
        super().__init__(aec_env(preset, players, skip_forced=skip_forced, **settings))
        self.setup = self.aec_env.setup
        self.layout = self.setup.layout
        self.agents: list[str] = []
        self.no_op = len(self.setup.game.actions)
        self._named_actions = (*self.setup.game.actions, "to wait")
        self._observation_spaces = {agent: masked_space(self.layout, self.no_op + 1) for agent in self.possible_agents}
        self._action_spaces = {agent: LegalDiscrete(np.zeros(self.no_op + 1, np.int8)) for agent in self.possible_agents}
        self._at_turn = 0
        self._unpaid: dict[str, int] = {}

    @property
    def spec(self) -> Any:
        """PettingZoo's ``EnvSpec``, which makes this environment again; None for versions of PettingZoo without a registry."""
        return pettingzoo_spec("parallel", self.setup.game.name, self.aec_env.arguments)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the space of the AEC environment with a mask of ``A + 1``, always the same object."""
        self.aec_env.observation_space(agent)  # raises for an unknown agent
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> LegalDiscrete:
        """Returns ``Discrete(A + 1)``, always the same object; its ``sample`` draws legal actions. The last one is the no-op."""
        self.aec_env.action_space(agent)
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Observation], Infos]:
        """Begins an episode; raises the errors of the AEC environment's ``reset``."""
        self.aec_env.reset(seed, options)
        table = self.unwrapped
        self.agents = table.agents[:]
        # rewards of plies before the first step, which returns them: a parallel reset returns no rewards
        self._unpaid = dict(table.rewards)
        for space in self._action_spaces.values():
            space.legal[:] = np.arange(self.no_op + 1) == self.no_op
        return self._observe()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, int], dict[str, bool], dict[str, bool], Infos]:
        """Takes one action (an integer) of every agent in ``agents``, by name.

        Raises :class:`IllegalActionError`, which names the legal actions; then nothing has changed.
        """
        table, agents = self.unwrapped, self.agents
        if not agents:
            raise IllegalActionError("No episode is running: call reset() first.")
        # the agent at turn; None where the episode was over when it was dealt
        acting = None if table._batch.done[0] else table.agent_selection
        self._check(actions, acting)
        rewards = dict.fromkeys(agents, 0)
        if acting is not None:
            table.step(actions[acting])
            rewards = dict(table.rewards)
        if self._unpaid:
            rewards = {agent: reward + self._unpaid[agent] for agent, reward in rewards.items()}
            self._unpaid = {}
        over = bool(table._batch.done[0])
        observations, infos = self._observe()
        if over:
            for _ in agents:
                table.step(None)
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, False), infos

    def _check(self, actions: Mapping[str, Any], acting: str | None) -> None:
        """Checks who acts and that all others wait; the AEC environment checks the action at turn."""
        if not isinstance(actions, Mapping):
            raise IllegalActionError(f"Expected a mapping from agents to their actions, and got {quoted(actions)}.")
        if actions.keys() != self._action_spaces.keys():  # all agents act up to the end
            got = ", ".join(map(str, actions)) or "nobody"
            raise IllegalActionError(f"Expected one action of each of {', '.join(self.agents)}, and got those of {got}.")
        for agent, action in actions.items():
            number = whole(action)
            if agent != acting and number != self.no_op:
                what = quoted(action) if number is None else action_name(number, self._named_actions)
                raise IllegalActionError(f"{agent} is not at turn, where only {self.no_op} (to wait) is legal, not {what}.")
        if acting is not None and whole(actions[acting]) == self.no_op:
            allowed = self.unwrapped._batch.legal_names(0)
            raise IllegalActionError(f"{acting} is to act, where {self.no_op} (to wait) is not legal; legal: {allowed}.")

    def _observe(self) -> tuple[dict[str, Observation], Infos]:
        """Returns new arrays: what every agent observes, and its mask, twice."""
        table, agents = self.unwrapped, self.agents
        masks = np.zeros((len(agents), self.no_op + 1), np.int8)
        masks[:, self.no_op] = 1
        if not table._batch.done[0]:
            masks[table._at_turn, : self.no_op] = table._batch.mask[0]
            masks[table._at_turn, self.no_op] = 0
        for seat in (self._at_turn, table._at_turn):
            self._action_spaces[agents[seat]].legal[:] = masks[seat]
        self._at_turn = table._at_turn
        seen = zip(agents, table.state(), masks, strict=True)
        observations: dict[str, Observation] = {agent: {"observation": row, "action_mask": mask} for agent, row, mask in seen}
        return observations, {agent: {"action_mask": mask} for agent, mask in zip(agents, masks.copy(), strict=True)}
