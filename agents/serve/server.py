"""The server behind any connection: tables that run, who looks at them, and the answer to each message."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.records.record import format_record

from ..loading import use_threads
from .advising import Advisers
from .live_table import LiveTable
from .players import LoadedAgents, OneAtATime
from .protocol import Limits, Message, MessageError, Rate, Refusal, cost, error_text, read_message
from .replays import Replays
from .reviewing import against_agents
from .searches import Searches
from .settings import SLOWEST, TableSettings, catalogue, kept, read_settings
from .store import Store
from .study import KINDS, Study
from .texts import TEXTS
from .tokens import Pass, new_token
from .views import rules_text, view
from .watching import RunningEdges, Speed, watched

THREADS = 2
"""Threads in which agents decide."""
WRONG_TOKEN = 5.0
"""How many messages one with an unknown token counts for."""
QUICK = 0.002
"""Agents that take less, in seconds, decide in the event loop: a thread would keep it waiting for longer."""
FURTHER_TABLE = 10.0
"""How many messages one counts for that makes a table from another."""
BETWEEN_ROUNDS = 4.0
"""Where only agents play, the next round is dealt after this number of pauses."""
SHOW_EDGES = 1.0
"""Seconds between views that show how edges have grown."""
FORGOTTEN = 600.0
"""Seconds after which a table that nobody looks at leaves the memory; the file keeps it."""


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
    growing: asyncio.Task[None] | None = None
    """Plays more deals for the edges."""
    left_at: float = 0.0
    """When the last viewer left, in seconds of the loop's clock."""


