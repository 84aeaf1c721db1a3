"""Messages of many links to one server: no quota is passed, what was taken is given back, and seats and the host stay welcome."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from unittest import mock

from nainjaune_agents.tables.server import store as store_module
from nainjaune_agents.tables.server.protocol import Limits, MessageError, Refusal
from nainjaune_agents.tables.server.replays import Replays
from nainjaune_agents.tables.server.server import TableServer
from tests.agents.tables.server.pages import Page, made, new_table, opened
from tests.support.games import games_with

from .oracle import Fault, Fuzzer, check_sentence

GAME = games_with("speaker", "pictures")[0]
KEPT_REPLAYS = 3
"""Replays that are kept for a link, in place of the usual number."""
ACTIONS = ("hello", "hello", "play_on", "play_on", "replay", "new", "invite", "delete", "leave", "tables")


class Quotas(Fuzzer):
    """One case is a server with small limits, and bursts of messages that are answered at the same time."""

    name = "quotas"
    short = 3
    long = 300

    def case(self, rng: random.Random) -> None:
        limits = Limits(
            a_second=1e9, burst=1 << 30, tables=rng.randint(3, 8), further=rng.randint(1, 4), further_of_link=rng.randint(1, 3),
            spectators=rng.randint(1, 3), windows=rng.randint(1, 3), onlookers=rng.randint(1, 6), jobs=rng.randint(1, 4),
            jobs_of_link=rng.randint(1, 2),
        )  # fmt: skip
        with (
            tempfile.TemporaryDirectory(dir=self.folder) as place,
            mock.patch.object(store_module, "MAX_REPLAYS_OF_LINK", KEPT_REPLAYS),
        ):
            asyncio.run(self._serve(rng, limits, Path(place)))

    async def _serve(self, rng: random.Random, limits: Limits, place: Path) -> None:
        with opened(place / "tables.sqlite") as store:
            server = TableServer(store, limits=limits)
            try:
                await _Bursts(server, rng).run()
            finally:
                await server.close()


class _Bursts:
    """The links of one server, and what is sent with them."""

    def __init__(self, server: TableServer, rng: random.Random) -> None:
        self.server = server
        self.rng = rng
        self.host = server.store.host_token()
        self.tokens: list[str] = []
        """The links that somebody has, of tables and replays that may be gone."""
        self.roots: dict[str, str] = {}
        """Of each link that the server has opened: the one with which a person began."""
        self.pages: list[Page] = []
        self.answering: defaultdict[Page, asyncio.Lock] = defaultdict(asyncio.Lock)
        """The server answers the messages of a connection one after the other."""
        self.jobs = 0
        """The jobs that run."""

    async def run(self) -> None:
        """Sends bursts and checks after each; at the end lets in whoever must be let in."""
        with mock.patch.object(Replays, "_run", side_effect=self._job):
            for persons in (0, 1, 2):
                self.tokens += (await made(self.server, new_table(GAME, persons=persons, players=2))).values()
            await self._play_to_the_end()
            for _ in range(self.rng.randint(2, 6)):
                await asyncio.gather(*(self._act(self.rng.choice(ACTIONS)) for _ in range(self.rng.randint(1, 20))))
                self._check()
            await self._welcome()

    async def _play_to_the_end(self) -> None:
        """Waits until the table of agents alone is over, so that play can go on from it."""
        page = self._page(self.tokens[0])
        await page.hello()
        while not page.last.get("over"):
            await asyncio.sleep(0.001)

    def _page(self, token: str) -> Page:
        self.pages.append(Page(self.server, token))
        return self.pages[-1]

    async def _job(self, _: dict[str, Any]) -> bytes:
        """Stands for the process that draws a replay."""
        self.jobs += 1
        if self.jobs > 1:
            raise Fault(f"{self.jobs} jobs run at once")
        for _ in range(self.rng.randint(0, 5)):
            await asyncio.sleep(0)
        self.jobs -= 1
        if self.rng.random() < 0.2:
            raise self.rng.choice((Refusal("failed_job"), MessageError("The record: expected a game.")))
        return b"replay"

    async def _act(self, kind: str) -> None:
        token = self.host if self.rng.random() < 0.2 else self.rng.choice(self.tokens)
        page = self._page(token) if self.rng.random() < 0.5 else self.rng.choice(self.pages)
        values: dict[str, Any] = {}
        if kind == "leave":
            self.server.leave(page.viewer)
            self.pages = [other for other in self.pages if other is not page] or [Page(self.server, token)]
            return
        if kind == "hello":
            values = {"language": "en", "greeting": 1}
        elif kind == "play_on":
            token = self.rng.choice((token, self.tokens[0]))  # few tables are over, and the first one is
            values = {"number": 0, "seat": self.rng.randrange(3)}
        elif kind == "replay":
            values = {"record": "any"}
        elif kind == "new":
            values = {"table": new_table(GAME, persons=self.rng.randint(0, 2), players=2)}
        elif kind != "tables":
            tables = [listed.table for listed in self.server.store.list_tables()]
            values = {"table": self.rng.choice([*tables, "none"])}
        async with self.answering[page]:
            if page.viewer.gone:
                return
            before = len(page.sent)
            if not await page.raw(json.dumps({"type": kind, "token": token, **values})):
                raise Fault(f"{kind} closed a connection that has no limit of messages")
            for text in page.sent[before:]:
                self._note(token, json.loads(text))

    def _note(self, token: str, answer: dict[str, Any]) -> None:
        """Notes the links in an answer, and checks its sentence."""
        if answer["type"] == "refused":
            check_sentence(answer["text"], "an answer")
        elif answer["type"] == "made":
            self.tokens += [link["token"] for link in answer["links"]]
        elif answer["type"] == "opened":
            self.tokens.append(answer["token"])
            self.roots[answer["token"]] = self.roots.get(token, token)

    def _check(self) -> None:
        """Raises :class:`Fault` where more is taken than the limits allow, or something is taken by nobody."""
        server, store, limits = self.server, self.server.store, self.server.limits
        counted = {
            "tables": (store.num_tables(), limits.tables),
            "further tables": (store.num_further(), limits.further),
            "onlookers": (len(server._onlookers), limits.onlookers),
        }
        for what, counts, most in (
            ("further tables", self._further(), limits.further_of_link),
            ("replays", self._replays(), KEPT_REPLAYS),
        ):
            counted |= {f"{what} of {root}": (count, most) for root, count in counts.items()}
        for table, running in server.tables.running.items():
            seats = [viewer.seat for viewer in running.viewers]
            counted |= {f"{seat} of {table}": (seats.count(seat), limits.windows) for seat in {*seats} - {None}}
            counted[f"spectators of {table}"] = seats.count(None), limits.spectators
            if any(viewer.gone for viewer in running.viewers):
                raise Fault(f"a closed connection looks at {table}")
            if not store.has_table(table):
                raise Fault(f"{table} is deleted, and in memory")
        if passed := {what: pair for what, pair in counted.items() if pair[0] > pair[1]}:
            raise Fault(f"more than the limits allow: {passed}")
        left = server.tables._quota._loading, server._replays._turns._jobs, server._replays._turns._waiting
        if any(left):
            raise Fault(f"nothing is being made, and places are still taken: {left}")
        if any(viewer.gone or not viewer.has_place for viewer in server._onlookers):
            raise Fault("an onlooker without a place has one of the onlookers' places")

    def _further(self) -> Counter[str]:
        """Returns how many tables are there that go on from others, by the link with which a person began."""
        allowed = {token: self.server.store.find_pass(token) for token in self.roots}
        return Counter(self.roots[token] for token, result in allowed.items() if result is not None)

    def _replays(self) -> Counter[str]:
        """Returns how many replays are kept, by the link with which a person began."""
        return Counter(root for token, root in self.roots.items() if self.server.store.find_replay(token) is not None)

    async def _welcome(self) -> None:
        """Raises :class:`Fault` where a seat is locked out of its table, or the host of making one."""
        store = self.server.store
        for token in self.tokens:
            allowed = store.find_pass(token)
            if allowed is not None and allowed.seat is not None:
                answer = await self._page(token).hello()
                if answer["type"] != "view" or answer["seat"] != allowed.seat:
                    raise Fault(f"a seat is locked out: {answer}")
        host = Page(self.server, self.host)
        if store.num_tables() == self.server.limits.tables:
            await host.ask("delete", table=store.list_tables()[0].table)
        if (answer := await host.ask("new", table=new_table(GAME)))["type"] != "made":
            raise Fault(f"the host is locked out: {answer}")
        self._check()
