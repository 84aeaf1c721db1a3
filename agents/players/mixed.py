"""A mixed field: a player that is another one in each seat of each round, drawn from a pool.

``mixed`` is the game's own pool: its heuristics' module names it (``MIXED``), else it is all heuristics. ``mixed:closer+tally``
is a pool of these. In duplicate play the draw depends on the deal and the seat alone (``measure.own_game``), so that hero and
field meet the same players; elsewhere a seat's player is drawn at its first decision of a round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng, any_needs_history, depends_on_batch, is_recurrent
from nainjaune_env.core.errors import AgentError, quoted
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.determinize import generator_states

from .foreign import is_external
from .heuristics import mixed_pool
from .zoo import is_zoo_name, player_registry

MIXED = "mixed"
SEPARATOR = "+"
MAX_MEMBERS = 100
"""Most players of a pool."""
_PARTS = re.compile("@|,rollouts=")
"""What stands between the players and the modifiers in a member's name."""


def is_mixed(name: str) -> bool:
    """Returns whether ``name`` is that of a mixed field, by its form alone."""
    return name == MIXED or name.startswith(f"{MIXED}:")


def member_names(name: str, setup: Setup) -> list[str]:
    """Returns the names of the players in the pool of the mixed field ``name`` at tables with ``setup``.

    Of the game's own pool these are the ones that play there. Raises :class:`AgentError` for a pool that is none.
    """
    if name == MIXED:
        return [member for member in mixed_pool(setup.game.name) if _plays(member, setup)]
    names = name.removeprefix(f"{MIXED}:").split(SEPARATOR)
    if not 2 <= len(set(names)) == len(names) <= MAX_MEMBERS:
        raise AgentError(
            f"A mixed field is {MIXED!r}, or 2 to {MAX_MEMBERS} different agents as {MIXED}:closer+random, not {quoted(name)}."
        )
    for member in names:
        if is_mixed(member) or any(map(is_external, _PARTS.split(member))):
            raise AgentError(f"A mixed field has heuristics, zoo agents and runs, not {quoted(member)}.")
    return names


def explicit_name(name: str, setup: Setup) -> str:
    """Returns ``name``, that of a mixed field with its pool, which does not depend on the version."""
    return f"{MIXED}:{SEPARATOR.join(member_names(name, setup))}" if is_mixed(name) else name


def sentence(name: str, setup: Setup) -> str:
    """Returns what the mixed field ``name`` is."""
    return f"In {name} each seat of each deal is drawn from {', '.join(member_names(name, setup))}."


def _plays(name: str, setup: Setup) -> bool:
    if not is_zoo_name(name):
        return True
    try:
        player_registry().find(name, setup)
    except AgentError:
        return False
    return True


class MixedAgent:
    """A player that is one of ``members`` in each round, drawn at its first decision with equal probabilities."""

    def __init__(self, name: str, members: Sequence[Agent], setup: Setup) -> None:
        """Raises :class:`AgentError` for a member that remembers."""
        for member in members:
            if is_recurrent(member, setup):
                raise AgentError(f"A mixed field has no agents with memory, and {member.name!r} remembers.")
        self.name = name
        self.members = list(members)
        self.needs_history = any_needs_history(members)
        self.depends_on_batch = any(map(depends_on_batch, members))

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns that of the member's number, from 1 on."""
        return np.dtype(np.uint8)

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the members' actions, ``(K,)``."""
        draws = rng.random((len(decisions.index), 2))
        drawn = 1 + members_drawn(draws[:, 0], len(self.members))
        np.copyto(decisions.state, drawn, where=decisions.state == 0, casting="unsafe")
        states = generator_states(draws[:, 1])  # a decision's own, so that no member's draws depend on other decisions
        actions = np.empty(len(decisions.index), np.int64)
        for number, member in enumerate(self.members, start=1):
            rows = np.flatnonzero(decisions.state == number)
            if rows.size:
                asked = replace(decisions, index=decisions.index[rows], _state=None)
                actions[rows] = member.act(asked, RowStreams(states, rows))
        return actions


def members_drawn(draws: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Returns the numbers of ``count`` members that ``draws`` in [0, 1) stand for."""
    return (draws * count).astype(np.int64)


def members_of(agent: Agent) -> Sequence[Agent]:
    """Returns the members of a mixed field; nothing for any other agent."""
    members: Sequence[Agent] = getattr(agent, "members", ())
    return members


def seated_members(
    agents: Sequence[Agent], seating: NDArray[np.int64], draws: NDArray[np.float64]
) -> tuple[list[Agent], NDArray[np.int64]]:
    """Returns ``agents`` and ``seating (D, T, n)`` with the members of mixed fields in their seats.

    ``draws (D, n)`` in [0, 1) say which, the same in all T seatings of a deal.
    """
    seated, players = seating.copy(), [*agents]
    for number, agent in enumerate(agents):
        members = members_of(agent)
        if members:
            member = len(players) + members_drawn(draws, len(members))
            seated = np.where(seating == number, member[:, None, :], seated)
            players += members
    return players, seated


def mixed_agent(name: str, setup: Setup, load: Callable[[str, Setup], Agent]) -> MixedAgent:
    """Returns the mixed field ``name``; ``load`` returns its members by name. Raises :class:`AgentError` where there is none."""
    return MixedAgent(name, [load(member, setup) for member in member_names(name, setup)], setup)
