"""Opponents that are not agents of this project: functions, and models that have ``predict``, such as Stable-Baselines3's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
        """Return the actions for observations ``(K, size)``, and recurrent states, which are ignored."""
        ...


Opponent = str | Agent | Model | Choose
"""An agent by its name or itself, a model, or a function."""


class FunctionAgent:
    """A function as an agent; equal seeds give equal games only if it draws nothing at random."""

    def __init__(self, choose: Choose) -> None:
        """The agent's name is the function's, or that of its class."""
        self.choose = choose
        self.name = str(getattr(choose, "__name__", type(choose).__name__))

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[Any]:
        """Return the function's actions."""
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
        """Return the model's actions."""
        masks = {"action_masks": decisions.mask} if self._takes_masks else {}
        return np.asarray(self.model.predict(decisions.observation, deterministic=True, **masks)[0])


def opponent_agent(opponent: object, setup: Setup) -> Agent:
    """Return ``opponent`` as an agent at tables with ``setup``; raises :class:`AgentError` for anything else."""
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
