"""Games are prepared before tables of them are shown: what they call is compiled, or loaded from the cache, in a thread.

The event loop answers all connections. It must call compiled functions only when they are in memory, since with an empty cache
one call would compile for many seconds.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.registry import get_game

from ...study.advice.models import is_advised
from .live_table import LiveTable
from .players import LoadedAgents
from .settings import TableSettings
from .views import rules_text, view

AGENT = "random"
"""The agent that plays in :func:`use_game`."""
_PREPARED: set[str] = set()
"""Games whose code is in the memory of this process."""


def use_game(game: str) -> Iterator[None]:
    """Does what the event loop does at a table of ``game``, step by step: plies, deals, views of every seat in every language."""
    spec = get_game(game)
    setup = spec.setup(None, None)
    is_advised(setup)
    yield
    for rounds, agent in ((None, None), (2, AGENT)):  # rounds of a match are dealt otherwise than single ones
        live = _table(setup, rounds, agent)
        yield from _views(live)
        while not live.table.round_over:
            if live.goes_by_itself:
                live.go_on(live.table.agents_action())
            else:
                live.play(live.table.at_turn, live.table.legal[0])
            view(live, live.table.at_turn, LANGUAGES[0], live.table.at_turn)
            yield
        yield from _views(live)
        assert len(live.records) == live.num_records
        if not live.over:
            live.deal()
        yield from _views(live)


def _table(setup: Setup, rounds: int | None, agent: str | None) -> LiveTable:
    """Returns a table of persons, with an agent in the last seat if it is given."""
    n = setup.players
    names, agents = tuple(map(str, range(n))), (*[None] * (n - 1), agent)
    settings = TableSettings(setup, names, agents, rounds, seed=0, pace=0.0, every_ply=True, advice=False)
    loaded = LoadedAgents()
    seated = [None if name is None else loaded.get(name, setup) for name in agents]
    return LiveTable(settings, seated, lambda number, action: None)


def _views(live: LiveTable) -> Iterator[None]:
    """Makes what each viewer is sent."""
    for seat in (None, *range(live.settings.setup.players)):
        view(live, seat, LANGUAGES[0], seat)
        yield
    for language in LANGUAGES[1:]:
        view(live, 0, language, 0)
        rules_text(live, 0, language)
        yield


class PreparedGames:
    """The games of a server, each prepared once. Used in one event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="preparing")
        self._begun: dict[str, Future[Any]] = {}
        self._stopped = threading.Event()

    def is_ready(self, game: str) -> bool:
        """Returns whether ``game`` is prepared."""
        return game in _PREPARED

    def begin(self, game: str) -> Future[Any]:
        """Begins to prepare ``game``, if nobody has begun it yet."""
        if game not in self._begun:
            self._begun[game] = self._thread.submit(self._prepare, game)
        return self._begun[game]

    async def wait(self, game: str) -> None:
        """Waits until ``game`` is prepared."""
        if not self.is_ready(game):
            await asyncio.shield(asyncio.wrap_future(self.begin(game)))

    def close(self) -> None:
        """Stops preparing, after the step that has begun."""
        self._stopped.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _prepare(self, game: str) -> None:
        try:
            for _ in use_game(game):
                if self._stopped.is_set():
                    return
        except Exception:  # tables of the game meet it again, and say so
            logging.getLogger(__name__).exception("A game could not be prepared.")
        _PREPARED.add(game)
