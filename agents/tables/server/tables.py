"""The tables of a server: which are in memory, who looks at them, and the plies that no person makes."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from nainjaune_env.core.errors import IllegalActionError, NainJauneError

from ...base.devices import set_torch_threads
from ...players.heuristics import yardstick
from ...players.program.settings import BotSettings
from ...study.advice.loaded import Advisers
from .live_table import LiveTable
from .players import LoadedAgents, Said
from .preparing import PreparedGames
from .protocol import Limits, Rate, Refusal, error_text
from .quotas import TableQuota
from .searches import Searches
from .settings import TableSettings, from_dict
from .store import Pass, StorageError, Store, new_token
from .texts import TEXTS
from .views import view
from .watching import RunningEdges, Speed, watched

THREADS = 2
"""Threads in which agents decide."""
QUICK = 0.002
"""Agents that take less, in seconds, decide in the event loop: a thread would keep it waiting for longer."""
BETWEEN_ROUNDS = 4.0
"""Where only agents play, the next round is dealt after this number of pauses."""
SHOW_EDGES = 1.0
"""Seconds between views that show how edges have grown."""
FORGOTTEN = 600.0
"""Seconds after which a table that nobody looks at leaves the memory; the file keeps it."""
RETRY = 2.0
"""Seconds after which a ply that could not be stored is made again."""


class Viewer:
    """A connection of a page."""

    def __init__(self, send: Callable[[str], object], rate: Rate) -> None:
        """``send(text)`` sends a message, at once and in order."""
        self.send = send
        self.rate = rate
        self.language = "en"
        self.table: str | None = None
        """The table it looks at."""
        self.seat: int | None = None
        """Its seat there; None: a spectator."""
        self.has_place = False
        """Whether it has one of the places for connections, since a hello with a right token."""
        self.gone = False
        """Whether the connection is closed: its last message may still be waiting for its table to load."""


@dataclass
class Running:
    """A table in memory."""

    live: LiveTable
    viewers: list[Viewer] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    """Makes the plies that no person makes."""
    slowest: dict[int, float] = field(default_factory=dict)
    """By seat: the longest time in seconds that its agent has taken for a decision. The first one does not count, as it may have
    compiled code. Where persons play, every ply of the seat takes at least as long, forced ones too, so that the time of a ply
    does not show which were forced. It never decreases: a decrease would depend on the number of decisions."""
    speed: Speed = field(kw_only=True)
    edges: RunningEdges | None = field(kw_only=True)
    """Where only agents play."""
    advised: bool = field(kw_only=True)
    """Whether there is advice under its rules."""
    growing: asyncio.Task[None] | None = None
    """Plays more deals for the edges."""
    left_at: float = 0.0
    """When the last viewer left, in seconds of the loop's clock."""
    replacing: dict[int, asyncio.TimerHandle] = field(default_factory=dict)
    """By seat of a person who has left: when an agent takes their place."""
    rewinding: bool = False
    """Whether a decision is being taken back; until that is done nobody plays."""
    rematch: Mapping[int | None, str] | None = None
    """Tokens of the rematch that the store names, by seat; None: of spectators."""
    rematching: asyncio.Lock = field(default_factory=asyncio.Lock)

    def is_here(self, seat: int) -> bool:
        """Returns whether somebody looks at the table from ``seat``."""
        return any(viewer.seat == seat for viewer in self.viewers)

    def stay(self) -> None:
        """Lets nobody be replaced any more."""
        for timer in self.replacing.values():
            timer.cancel()
        self.replacing.clear()

    async def stop(self) -> None:
        """Stops the table's tasks."""
        self.stay()
        tasks = [task for task in (self.task, self.growing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Tables:
    """The tables of a server. Used in one event loop."""

    def __init__(
        self,
        store: Store,
        limits: Limits,
        searches: Searches,
        advisers: Advisers,
        extra: Sequence[str] = (),
        bots: BotSettings | None = None,
    ) -> None:
        """``extra`` are the players from elsewhere that may be seated; ``bots`` says how bots are asked (None: as by default)."""
        self._store = store
        self._limits = limits
        self._searches = searches
        self._advisers = advisers
        self._quota = TableQuota(store, limits)
        self.games = PreparedGames()
        self._agents = LoadedAgents(extra, bots)
        self.running: dict[str, Running] = {}
        """The tables in memory."""
        self.loading = asyncio.Lock()
        self._making = asyncio.Semaphore()
        """Plies that no person makes are made one at a time, so that an action of a person waits for one of them at most."""
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="agents")
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="loading")
        self._grower = ThreadPoolExecutor(1, thread_name_prefix="edges")

    async def close(self) -> None:
        """Stops all tables. What was played is in the file."""
        await asyncio.gather(*(running.stop() for running in self.running.values()))
        for threads in (self._threads, self._loader, self._grower):
            threads.shutdown(wait=True)
        self.games.close()

    async def add(
        self,
        settings: TableSettings,
        plies: Sequence[int] = (),
        *,
        viewer: Viewer | None = None,
        link: bytes | None = None,
        rematch_of: str | None = None,
    ) -> dict[str, Pass]:
        """Makes a table, which goes on after ``plies``; returns the passes of its seats and of spectators by token.

        ``link`` is as in :meth:`TableQuota.reserve`, which refuses where there is no place. ``viewer`` waits for the table.
        ``rematch_of`` is as in :meth:`Store.add_table`.
        """
        table = secrets.token_urlsafe(9)
        passes = new_passes(table, settings)
        with self._quota.reserve(link):
            await self._prepare(settings, viewer)
            async with self.loading:
                running = await self._load(table, settings, plies)
            self._store.add_table(table, settings.to_dict(), passes, plies, link=link, rematch_of=rematch_of)
        self.running[table] = running
        self.wake(table)
        return passes

    def invite(self, table: str) -> dict[str, Pass]:
        """Returns new passes of the seats of a table and of spectators, by token; the earlier ones stay valid."""
        if not self._store.has_table(table):
            raise Refusal("no_table")
        passes = new_passes(table, from_dict(self._store.settings(table)))
        self._store.add_passes(passes)
        return passes

    async def delete(self, table: str) -> None:
        """Deletes a table; its viewers are told so."""
        if not self._store.delete_table(table):
            raise Refusal("no_table")
        running = self.running.pop(table, None)
        if running is not None:
            viewers, running.viewers = running.viewers, []
            for viewer in viewers:
                self._searches.stop(viewer)
                viewer.table = None
                refuse(viewer, "deleted")
            await running.stop()

    async def get(self, table: str, viewer: Viewer) -> Running:
        """Returns a table, which goes on from the file if it is not in memory; ``viewer`` waits for it."""
        running = self.running.get(table)
        if running is not None:
            return running
        settings = from_dict(self._store.settings(table))
        await self._prepare(settings, viewer)
        async with self.loading:  # so that no table is in memory twice
            if table not in self.running:
                self._check_there(table)
                running = await self._load(table, settings, self._store.plies(table))
                self._check_there(table)
                self.running[table] = running
                if running.live.number:  # else invitations may be on their way
                    for seat in settings.persons:
                        self._expect(running, table, seat)
                self.wake(table)
        return self.running[table]

    async def _prepare(self, settings: TableSettings, viewer: Viewer | None) -> None:
        """Waits until the game of a table is prepared, and tells ``viewer`` so if it is not."""
        game = settings.setup.game.name
        if viewer is not None and not self.games.is_ready(game):
            send(viewer, {"type": "preparing"})
        await self.games.wait(game)

    def _check_there(self, table: str) -> None:
        """Raises :class:`Refusal` if the table was deleted while a message to it waited."""
        if not self._store.has_table(table):
            raise Refusal("unknown_token")

    async def _load(self, table: str, settings: TableSettings, plies: Sequence[int]) -> Running:
        """Returns a table with its agents seated and its ``plies`` replayed, in a thread: others go on meanwhile."""

        def load() -> tuple[LiveTable, RunningEdges | None, bool]:
            agents = [None if name is None else self._agents.get(name, settings.setup) for name in settings.agents]
            set_torch_threads(1)
            replaces = settings.absence is not None and len(settings.persons) > 1
            stand_in = self._agents.get(yardstick(settings.setup.game.name), settings.setup) if replaces else None
            live = LiveTable(settings, agents, lambda n, action: self._store.add_ply(table, n, action), stand_in=stand_in)
            live.replay(plies)
            different = {agent.name: agent for agent in agents if agent is not None}
            edges = None if settings.persons else RunningEdges(settings.setup, list(different.values()), settings.seed)
            return live, edges, self._advisers.possible(settings.setup)

        loop = asyncio.get_running_loop()
        live, edges, advised = await loop.run_in_executor(self._loader, load)
        return Running(live, speed=Speed(settings.pace), edges=edges, advised=advised, left_at=loop.time())

    def look(self, viewer: Viewer, allowed: Pass) -> None:
        """Shows a table in memory to a connection, from now on."""
        assert allowed.table is not None
        running = self.running[allowed.table]
        same = [other for other in running.viewers if other.seat == allowed.seat and other is not viewer]
        if allowed.seat is None and len(same) >= self._limits.spectators:
            raise Refusal("too_many_viewers")
        if allowed.seat is not None and len(same) >= self._limits.windows:
            self.leave(same[0])
            same[0].has_place = False
            refuse(same[0], "too_many_windows")
        self.leave(viewer)
        viewer.table, viewer.seat = allowed.table, allowed.seat
        running.viewers.append(viewer)
        if viewer.seat is not None and self._come_back(running, viewer.seat):
            self.show(running)
        else:
            send(viewer, view_of(running, viewer.seat, viewer.language))
        self.wake(allowed.table)  # a table that an error has stopped tries again

    def _come_back(self, running: Running, seat: int) -> bool:
        """Gives a person their place again; returns whether others have been told that they were gone."""
        timer = running.replacing.pop(seat, None)
        if timer is not None:
            timer.cancel()
        was_absent = seat in running.live.absent
        running.live.absent.discard(seat)
        return timer is not None or was_absent

    def leave(self, viewer: Viewer) -> None:
        """Lets a connection look at no table."""
        self._searches.stop(viewer)
        if viewer.table is not None and viewer.table in self.running:
            running = self.running[viewer.table]
            running.viewers = [other for other in running.viewers if other is not viewer]
            running.left_at = asyncio.get_running_loop().time()
            if viewer.seat is not None and not running.is_here(viewer.seat):
                self._expect(running, viewer.table, viewer.seat)
        viewer.table = None

    def _expect(self, running: Running, table: str, seat: int) -> None:
        """Lets an agent take the place of a person who has left, after the time that the host has set."""
        settings = running.live.settings
        if settings.absence is None or len(settings.persons) < 2 or running.live.over:
            return

        def replace() -> None:
            del running.replacing[seat]
            running.live.absent.add(seat)
            self.show(running)
            self.wake(table)

        running.replacing[seat] = asyncio.get_running_loop().call_later(settings.absence, replace)
        self.show(running)

    async def undo(self, table: str, number: int) -> None:
        """Takes back the last decision of a table's only person, and all plies since."""
        running = self.running[table]
        back = running.live.number_to_undo
        if back is None:
            raise Refusal("no_undo")
        if number != running.live.number or running.rewinding:
            raise Refusal("stale")
        running.rewinding = True
        try:
            await running.stop()
            async with self.loading:
                plies = self._store.plies(table)[:back]
                fresh = await self._load(table, running.live.settings, plies)
                self._store.remove_plies(table, back)
            running.live = fresh.live
        finally:
            running.rewinding = False
            if self.running.get(table) is running:  # else it was deleted meanwhile
                self.show(running)
                self.wake(table)

    def show(self, running: Running) -> None:
        """Sends the table to all that look at it, drawn once for those who see the same."""
        messages: dict[tuple[int | None, str], str] = {}
        for viewer in running.viewers:
            self._searches.stop(viewer)
            key = viewer.seat, viewer.language
            if key not in messages:
                messages[key] = to_text(view_of(running, *key))
            viewer.send(messages[key])

    def wake(self, table: str) -> None:
        """Lets a table go on by itself, if it does and is not at it."""
        running = self.running[table]
        if running.rewinding:
            return
        if running.task is None or running.task.done():
            running.task = asyncio.get_running_loop().create_task(self._run(running))
        if running.edges is not None and (running.growing is None or running.growing.done()):
            running.growing = asyncio.get_running_loop().create_task(self._grow(running, running.edges))

    async def _run(self, running: Running) -> None:
        """Makes the plies of agents and forced ones up to a person's turn, or the end."""
        live, speed = running.live, running.speed
        loop = asyncio.get_running_loop()
        try:
            while True:
                if live.goes_by_itself:
                    number, seat, decides = live.number, live.table.at_turn, live.table.needs_decision
                    known = running.slowest.get(seat)
                    slowest = known or 0.0
                    if not decides or (0 < slowest < QUICK and live.agent_is_free):
                        action, said, took = _decide(live)
                    else:
                        action, said, took = await loop.run_in_executor(self._threads, _decide, live)
                    if decides:
                        running.slowest[seat] = 0.0 if known is None else max(took, known)
                    await speed.wait(least=slowest if live.settings.persons else 0.0, spent=took)
                    make: Callable[[], None] = functools.partial(_go_on, live, number, action, said)
                elif not live.settings.persons and not live.over:
                    await speed.wait(pauses=BETWEEN_ROUNDS)
                    make = live.deal
                else:
                    return
                await self._make(running, make)
        except Exception as error:
            if isinstance(error, NainJauneError) and not isinstance(error, IllegalActionError):
                refuse_all(running, "stopped", reason=error_text(error))
                return
            # the details, of an illegal action, say, may show cards: they are for the log alone
            logging.getLogger(__name__).exception("A table has stopped.")
            refuse_all(running, "failed")

    async def _make(self, running: Running, make: Callable[[], None]) -> None:
        """Makes a ply and shows it. If it cannot be stored, viewers are told, and it is tried again until it can."""
        reported = False
        while True:
            async with self._making:
                try:
                    make()
                except StorageError:
                    if not reported:
                        refuse_all(running, "not_stored")
                    reported = True
                else:
                    self.show(running)
                    await asyncio.sleep(0)  # messages that have come meanwhile go before the next ply
                    return
            await asyncio.sleep(RETRY)

    async def _grow(self, running: Running, edges: RunningEdges) -> None:
        """Plays more deals for the edges of a table as long as somebody watches, and shows them once a second."""
        loop = asyncio.get_running_loop()
        shown = loop.time()
        try:
            while running.viewers and not edges.complete:
                await asyncio.sleep(await loop.run_in_executor(self._grower, edges.play_more))
                if loop.time() - shown > SHOW_EDGES or edges.complete:
                    self.show(running)
                    shown = loop.time()
        except Exception:  # of an agent; the table goes on
            logging.getLogger(__name__).exception("An edge has stopped growing.")

    def forget(self) -> None:
        """Takes the tables out of memory that nobody has looked at for some time and that do not go on by themselves."""
        now = asyncio.get_running_loop().time()
        for table, running in list(self.running.items()):
            is_idle = running.task is None or running.task.done()
            if is_idle and not running.viewers and not running.replacing and now - running.left_at > FORGOTTEN:
                del self.running[table]


