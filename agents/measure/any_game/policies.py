"""Players of any game: policies, ``(observation, mask) -> action``.

A third parameter is the seat's generator, a NumPy one, if it has no default or is called ``rng`` or ``generator``.
"""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nainjaune_env.agent_adapters import binds
from nainjaune_env.core.errors import AgentError, IllegalChoiceError, as_sentence, quoted
from nainjaune_env.core.validation import whole

GENERATORS = (["rng"], ["generator"])
"""Names of a third parameter that has a default."""
TOLERANCE = 1e-6
"""Of the sum of probabilities."""


class SeatedPolicy:
    """A policy in one seat."""

    def __init__(self, policy: Any, name: str, seat: str, *, by_state: bool = False) -> None:
        """``seat`` is the seat's name. A policy with ``reset`` is copied, so that two seats do not share a memory.

        ``by_state``: whether policies of OpenSpiel play, too: these have ``action_probabilities(state)``, and their actions are
        drawn by the seat's generator. Raises :class:`AgentError` for an object that cannot be asked.
        """
        self.name = name
        self.seat = seat
        remembers = callable(getattr(policy, "reset", None))
        self.policy = _copied(policy, name) if remembers else policy
        self._reset = self.policy.reset if remembers else None
        self.probabilities = getattr(self.policy, "action_probabilities", None) if by_state else None
        self.draws = self.probabilities is not None or _takes_generator(policy, name)
        self.rng: Any = None
        """The generator of the deal and the seat: NumPy's, or Python's for a policy of OpenSpiel, which is made quicker."""
        self._deal = 0

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
        seen = np.array(mask)  # a copy, so that a policy that writes into it does not make an action legal
        given = self.policy(observation, seen, self.rng) if self.draws else self.policy(observation, seen)
        action = given if type(given) is int else whole(given)
        if action is None or not 0 <= action < len(mask) or not mask[action]:
            raise self._illegal(given, np.flatnonzero(mask).tolist())
        return action

    def distribution(self, state: Any, legal: list[int]) -> list[tuple[int, float]]:
        """Returns the probabilities of a policy of OpenSpiel in a state, by action.

        Raises :class:`AgentError` for anything else, and :class:`IllegalChoiceError` for an action that is not ``legal``.
        """
        assert self.probabilities is not None
        given = self.probabilities(state)
        values = [*given.values()] if isinstance(given, Mapping) else []
        if not abs(sum(values) - 1) <= TOLERANCE or min(values) < 0:
            raise AgentError(
                f"Expected probabilities by action, with the sum 1, of the player {self.name!r}, in seat {self.seat} on deal "
                f"{self._deal}, not {quoted(given)}."
            )
        if wrong := given.keys() - legal:
            raise self._illegal(wrong.pop(), legal)
        return [*given.items()]

    def _illegal(self, given: object, legal: list[int]) -> IllegalChoiceError:
        return IllegalChoiceError(
            f"Expected one of the legal actions {legal} of the player {self.name!r}, in seat {self.seat} on deal {self._deal}, "
            f"not {quoted(given)}."
        )


def outcome_of(outcomes: Iterable[tuple[int, float]], uniform: float) -> int:
    """Returns the outcome in whose share of the unit interval, by ``(outcome, probability)`` pairs, ``uniform`` lies."""
    pairs = [*outcomes]
    for outcome, probability in pairs:
        uniform -= probability
        if uniform < 0:
            return outcome
    return pairs[-1][0]  # probabilities that are rounded may sum to less than 1


def _copied(policy: Any, name: str) -> Any:
    """Returns a copy of a policy that remembers; raises :class:`AgentError` where it has none or takes arguments at its reset."""
    if not binds(policy.reset):
        raise AgentError(
            f"Expected reset() without arguments of the player {name!r}, not reset{inspect.signature(policy.reset)}."
        )
    try:
        return copy.deepcopy(policy)
    except Exception as error:
        raise AgentError(f"Expected a player {name!r} that copy.deepcopy copies, for each seat: {as_sentence(error)}") from error


def _takes_generator(policy: Any, name: str) -> bool:
    """Returns whether a policy takes the generator; raises :class:`AgentError` where it cannot be called."""
    expected = "A player of another game is a function of an observation and a mask, and of a generator if it draws"
    if not callable(policy) or hasattr(policy, "action_probabilities"):
        raise AgentError(f"{expected}, not {quoted(policy)}; policies of OpenSpiel play its games alone.")
    if binds(policy, None, None, None) and not binds(policy, None, None):
        return True
    if not binds(policy, None, None):
        raise AgentError(f"{expected}, and {name!r} has the parameters {inspect.signature(policy)}.")
    try:
        parameters = inspect.signature(policy).parameters.values()
    except ValueError:  # some functions written in C do not say
        return False
    return [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD][2:3] in GENERATORS
