"""Opponents of a learner: agents by name, functions, models with ``predict``, such as Stable-Baselines3's, and pools."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng, find_agent
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import as_array

Choose = Callable[[NDArray[np.uint8], NDArray[np.bool_]], Any]
"""Takes K observations ``(K, size)`` and their masks ``(K, A)``, and returns K legal actions, ``(K,)``."""


@runtime_checkable
class Model(Protocol):
    """A model of Stable-Baselines3 or sb3-contrib, trained on the observations of these tables."""

    def predict(self, observation: Any, *, deterministic: bool) -> tuple[Any, Any]:
        """Returns the actions for observations ``(K, size)``, and recurrent states, which are ignored."""


Opponent = str | Agent | Model | Choose
"""An agent by its name or itself, a model, or a function."""

SELF = "self"
"""The opponents of self-play: the learner itself, in every seat."""


@dataclass(frozen=True)
class Pool:
    """Opponents to draw from: one for each seat when an episode begins, by the table's own generator."""

    agents: Sequence[Opponent]
    weights: Sequence[float] = ()
    """Relative frequencies of the agents; empty: all equal."""

    def __post_init__(self) -> None:
        if isinstance(self.agents, str):
            raise AgentError(
                f"A pool's agents are a sequence of opponents, as in Pool(['tally', 'lowest']), not {quoted(self.agents)}."
            )
        if not len(self.agents):
            raise AgentError("A pool has at least one opponent, and this one is empty.")
        given, wanted = self._frequencies(), len(self.agents)
        if given.shape != (wanted,) or not (np.isfinite(given).all() and given.min() >= 0 < given.max()):
            raise AgentError(f"A pool's weights are {wanted} numbers, none below 0 and not all 0, not {quoted(self.weights)}.")

    def _frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.weights, np.float64) if len(self.weights) else np.ones(len(self.agents))

    @property
    def ends(self) -> NDArray[np.float64]:
        """The cumulated frequencies of the agents: the last one is 1."""
        ends = np.cumsum(self._frequencies())
        return np.asarray(ends / ends[-1])


Opponents = Opponent | Sequence[Opponent] | Pool


class FunctionAgent:
    """A function as an agent, with its name; equal seeds give equal games only if it draws nothing at random."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.name = str(getattr(choose, "__name__", type(choose).__name__))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[Any]:
        """Returns the function's actions."""
        refusal = f"The function {self.name!r} was asked for one action a decision, and gave"
        return as_array(refusal, self.choose(decisions.observation, decisions.mask), AgentError)


class ModelAgent:
    """A model as an agent, which plays its likeliest action: a legal one if its ``predict`` takes ``action_masks``."""

    def __init__(self, model: Model, name: str | None = None) -> None:
        """The agent is called ``name``; None: as the model's class."""
        self.model = model
        self.name = type(model).__name__ if name is None else name
        self._takes_masks = "action_masks" in inspect.signature(model.predict).parameters

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[Any]:
        """Returns the model's actions."""
        masks = {"action_masks": decisions.mask} if self._takes_masks else {}
        return np.asarray(self.model.predict(decisions.observation, deterministic=True, **masks)[0])


def find_opponents(opponents: Opponents, setup: Setup) -> list[Agent]:
    """Returns the agents that ``opponents`` names: one for all other seats, one for each, all of a pool, or none in self-play.

    Raises :class:`AgentError` where their number does not fit, or one is none of what :func:`opponent_agent` takes.
    """
    given: list[object]
    if isinstance(opponents, str) and opponents == SELF:
        return []
    if isinstance(opponents, Pool):
        given = [*opponents.agents]
    else:
        given = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else [*opponents]
    others = setup.players - 1
    if len(given) not in (1, others) and not isinstance(opponents, Pool):
        raise AgentError(f"Expected one opponent for all seats or {others}, one for each of the others, not {len(given)}.")
    named = {one: opponent_agent(one, setup) for one in given if isinstance(one, str)}  # each is one agent, in several seats too
    return [named[one] if isinstance(one, str) else opponent_agent(one, setup) for one in given]


def opponent_agent(opponent: object, setup: Setup) -> Agent:
    """Returns ``opponent`` as an agent at tables with ``setup``; raises :class:`AgentError` for anything else."""
    if isinstance(opponent, type):  # it has the methods of its instances
        raise AgentError(f"An opponent is an instance of a class, and {quoted(opponent)} is a class.")
    if isinstance(opponent, str):
        return find_agent(opponent, setup)
    if isinstance(opponent, Agent):
        return opponent
    if isinstance(opponent, Model):
        return ModelAgent(opponent)
    if callable(opponent):
        _check_arguments(opponent)
        return FunctionAgent(opponent)
    raise AgentError(f"An opponent is a function, a model with predict(), an agent or the name of one, not {quoted(opponent)}.")


def _check_arguments(function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions written in C have none
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        what = f"{quoted(function)} cannot be called with two ({error})"
        raise AgentError(f"A function as an opponent takes the observations and the masks, and {what}.") from None
