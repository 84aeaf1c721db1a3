"""The agents that may be seated from a page: by name only, never by a path on the server.

Players from elsewhere are programs and files of the server's machine. Only those are offered that whoever started the server
named, each exactly as it was named, and only those are loaded, wherever a name comes from.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, DecisionBatch, Rng, needs_history
from nainjaune_env.core.errors import AgentError, CheckpointError, NainJauneError, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names, get_game

from ...players.foreign import is_bot, shown_name
from ...players.loading import SEARCHES, external_players, load_agent, named_agents, setup_of_runs
from ...players.program.counting import faults_of
from ...players.program.settings import BotSettings
from ...players.zoo import player_registry

MAX_LOADED = 32
"""Agents that are kept loaded."""
MAX_SEARCH_DEALS = 500
"""The largest number after ``@search=`` and ``@adaptive=``."""
_DEALS = re.compile(rf"@({'|'.join(SEARCHES)})=([0-9.]+)")
_NAME = re.compile(r"([^@]+?)((?:@sample)?)((?:@[a-z]+=[0-9.]+){0,3})")


def offered(game: str, extra: Sequence[str] = ()) -> list[str]:
    """Returns the names of the agents that play ``game``: heuristics, solutions, zoo players, and the ``extra`` ones."""
    zoo = dict.fromkeys(player.name for player in player_registry().players() if player.card.game == game)
    return [*named_agents(game), *zoo, *extra]


def check_agent(name: object, game: str, extra: Sequence[str] = ()) -> str:
    """Returns ``name`` if it is one of those :func:`offered`, with modifiers such as ``@search=50`` or without.

    Raises :class:`AgentError` for any other name, before anything looks for a file of that name.
    """
    names = offered(game, extra)
    if isinstance(name, str):
        match = _NAME.fullmatch(name)
        if name in names:
            return name
        if match is not None and match[1] in names and not is_bot(match[1]):  # a search would ask a program thousands of times
            for modifier, number in _DEALS.findall(match[3]):
                if not re.fullmatch("[0-9]{1,3}", number) or not 1 <= int(number) <= MAX_SEARCH_DEALS:
                    raise AgentError(f"After @{modifier}= comes a whole number from 1 to {MAX_SEARCH_DEALS}, not {number}.")
            return name
    raise AgentError(unknown_name_message("agent", name, names))


def check_extra(name: str, bots: BotSettings) -> None:
    """Raises as ``load_agent`` does for a name that cannot be among the ``extra`` ones of :func:`offered`."""
    first: NainJauneError | None = None
    for game in sorted(game_names(), key=lambda game: game != DEFAULT_GAME):
        if name in offered(game):
            return
        try:
            load_agent(name, setup_of_runs([name], game) or get_game(game).setup(None, None), bots=bots)
        except (AgentError, CheckpointError) as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


class Said(NamedTuple):
    """What an agent said to a decision of its own; what everybody at the table may read."""

    comment: str | None
    value: float | None
    """The payoff that it expects in the rest of the round."""
    forfeited: bool
    """Whether it gave no valid answer, so that the lowest legal action was played."""


class OneAtATime:
    """An agent that several threads share: they wait for each other, since an agent may write to buffers of its own."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.needs_history = needs_history(agent)
        self.faults = faults_of(agent)
        self.may_wait = self.faults is not None or bool(external_players(agent.name))
        """Whether a decision may take long although those before it were quick, as of other people's programs."""
        self._agent = agent
        self._lock = threading.Lock()
        self._last = threading.local()

    @property
    def is_busy(self) -> bool:
        """Whether a thread uses the agent, so that :meth:`act` would wait."""
        return self._lock.locked()

    def act(self, decisions: DecisionBatch, rng: Rng) -> NDArray[np.int64]:
        """Returns the agent's actions."""
        with self._lock:
            before = 0 if self.faults is None else self.faults.forfeited
            try:
                actions = self._agent.act(decisions, rng)
            except AgentError:
                if not external_players(self.name):
                    raise
                # the sentence has the words of the command and the program's log, which are not for everybody at the table
                logging.getLogger(__name__).exception("A player from elsewhere has failed.")
                raise AgentError(f"{shown_name(self.name)} gave no valid answer; the server's log says more.") from None
            # a network's ``values`` are a method
            comments, values = (getattr(self._agent, name, None) if self.faults else None for name in ("comments", "values"))
            forfeited = self.faults is not None and self.faults.forfeited > before
            self._last.said = Said(comments[0] if comments else None, values[0] if values else None, forfeited)
            return actions

    def said(self) -> Said | None:
        """Returns what the agent said to the first decision of the last :meth:`act` of this thread; None if it was nothing."""
        said: Said = self._last.said
        return None if said == (None, None, False) else said

    def state_dtype(self, setup: Setup) -> np.dtype[Any]:
        """Returns that of the agent, with size 0 if it remembers nothing."""
        state_dtype = getattr(self._agent, "state_dtype", None)
        return np.dtype([]) if state_dtype is None else state_dtype(setup)


class LoadedAgents:
    """The agents that tables use, each loaded once for all tables with the same rules."""

    def __init__(self, extra: Sequence[str] = (), bots: BotSettings | None = None) -> None:
        """``extra`` are the players from elsewhere that may be loaded; ``bots`` says how bots are asked."""
        self._extra = extra
        self._bots = bots
        self._loaded: OrderedDict[tuple[str, str], OneAtATime] = OrderedDict()

    def get(self, name: str, setup: Setup) -> OneAtATime:
        """Returns the agent ``name`` for tables with ``setup``; raises as ``load_agent`` does.

        Raises :class:`AgentError` for a player from elsewhere that this server was not started with.
        """
        if name not in self._extra and not {*external_players(name)} <= {*self._extra}:
            raise AgentError(f"{shown_name(name)} sits here, and this server was not started with it: name it after --agents.")
        key = name, repr(setup.to_dict())
        if key not in self._loaded:
            self._loaded[key] = OneAtATime(load_agent(name, setup, bots=self._bots))
            if len(self._loaded) > MAX_LOADED:
                self._loaded.popitem(last=False)  # tables that have it keep it
        self._loaded.move_to_end(key)
        return self._loaded[key]
