"""Who stands for the seats when rounds are played out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from ..heuristics import Compiled, RandomAgent, yardstick
from ..loading import load_agent
from ..search.rollouts import Scorer
from ..zoo import shelf

STRONG = "zoo:strong"
"""The player in the box that is taken where it plays."""


def usual_model(setup: Setup) -> str:
    """The strongest player in the box, where there is one for tables with ``setup``; else the game's best rule of thumb."""
    try:
        shelf().find(STRONG, setup)
    except AgentError:
        return yardstick(setup.game.name)
    return STRONG


def in_seats(setup: Setup, names: Sequence[str]) -> list[str]:
    """Names in seat order, ``(n,)``: as given, or one for all. Raises :class:`AgentError` for another number of them."""
    if len(names) not in (1, setup.players):
        raise AgentError(f"At a table of {setup.players}, 1 or {setup.players} agents are named, not {len(names)}.")
    return list(names) if len(names) > 1 else list(names) * setup.players


def seated(setup: Setup, seat: int, own: str, others: Sequence[str]) -> list[str]:
    """Who stands for each seat, by name, ``(n,)``: ``own`` for ``seat``, for the others one each in seat order, or one for all.

    Raises :class:`AgentError` for another number of them.
    """
    if len(others) not in (1, setup.players - 1):
        raise AgentError(f"At a table of {setup.players}, 1 or {setup.players - 1} agents are named, not {len(others)}.")
    names = list(others) if len(others) > 1 else list(others) * (setup.players - 1)
    return [*names[:seat], own, *names[seat:]]


def players(setup: Setup, names: Sequence[str]) -> Callable[[], Sequence[Agent]]:
    """What gives the agents called ``names (n,)``, the same one for the same name: :class:`Adviser` takes that for a model.

    It is called for each thread. What has no room of its own to work in is loaded once for all of them, anything else anew.
    """
    loaded = {name: load_agent(name, setup) for name in dict.fromkeys(names)}
    shared = {name: agent for name, agent in loaded.items() if isinstance(agent, RandomAgent | Compiled | Scorer)}

    def load() -> Sequence[Agent]:
        own = {name: shared.get(name) or load_agent(name, setup) for name in loaded}
        return [own[name] for name in names]

    return load
