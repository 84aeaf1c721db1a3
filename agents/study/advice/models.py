"""The agents that play the rounds of advice to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nainjaune_env.agent import Agent, CompiledPolicy
from nainjaune_env.core.errors import AgentError
from nainjaune_env.core.spec import Setup

from ...players.heuristics import yardstick
from ...players.loading import load_agent
from ...players.program.settings import BotSettings
from ...players.search.policies import ScoringAgent, policy_of, rollout_policy
from ...players.zoo import player_registry

STRONG = "zoo:strong"
"""The default, where it plays."""


def usual_model(setup: Setup) -> str:
    """Returns the default agent: the :func:`strongest` if it plays rounds from any position, else the game's baseline."""
    name = strongest(setup)
    return name if _plays_on(setup, name) else yardstick(setup.game.name)


def is_advised(setup: Setup) -> bool:
    """Returns whether there is advice at tables with ``setup``; not where players remember what no position shows."""
    return setup.game.advice is not None and _plays_on(setup, yardstick(setup.game.name))


def _plays_on(setup: Setup, name: str) -> bool:
    """Returns whether an agent plays rounds from any position."""
    try:
        rollout_policy(load_agent(name, setup), setup)
    except AgentError:  # it remembers
        return False
    return True


def strongest(setup: Setup) -> str:
    """Returns ``zoo:strong``, or the fallback, if one plays at tables with ``setup``, else the game's baseline heuristic."""
    try:
        return player_registry().find(STRONG, setup).name
    except AgentError:
        return yardstick(setup.game.name)


def in_seats(setup: Setup, names: Sequence[str]) -> list[str]:
    """Returns names in seat order, ``(n,)``, from n names or one for all; raises :class:`AgentError` for another number."""
    if len(names) not in (1, setup.players):
        raise AgentError(f"Expected 1 or {setup.players} agents at a table with {setup.players} seats, not {len(names)}.")
    return list(names) if len(names) > 1 else list(names) * setup.players


def seated(setup: Setup, seat: int, hero: str, others: Sequence[str]) -> list[str]:
    """Returns names in seat order, ``(n,)``: ``hero`` in ``seat``, and ``others``, n - 1 in seat order or one for all.

    Raises :class:`AgentError` for another number of them.
    """
    if len(others) not in (1, setup.players - 1):
        raise AgentError(
            f"Expected 1 or {setup.players - 1} other agents at a table with {setup.players} seats, not {len(others)}."
        )
    names = list(others) if len(others) > 1 else list(others) * (setup.players - 1)
    return [*names[:seat], hero, *names[seat:]]


def players(
    setup: Setup, names: Sequence[str], made: list[Agent] | None = None, bots: BotSettings | None = None
) -> Callable[[], Sequence[Agent]]:
    """Returns a function that returns the agents called ``names (n,)``, one object a name; the ``model`` of ``Adviser``.

    ``Adviser`` calls it once for each thread. Agents that threads can share are loaded once, others for each call. Those that it
    returns are added to ``made``. ``bots`` says how bots are asked (None: as by default).
    """
    loaded = {name: load_agent(name, setup, bots=bots) for name in dict.fromkeys(names)}
    shared = {name: agent for name, agent in loaded.items() if isinstance(policy_of(agent), CompiledPolicy | ScoringAgent)}

    def load() -> Sequence[Agent]:
        agents = {name: shared.get(name) or load_agent(name, setup, bots=bots) for name in loaded}
        if made is not None:
            made.extend(agents.values())
        return [agents[name] for name in names]

    return load
