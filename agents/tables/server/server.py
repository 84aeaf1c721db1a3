"""The server behind any connection: the answer to each message."""

from __future__ import annotations

import asyncio
import base64
import functools
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from nainjaune_env.core.errors import ConfigError, NainJauneError
from nainjaune_env.records.record import format_record

from ...players.program.settings import BotSettings
from ...study.advice.loaded import Advisers
from . import protocol
from .live_table import LiveTable
from .protocol import Limits, MessageError, Refusal, cost, error_text, read_message
from .replays import Replays
from .reviewing import Study, against_agents
from .searches import QUICK_THREADS, Searches
from .settings import TableSettings, catalogue, from_dict, playable, read_settings
from .store import ListedTable, Pass, StorageError, Store, new_token
from .tables import Running, Tables, Viewer, refuse, send
from .texts import TEXTS
from .views import rules_text

WRONG_TOKEN = 5.0
"""How many messages one with an unknown token counts for."""
FURTHER_TABLE = 10.0
"""How many messages one counts for that makes a table from another."""


class TableServer:
    """Answers messages; one object for a process, used in one event loop."""

    def __init__(
        self,
        store: Store,
        *,
        agents: Sequence[str] = (),
        bots: BotSettings | None = None,
        limits: Limits | None = None,
        prepared: bool = False,
    ) -> None:
        """``agents`` are names, of runs for example, that may be seated besides the agents of the package.

        ``bots`` says how those among them that are bots are asked (None: as by default).

        With ``prepared`` games are prepared from the start on, and advice is loaded as soon as somebody sits down at a table that
        allows it.
        """
        self.store = store
        self.limits = Limits() if limits is None else limits
        self._extra = tuple(agents)
        self.advisers = Advisers(QUICK_THREADS + 1)  # and one for reviews
        self._study = Study(store, self.advisers)
        self.searches = Searches(self.limits.searches)
        self.prepared = prepared
        self._replays = Replays(store, self.limits)
        self.tables = Tables(store, self.limits, self.searches, self.advisers, self._extra, bots)
        if prepared:
            for game in playable():
                self.tables.games.begin(game)
        self._onlookers: set[Viewer] = set()
        """Spectators and readers of replays, who have places of their own."""

    def add_host(self) -> str:
        """Returns a new token of the host, besides the one that the store keeps."""
        token = new_token()
        self.store.add_passes({token: Pass(None, None)})
        return token

    async def close(self) -> None:
        """Stops all tables. What was played is in the file."""
        await self.tables.close()
        await self.searches.close()

    def leave(self, viewer: Viewer) -> None:
        """Notes that a connection is closed."""
        viewer.gone = True
        self._onlookers.discard(viewer)
        self.tables.leave(viewer)

    # ---------------------------------------------------------------- messages

    async def receive(self, viewer: Viewer, given: str | bytes) -> bool:
        """Answers a message; returns whether the connection may stay."""
        if not viewer.rate.allows(cost(given, self.limits)):
            refuse(viewer, "too_fast")
            return False
        kind = None
        try:
            message = read_message(given, self.limits)
            kind = message.kind
            if isinstance(message, protocol.Hello):
                self._greet(viewer, message)
            await self._answer(viewer, message)
        except Refusal as error:
            if kind == "hello":
                self._take_place(viewer)
            refuse(viewer, str(error), of=kind)
        except StorageError:
            refuse(viewer, "not_stored", of=kind)
        except NainJauneError as error:
            send(viewer, {"type": "refused", "of": kind, "text": error_text(error)})
        return True

    def _greet(self, viewer: Viewer, hello: protocol.Hello) -> None:
        """Begins anew, before anything loads: what is sent after the answer is of this greeting, and of no earlier one."""
        viewer.language = hello.language
        self.tables.leave(viewer)
        send(viewer, {"type": "greeted", "greeting": hello.greeting})

    def _give_place(self, viewer: Viewer, *, looks_on: bool) -> None:
        """Gives a connection one of the places; raises :class:`Refusal` where those who look on have all of theirs."""
        self._take_place(viewer)
        if viewer.gone:
            return
        if looks_on:
            if len(self._onlookers) >= self.limits.onlookers:
                raise Refusal("too_many_onlookers")
            self._onlookers.add(viewer)
        viewer.has_place = True

    def _take_place(self, viewer: Viewer) -> None:
        """Takes away the place of a connection, if it has one."""
        self._onlookers.discard(viewer)
        viewer.has_place = False

    async def _answer(self, viewer: Viewer, case: protocol.AnyMessage) -> None:
        token = case.token
        holder = self.store.find_pass(token) or self._replays.find(token)
        if holder is None:
            viewer.rate.allows(WRONG_TOKEN)
            raise Refusal("unknown_token")
        if isinstance(case, protocol.Hello):
            self._give_place(viewer, looks_on=isinstance(holder, str) or (holder.seat is None and not holder.is_host))
        match holder, case:
            case _, protocol.OpenReplay(record):
                opened = await self._replays.open(record, viewer.language, self.store.link_of(token))
                send(viewer, {"type": "opened", "token": opened})
            case str(record), protocol.Hello():
                send(viewer, await self._replays.message(token, record, viewer.language, self.store.link_of(token)))
            case str(record), protocol.Film(part, view):
                link = self.store.link_of(token)
                film = await self._replays.work("film", record, viewer.language, link, round=part, view=view)
                send(viewer, {"type": "film", "data": base64.b64encode(film).decode()})
            case str(), _:
                raise MessageError(f"The token of a replay cannot send {case.kind!r}.")
            case Pass(table=None), protocol.Hello():
                send(viewer, {"type": "host"})
            case Pass(table=None), protocol.Catalogue():
                send(viewer, {"type": "catalogue", "games": await asyncio.to_thread(catalogue, self._extra)})
            case Pass(table=None), protocol.NewTable(given):
                settings = await asyncio.to_thread(read_settings, given, self._extra)
                self._send_made(viewer, settings, await self.tables.add(settings, viewer=viewer))
            case Pass(table=None), protocol.ListTables():
                self._send_tables(viewer)
            case Pass(table=None), protocol.Invite(table):
                passes = self.tables.invite(table)
                self._send_made(viewer, from_dict(self.store.settings(table)), passes)
            case Pass(table=None), protocol.DeleteTable(table):
                await self.tables.delete(table)
                self._send_tables(viewer)
            case Pass(table=None), _:
                raise MessageError(f"The host's token is of no table, so it cannot send {case.kind!r}.")
            case Pass(), _ if isinstance(case, protocol.OfHost):
                raise Refusal("not_host")
            case Pass(table=str(table)) as allowed, _:
                await self._answer_at(await self.tables.get(table, viewer), viewer, allowed, case)

    async def _answer_at(self, running: Running, viewer: Viewer, allowed: Pass, case: protocol.AnyMessage) -> None:
        """Answers a message of somebody at a table."""
        live = running.live
        match case:
            case protocol.Hello():
                self._look(viewer, running, allowed)
            case protocol.Advise() | protocol.Review() | protocol.Position():
                if viewer.gone:
                    return
                search = self._study.search(case, allowed, live, viewer.language)
                failed = TEXTS[viewer.language].refusals["search_failed"]
                self.searches.start(viewer, search, functools.partial(send, viewer), failed)
            case protocol.Stop():
                self.searches.stop(viewer)
            case protocol.PlayOn(number, seat):
                await self._play_on(viewer, case.token, live, allowed, number, seat)
            case protocol.Undo(number):
                if allowed.seat is None:
                    raise Refusal("not_player")
                assert allowed.table is not None
                await self.tables.undo(allowed.table, number)
            case protocol.Rematch():
                await self._rematch(viewer, case.token, running, allowed)
            case protocol.AskRules():
                send(viewer, {"type": "rules", "text": rules_text(live, allowed.seat, viewer.language)})
            case protocol.SetSpeed(milliseconds, paused):
                self._set_speed(running, milliseconds, paused)
            case protocol.Film():
                raise MessageError("A film is made of a replay, and this is the token of a table.")
            case protocol.AskRecord():
                if not live.over:  # a record has the seed, and so the deals of the rounds that follow
                    raise Refusal("no_record")
                send(viewer, {"type": "record", "text": await asyncio.to_thread(_records, live)})
            case protocol.Play() | protocol.Deal():
                self._act(running, allowed, case)

    def _send_made(self, viewer: Viewer, settings: TableSettings, passes: Mapping[str, Pass]) -> None:
        """Sends the tokens of a table's seats and of spectators."""
        links = [
            {"token": token, "seat": each.seat, "name": None if each.seat is None else settings.names[each.seat]}
            for token, each in passes.items()
        ]
        (table,) = {each.table for each in passes.values()}
        send(viewer, {"type": "made", "table": table, "links": links, "title": _title(settings)})

    def _send_tables(self, viewer: Viewer) -> None:
        """Sends the list of all tables."""
        send(viewer, {"type": "tables", "tables": [_listed(table) for table in self.store.list_tables()]})

    async def _play_on(self, viewer: Viewer, token: str, live: LiveTable, allowed: Pass, number: int, seat: int) -> None:
        """Makes a table with the first ``number`` plies of one that is over, and sends the token of its one person's seat."""
        played = self._study.played(allowed, live)
        if number >= len(played.plies):
            raise Refusal("no_position")
        if seat >= live.settings.setup.players:
            raise Refusal("no_seat")
        viewer.rate.allows(FURTHER_TABLE)
        reader = TEXTS[viewer.language].page["guest"] if allowed.seat is None else live.settings.names[allowed.seat]
        settings = await asyncio.to_thread(against_agents, live.settings, seat, reader)
        passes = await self.tables.add(settings, played.plies[:number], viewer=viewer, link=self.store.link_of(token))
        send(viewer, {"type": "opened", "token": next(token for token, each in passes.items() if each.seat == seat)})

    async def _rematch(self, viewer: Viewer, token: str, running: Running, allowed: Pass) -> None:
        """Makes a table with the same players and other deals, once, and sends everybody at this one their place there."""
        if allowed.seat is None:
            raise Refusal("not_player")
        if not running.live.over:
            raise Refusal("not_over")
        assert allowed.table is not None
        async with running.rematching:
            again = self.store.find_rematch(allowed.table)
            if again is None:
                viewer.rate.allows(FURTHER_TABLE)
                settings = structs.replace(running.live.settings, seed=secrets.randbits(63))
                link = self.store.link_of(token)
                passes = await self.tables.add(settings, viewer=viewer, link=link, rematch_of=allowed.table)
                running.rematch = {each.seat: token for token, each in passes.items()}
                for other in running.viewers:
                    if other is not viewer:
                        send(other, {"type": "rematch", "token": running.rematch[other.seat]})
            elif running.rematch is None:  # this table has left the memory since: the store has no tokens
                running.rematch = {each.seat: token for token, each in self.tables.invite(again).items()}
        send(viewer, {"type": "opened", "token": running.rematch[allowed.seat]})

    def _look(self, viewer: Viewer, running: Running, allowed: Pass) -> None:
        """Shows a table to a connection, from now on."""
        if viewer.gone:
            return
        self.tables.look(viewer, allowed)
        if self.prepared and viewer.seat is not None and running.live.settings.advice:
            self.searches.prepare(functools.partial(self.advisers.load, running.live.settings.setup))

    def _set_speed(self, running: Running, milliseconds: int, paused: bool) -> None:
        """Changes the pause before plies of a table at which only agents play."""
        if running.edges is None:
            raise Refusal("no_speed")
        running.speed.set(milliseconds / 1000, paused)
        self.tables.show(running)

    def _act(self, running: Running, allowed: Pass, case: protocol.Play | protocol.Deal) -> None:
        """Makes a person's ply, or the deal that a person asks for."""
        live = running.live
        if allowed.seat is None:
            raise Refusal("not_player")
        if case.number != live.number or running.rewinding:
            raise Refusal("stale")
        if isinstance(case, protocol.Play):
            live.play(allowed.seat, case.action)
        else:
            live.deal()
        self.tables.show(running)
        assert allowed.table is not None
        self.tables.wake(allowed.table)

    def forget(self) -> None:
        """Takes the tables out of memory that nobody looks at and that do not go on by themselves."""
        self.tables.forget()


def _listed(table: ListedTable) -> dict[str, Any]:
    """Returns a table as the host's list shows it; one with damaged settings has a sentence for its title, and can be deleted."""
    names: tuple[str, ...] = ()
    try:
        settings = from_dict(table.settings)
        title, names = _title(settings), settings.names
    except ConfigError as error:
        title = str(error)
    return {"table": table.table, "made": round(table.made), "title": title, "names": names, "further": table.is_further}


def _title(settings: TableSettings) -> str:
    return f"{settings.setup.game.title} · {settings.setup.preset}"


def _records(live: LiveTable) -> str:
    """Returns the records of a table that is over, as the text of a file."""
    return "".join(f"{format_record(one)}\n" for one in live.records)
