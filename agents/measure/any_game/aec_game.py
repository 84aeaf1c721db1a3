"""PettingZoo's AEC environments as a source of deals. PettingZoo itself is not imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nainjaune_env.agent_adapters import binds
from nainjaune_env.core.errors import GameError, quoted

from .foreign_game import ForeignGame
from .policies import SeatedPolicy

NEEDED = ("reset", "step", "last", "agent_iter", "observation_space", "action_space", "possible_agents")


class AecGame(ForeignGame):
    """An environment, or what makes one, with one action of a ``Discrete`` space at a time.

    The mask of legal actions is ``observation["action_mask"]``, beside ``observation["observation"]``, or else
    ``infos[agent]["action_mask"]``; without either, all actions are legal.
    """

    def __init__(self, make: Callable[[int], Any], seed: int, *, anew: bool) -> None:
        """``make(number)`` gives the environment for the deal of a seed, ``anew`` for each deal, or once.

        It is reset with the same seed before each game. Raises :class:`GameError` for another kind of environment, and where
        seats have different spaces.
        """
        self.seed = seed
        self._make = make
        self._anew = anew
        self._env = env = make(0)
        lacking = [name for name in NEEDED if not hasattr(env, name)]
        if lacking:
            hint = " (pettingzoo.utils.parallel_to_aec turns a parallel one into it)" if hasattr(env, "possible_agents") else ""
            raise GameError(f"Expected an AEC environment{hint}, and {quoted(env)} has no {lacking[0]!r}.")
        if not binds(env.reset, seed=0):
            raise GameError(f"Expected an environment with reset(seed=…), and that of {quoted(env)} takes no seed.")
        self.name = str((getattr(env, "metadata", None) or {}).get("name", type(env).__name__))
        self.seat_names = [*env.possible_agents]
        self._seat_of = {name: seat for seat, name in enumerate(self.seat_names)}
        spaces = [(env.observation_space(name), env.action_space(name)) for name in self.seat_names]
        if len(spaces) < 2:
            raise GameError(f"Expected two or more seats, and {self.name} has {len(spaces)}.")
        for name, some in zip(self.seat_names, spaces, strict=True):
            if some != spaces[0]:
                raise GameError(
                    f"Expected seats that are alike, for players take each in turn, and the spaces of {name} are not those of "
                    f"{self.seat_names[0]}: {quoted(some)}, not {quoted(spaces[0])}."
                )
        actions = spaces[0][1]
        if getattr(actions, "start", None) != 0:
            raise GameError(f"Expected actions of a Discrete space, from 0 on, not of {quoted(actions)}.")
        self._all_legal = np.ones(int(actions.n), np.int8)

    def prepare(self, number: int) -> None:
        """Makes the environment of a deal, where each has its own."""
        if self._anew:
            self._env = self._make(number)

    def table(self, number: int, seated: Sequence[SeatedPolicy]) -> tuple[Sequence[float], int]:
        """Plays a game, and returns the sums of what ``last()`` gives each agent, and the seat that acts first.

        Raises :class:`GameError` where an agent comes or goes before the end.
        """
        env, seat_of = self._env, self._seat_of
        env.reset(seed=number)
        if {*env.agents} != {*seat_of}:
            raise GameError(f"Expected the agents {quoted(self.seat_names)} from the first action on, not {quoted(env.agents)}.")
        rewards, ended = [0.0] * len(seated), set[str]()
        first = seat_of[env.agent_selection]
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            if agent not in seat_of:
                raise GameError(f"Expected the agents {quoted(self.seat_names)} to the end, and {quoted(agent)} came later.")
            seat = seat_of[agent]
            rewards[seat] += self.number(reward, seat)
            if terminated or truncated:
                left = [name for name in seat_of if not (env.terminations.get(name) or env.truncations.get(name))]
                if not ended and left:
                    raise GameError(f"Expected all seats to end together, and {agent} ended while {left[0]} had not.")
                ended.add(agent)
                env.step(None)
                continue
            mask = info.get("action_mask", self._all_legal)
            if isinstance(observation, dict) and "action_mask" in observation:
                observation, mask = observation.get("observation", observation), observation["action_mask"]
            env.step(seated[seat].act(observation, mask))
        if missing := [name for name in seat_of if name not in ended]:
            raise GameError(f"Expected a last turn of each agent after the end, with its last reward, and {missing[0]} had none.")
        return rewards, first