def new_passes(table: str, settings: TableSettings) -> dict[str, Pass]:
    """Returns passes of the seats of persons and of spectators, by new tokens."""
    return {new_token(): Pass(table, seat) for seat in (*settings.persons, None)}


def view_of(running: Running, seat: int | None, language: str) -> dict[str, Any]:
    """Returns what one viewer is sent."""
    live = running.live
    unit = live.settings.setup.game.unit
    sent = view(live, seat, language, seat)
    return {
        **sent,
        "advice": sent["advice"] and running.advised,
        "review": live.over and running.advised,
        "waiting": _waiting(running, seat),
        "watch": None if running.edges is None else watched(running.speed, running.edges, unit),
    }


def _waiting(running: Running, seat: int | None) -> dict[str, Any] | None:
    """Returns in how many seconds an agent takes the place of the person at turn who has left; None where nobody is missed."""
    live = running.live
    if not live.persons_turn or live.table.at_turn == seat or running.is_here(live.table.at_turn):
        return None
    timer = running.replacing.get(live.table.at_turn)
    return {"seconds": None if timer is None else math.ceil(timer.when() - asyncio.get_running_loop().time())}


def _go_on(live: LiveTable, number: int, action: int, said: Said | None) -> None:
    """Makes the ply ``action`` after the ply ``number``, unless a person has come back meanwhile, whose turn it is or was."""
    if live.number == number and live.goes_by_itself:
        live.go_on(action, said)


def _decide(live: LiveTable) -> tuple[int, Said | None, float]:
    """Returns the action of the agent at turn, or of a forced ply, what the agent said, and the seconds that it has taken."""
    then = time.perf_counter()
    action, said = live.decide()
    return action, said, time.perf_counter() - then


def to_text(message: Any) -> str:
    """Returns a message as JSON."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def send(viewer: Viewer, message: Any) -> None:
    """Sends a message to a viewer."""
    viewer.send(to_text(message))


def refuse(viewer: Viewer, name: str, *, of: str | None = None, reason: str = "") -> None:
    """Sends the refusal ``name`` to a viewer in their language; ``of`` is the kind of message that is refused."""
    send(viewer, {"type": "refused", "of": of, "text": TEXTS[viewer.language].refusals[name].format(reason=reason)})


def refuse_all(running: Running, name: str, reason: str = "") -> None:
    """Sends the refusal ``name`` to all viewers of a table, each in their language."""
    for viewer in running.viewers:
        refuse(viewer, name, reason=reason)