class TableServer:
    """Answers messages; one object for a process, used in one event loop."""

    def __init__(self, store: Store, *, agents: Sequence[str] = (), limits: Limits | None = None, prepared: bool = False) -> None:
        """``agents`` are names, such as those of runs, that may be seated besides those that come with the package.

        With ``prepared`` advice is loaded as soon as somebody sits down at a table that allows it.
        """
        self.store = store
        self.limits = Limits() if limits is None else limits
        self._extra = tuple(agents)
        self.advisers = Advisers()
        self._study = Study(store, self.advisers)
        self._searches = Searches(self.limits.searches)
        self._prepared = prepared
        self._replays = Replays(store)
        self._agents = LoadedAgents()
        self._running: dict[str, Running] = {}
        self._loading = asyncio.Lock()
        self._making = asyncio.Semaphore()
        """Plies that no person makes are made one at a time, so that an action of a person waits for one of them at most."""
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="agents")
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="loading")
        self._grower = ThreadPoolExecutor(1, thread_name_prefix="edges")

    def add_host(self) -> str:
        """Returns a new token of the host."""
        token = new_token()
        self.store.add_host(token)
        return token

    async def close(self) -> None:
        """Stops all tables. What was played is in the file."""
        tasks = [task for running in self._running.values() for task in (running.task, running.growing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._searches.close()
        self._threads.shutdown(wait=True)
        self._loader.shutdown(wait=True)
        self._grower.shutdown(wait=True)

    # ---------------------------------------------------------------- messages

    async def receive(self, viewer: Viewer, given: str | bytes) -> bool:
        """Answers a message; returns whether the connection may stay."""
        refusals = TEXTS[viewer.language].refusals
        if not viewer.rate.allows(cost(given, self.limits)):
            _send(viewer, {"type": "refused", "text": refusals["too_fast"]})
            return False
        kind = None
        try:
            message = read_message(given, self.limits)
            kind = message.kind
            if kind == "hello":
                self._greet(viewer, **message.values)
            await self._answer(viewer, message)
        except Refusal as error:
            _send(viewer, {"type": "refused", "of": kind, "text": TEXTS[viewer.language].refusals[str(error)]})
        except NainJauneError as error:
            _send(viewer, {"type": "refused", "of": kind, "text": error_text(error)})
        return True

    def _greet(self, viewer: Viewer, language: str, greeting: int) -> None:
        """Begins anew, before anything loads: what is sent after the answer is of this greeting, and of no earlier one."""
        viewer.language = language
        self._leave(viewer)
        _send(viewer, {"type": "greeted", "greeting": greeting})

    async def _answer(self, viewer: Viewer, message: Message) -> None:
        allowed = self.store.find_pass(message.token)
        replay = None if allowed else self._replays.find(message.token)
        if message.kind == "replay" and (allowed or replay):
            _send(viewer, {"type": "opened", "token": await self._replays.open(message.values["record"], viewer.language)})
            return
        if replay is not None:
            await self._answer_replay(viewer, message, replay)
            return
        if allowed is None:
            viewer.rate.allows(WRONG_TOKEN)
            raise Refusal("unknown_token")
        if message.kind in ("catalogue", "new"):
            if not allowed.is_host:
                raise Refusal("not_host")
            if message.kind == "new":
                await self._new(viewer, message.values["table"])
            else:
                _send(viewer, {"type": "catalogue", "games": catalogue(self._extra)})
            return
        if allowed.table is None:
            if message.kind != "hello":
                raise MessageError(f"The host's token is of no table, so it cannot send {message.kind!r}.")
            _send(viewer, {"type": "host"})
            return
        running = await self._table(allowed.table)
        if message.kind == "hello":
            self._look(viewer, running, allowed)
        elif message.kind in KINDS:
            if viewer.gone:
                return
            search = self._study.search(message, allowed, running.live, viewer.language)
            failed = TEXTS[viewer.language].refusals["search_failed"]
            self._searches.start(viewer, search, functools.partial(_send, viewer), failed)
        elif message.kind == "stop":
            self._searches.stop(viewer)
        elif message.kind == "play_on":
            await self._play_on(viewer, running.live, allowed, **message.values)
        elif message.kind == "rules":
            text = rules_text(running.live, allowed.seat, viewer.language)
            _send(viewer, {"type": "rules", "text": text})
        elif message.kind == "speed":
            self._set_speed(running, **message.values)
        elif message.kind == "film":
            raise MessageError("A film is made of a replay, and this is the token of a table.")
        elif message.kind == "record":
            if not running.live.over:  # a record has the seed, and so the deals of the rounds that follow
                raise Refusal("no_record")
            _send(viewer, {"type": "record", "text": await asyncio.to_thread(_records, running.live)})
        else:
            self._act(running, allowed, message)

    async def _answer_replay(self, viewer: Viewer, message: Message, record: str) -> None:
        """Answers a message whose token is that of a record."""
        if message.kind == "hello":
            _send(viewer, await self._replays.message(message.token, record, viewer.language))
        elif message.kind == "film":
            film = await self._replays.work("film", record, viewer.language, **message.values)
            _send(viewer, {"type": "film", "data": base64.b64encode(film).decode()})
        else:
            raise MessageError(f"The token of a replay cannot send {message.kind!r}.")

    async def _new(self, viewer: Viewer, given: object) -> None:
        """Makes a table, and sends the tokens of its seats and of spectators."""
        if self.store.num_tables() >= self.limits.tables:
            raise Refusal("too_many_tables")
        settings = read_settings(given, self._extra)
        passes = await self.add_table(settings)
        links = [
            {"token": token, "seat": each.seat, "name": None if each.seat is None else settings.names[each.seat]}
            for token, each in passes.items()
        ]
        _send(viewer, {"type": "made", "links": links, "title": f"{settings.setup.game.title} · {settings.setup.preset}"})

    async def _play_on(self, viewer: Viewer, live: LiveTable, allowed: Pass, number: int, seat: int) -> None:
        """Makes a table with the first ``number`` plies of one that is over, and sends the token of its one person's seat."""
        played = self._study.played(allowed, live)
        if number >= len(played.plies):
            raise Refusal("no_position")
        if seat >= live.settings.setup.players:
            raise Refusal("no_seat")
        if self.store.num_tables() >= self.limits.tables:
            raise Refusal("too_many_tables")
        viewer.rate.allows(FURTHER_TABLE)
        passes = await self.add_table(against_agents(live.settings, seat), played.plies[:number])
        _send(viewer, {"type": "opened", "token": next(token for token, each in passes.items() if each.seat == seat)})

    async def add_table(self, settings: TableSettings, plies: Sequence[int] = ()) -> dict[str, Pass]:
        """Makes a table, which goes on after ``plies``; returns the passes of its seats and of spectators by token."""
        table = secrets.token_urlsafe(9)
        passes = {new_token(): Pass(table, seat) for seat in (*settings.persons, None)}
        async with self._loading:
            running = await self._load(table, settings, plies)
        self.store.add_table(table, settings.to_dict(), passes, plies)
        self._running[table] = running
        self._wake(table)
        return passes

    async def _load(self, table: str, settings: TableSettings, plies: Sequence[int]) -> Running:
        """Returns a table with its agents seated and its ``plies`` replayed, both in a thread."""
        agents = await self._seated(settings)
        live = LiveTable(settings, agents, lambda number, action: self.store.add_ply(table, number, action))
        await asyncio.get_running_loop().run_in_executor(self._loader, live.replay, plies)
        different = {agent.name: agent for agent in agents if agent is not None}
        edges = None if settings.persons else RunningEdges(settings.setup, list(different.values()), settings.seed)
        return Running(live, speed=Speed(settings.pace), edges=edges, left_at=asyncio.get_running_loop().time())

    async def _seated(self, settings: TableSettings) -> list[OneAtATime | None]:
        """Returns the agents by seat, loaded in a thread of its own: those that decide go on meanwhile."""

        def load() -> list[OneAtATime | None]:
            found = [None if name is None else self._agents.get(name, settings.setup) for name in settings.agents]
            use_threads(1)
            return found

        return await asyncio.get_running_loop().run_in_executor(self._loader, load)

    async def _table(self, table: str) -> Running:
        """Returns a table, which goes on from the file if it is not in memory."""
        running = self._running.get(table)
        if running is not None:
            return running
        async with self._loading:  # so that no table is in memory twice
            if table not in self._running:
                self._running[table] = await self._load(table, kept(self.store.settings(table)), self.store.plies(table))
                self._wake(table)
        return self._running[table]

    def _look(self, viewer: Viewer, running: Running, allowed: Pass) -> None:
        """Shows a table to a connection, from now on."""
        if viewer.gone:
            return
        if viewer not in running.viewers and len(running.viewers) >= self.limits.viewers:
            raise Refusal("too_many_viewers")
        self._leave(viewer)
        viewer.table, viewer.seat = allowed.table, allowed.seat
        running.viewers.append(viewer)
        _send(viewer, self._view(running, viewer.seat, viewer.language))
        assert allowed.table is not None
        self._wake(allowed.table)  # a table that an error has stopped tries again
        if self._prepared and viewer.seat is not None and running.live.settings.advice:
            self._searches.prepare(functools.partial(self.advisers.load, running.live.settings.setup))

    def leave(self, viewer: Viewer) -> None:
        """Notes that a connection is closed."""
        viewer.gone = True
        self._leave(viewer)

    def _leave(self, viewer: Viewer) -> None:
        self._searches.stop(viewer)
        if viewer.table is not None and viewer.table in self._running:
            running = self._running[viewer.table]
            running.viewers = [other for other in running.viewers if other is not viewer]
            running.left_at = asyncio.get_running_loop().time()
        viewer.table = None

    def _set_speed(self, running: Running, milliseconds: int, paused: bool) -> None:
        """Changes the pause before plies of a table at which only agents play."""
        if running.edges is None:
            raise Refusal("no_speed")
        if milliseconds > 1000 * SLOWEST:
            raise MessageError(f"The pause before a ply is at most {SLOWEST:g} seconds, not {milliseconds / 1000:g}.")
        running.speed.set(milliseconds / 1000, paused)
        self._show(running)

    def _act(self, running: Running, allowed: Pass, message: Message) -> None:
        """Makes a person's ply, or the deal that a person asks for."""
        live = running.live
        if allowed.seat is None:
            raise Refusal("not_player")
        if message.values["number"] != live.number:
            raise Refusal("stale")
        if message.kind == "play":
            reason = live.refusal(allowed.seat, message.values["action"])
            if reason is not None:
                raise Refusal(reason)
            live.play(allowed.seat, message.values["action"])
        else:
            if not live.table.round_over or live.over:
                raise Refusal("no_deal")
            live.deal()
        self._show(running)
        assert allowed.table is not None
        self._wake(allowed.table)

    # ---------------------------------------------------------------- tables

    def _show(self, running: Running) -> None:
        """Sends the table to all that look at it, drawn once for those who see the same."""
        drawn: dict[tuple[int | None, str], str] = {}
        for viewer in running.viewers:
            self._searches.stop(viewer)
            key = viewer.seat, viewer.language
            if key not in drawn:
                drawn[key] = to_text(self._view(running, *key))
            viewer.send(drawn[key])

    def _view(self, running: Running, seat: int | None, language: str) -> dict[str, Any]:
        """Returns what one viewer is sent."""
        live, setup = running.live, running.live.settings.setup
        return {
            **view(live, seat, language, seat),
            "review": live.over and self.advisers.possible(setup),
            "watch": None if running.edges is None else watched(running.speed, running.edges, setup.game.unit),
        }

    def _wake(self, table: str) -> None:
        """Lets a table go on by itself, if it does and is not at it."""
        running = self._running[table]
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
                    seat, decides = live.table.at_turn, live.table.needs_decision
                    known = running.slowest.get(seat)
                    slowest = known or 0.0
                    if not decides or (0 < slowest < QUICK and live.agent_is_free):
                        action, took = _decide(live)
                    else:
                        action, took = await loop.run_in_executor(self._threads, _decide, live)
                    if decides:
                        running.slowest[seat] = 0.0 if known is None else max(took, known)
                    await speed.wait(least=slowest if live.settings.persons else 0.0, spent=took)
                    make: Callable[[], None] = functools.partial(live.go_on, action)
                elif not live.settings.persons and not live.over:
                    await speed.wait(pauses=BETWEEN_ROUNDS)
                    make = live.deal
                else:
                    return
                async with self._making:
                    make()
                    self._show(running)
                    await asyncio.sleep(0)  # messages that have come meanwhile go before the next ply
        except NainJauneError as error:
            _refuse_all(running, "stopped", reason=error_text(error))
        except Exception:  # of an agent, say: the log has the details, which may show cards
            logging.getLogger(__name__).exception("A table has stopped.")
            _refuse_all(running, "failed")

    async def _grow(self, running: Running, edges: RunningEdges) -> None:
        """Plays more deals for the edges of a table as long as somebody watches, and shows them once a second."""
        loop = asyncio.get_running_loop()
        shown = loop.time()
        try:
            while running.viewers and not edges.complete:
                await asyncio.sleep(await loop.run_in_executor(self._grower, edges.play_more))
                if loop.time() - shown > SHOW_EDGES or edges.complete:
                    self._show(running)
                    shown = loop.time()
        except Exception:  # of an agent; the table goes on
            logging.getLogger(__name__).exception("An edge has stopped growing.")

    def forget(self) -> None:
        """Takes the tables out of memory that nobody has looked at for some time and that do not go on by themselves."""
        now = asyncio.get_running_loop().time()
        for table, running in list(self._running.items()):
            resting = running.task is None or running.task.done()
            if resting and not running.viewers and now - running.left_at > FORGOTTEN:
                del self._running[table]


def _records(live: LiveTable) -> str:
    """Returns the records of a table that is over, as the text of a file."""
    return "".join(f"{format_record(one)}\n" for one in live.records)


def _decide(live: LiveTable) -> tuple[int, float]:
    """Returns the action of the agent at turn, or of a forced ply, and the seconds that it has taken."""
    then = time.perf_counter()
    return live.table.agents_action(), time.perf_counter() - then


def to_text(message: Any) -> str:
    """Returns a message as JSON."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _send(viewer: Viewer, message: Any) -> None:
    viewer.send(to_text(message))


def _refuse_all(running: Running, name: str, **values: object) -> None:
    """Sends the refusal ``name`` to all viewers of a table, each in their language."""
    for viewer in running.viewers:
        _send(viewer, {"type": "refused", "text": TEXTS[viewer.language].refusals[name].format(**values)})
