"""Players of any game: policies, ``(observation, mask) -> action``.

A third parameter without a default is the seat's generator, a NumPy one.
"""

from __future__ import annotations

import copy
import inspect
import random
from typing import Any

import numpy as np

from nainjaune_env.agent_adapters import binds
from nainjaune_env.core.errors import AgentError, IllegalChoiceError, quoted
from nainjaune_env.core.validation import whole


class SeatedPolicy:
    """A policy in one seat."""

    def __init__(self, policy: Any, name: str, seat: str, *, by_state: bool = False) -> None:
        """``seat`` is the seat's name. A policy with ``reset`` is copied, so that two seats do not share a memory.

        ``by_state``: whether policies of OpenSpiel play, too: these have ``action_probabilities(state)``, and their actions are
        drawn by the seat's generator. Raises :class:`AgentError` for an object that cannot be asked.
        """
        self.name = name
        self.seat = seat
        self.policy = copy.deepcopy(policy) if hasattr(policy, "reset") else policy
        self.probabilities = getattr(policy, "action_probabilities", None) if by_state else None
        self.draws = self.probabilities is not None or _takes_generator(policy, name)
        self.rng: Any = None
        """The generator of the deal and the seat: NumPy's, or Python's for a policy of OpenSpiel, which is made quicker."""
        self._deal = 0
        self._reset = getattr(self.policy, "reset", None)

    def start(self, seed: int, deal: int, seat: int) -> None:
        """Starts a game: what the policy draws depends on the seed, the deal and the seat alone."""
        self._deal = deal
        if self.probabilities is not None:
            self.rng = random.Random((seed << 72) + (deal << 8) + seat)
        elif self.draws:
            self.rng = np.random.default_rng([seed, deal, seat])
        if self._reset is not None:
            self._reset()

    def act(self, observation: Any, mask: Any) -> int:
        """Returns a legal action; ``mask (A,)`` is not 0 where one is. Raises :class:`IllegalChoiceError` for another answer."""
        given = self.policy(observation, mask, self.rng) if self.draws else self.policy(observation, mask)
        action = given if type(given) is int else whole(given)
        if action is None or not 0 <= action < len(mask) or not mask[action]:
            raise self.illegal(given, np.flatnonzero(mask).tolist())
        return action

    def illegal(self, given: object, legal: list[int]) -> IllegalChoiceError:
        """Returns the error for an action that is not among the ``legal`` ones."""
        return IllegalChoiceError(
            f"Expected one of the legal actions {legal} of the player {self.name!r}, in seat {self.seat} on deal {self._deal}, "
            f"not {quoted(given)}."
        )


def _takes_generator(policy: Any, name: str) -> bool:
    """Returns whether a policy has a third parameter; raises :class:`AgentError` where it cannot be called."""
    expected = "A player of another game is a function of an observation and a mask, and of a generator if it draws"
    if not callable(policy):
        raise AgentError(f"{expected}, not {quoted(policy)}.")
    if binds(policy, None, None):
        return False
    if not binds(policy, None, None, None):
        raise AgentError(f"{expected}, and {name!r} has the parameters {inspect.signature(policy)}.")
    return True
