"""Measures `nainjaune serve` on this machine: time from an action to its view, memory, fuzzed messages, and kills during play.

Each part has a server of its own, with its tables in a new folder. At --tables tables only agents play. At --people more tables a
simulated person, each with a connection of their own, plays random legal moves against agents. The time is measured at the
person's end, from sending a move to having received and parsed the next view, so it includes the work of this process. Then
--fuzz messages that no page sends must each be answered or close their connection, and change no table. Then the server is
killed --kills times during play, and started again: every view that a person has received must still be true.

  python benchmarks/serve.py --tables 200 --people 50 --seconds 120 --fuzz 10000 --kills 100
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import platform
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from nainjaune_agents.players.heuristics import yardstick
from nainjaune_agents.tables.server.protocol import KINDS, Limits
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.registry import get_game

CLOSING = 2.0
"""Seconds to wait until a connection is closed."""
PATIENCE = 60.0
"""Seconds to wait for an answer."""
ANSWERED = tuple(kind for kind in KINDS if kind != "stop")
"""Kinds of messages that are answered: the end of a search is not."""
THINKS = (0.3, 1.5)
"""Seconds that a person takes for a move, uniformly."""
FUZZERS = 40
"""Connections that send fuzzed messages at once."""
LIMITS = Limits()


class Served:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.data, self._log = folder / "tables.sqlite", folder / "errors.txt"
        self.port = 0
        self.start()

    def start(self) -> None:
        """Starts the server on the file that is there."""
        arguments = ["serve", "--no-browser", "--port", str(self.port), "--data", str(self.data)]
        with self._log.open("ab") as errors:
            command = [sys.executable, "-m", "nainjaune_agents.cli.main", *arguments]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self.process.stdout is not None
        match = re.search(r"http://[^:]+:(\d+)/#(\S+)", self.process.stdout.readline())
        if match is None:
            sys.exit(f"The server did not start: {self.errors}")
        self.port, self.host = int(match[1]), match[2]

    def stop(self, number: signal.Signals) -> None:
        """Sends a signal, and waits for the end."""
        self.process.send_signal(number)
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def errors(self) -> str:
        """All that was written to standard error, except that code is compiled."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return "\n".join(line for line in lines if "compiling for the first use" not in line)

    def memory(self) -> float:
        """Returns the resident memory in MB (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def processor(self) -> float:
        """Returns the seconds of processor time so far (Linux)."""
        stat_fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
        return (int(stat_fields[11]) + int(stat_fields[12])) / 100

    def plies(self) -> dict[str, list[tuple[int, int]]]:
        """Returns the number and the action of every ply in the file, by table."""
        file = sqlite3.connect(self.data)
        try:
            plies_of: dict[str, list[tuple[int, int]]] = {table: [] for (table,) in file.execute("select id from tables")}
            for table, number, action in file.execute("select id, number, action from plies order by id, number"):
                plies_of[table].append((number, action))
        finally:
            file.close()
        return plies_of


class Connection:
    """A page's connection with one token."""

    def __init__(self, served: Served, token: str) -> None:
        self.served, self.token = served, token
        self.socket: WebSocketClientConnection | None = None

    async def open(self) -> None:
        """Connects."""
        headers = {"Origin": f"http://127.0.0.1:{self.served.port}"}
        request = HTTPRequest(f"ws://127.0.0.1:{self.served.port}/ws", headers=headers)
        self.socket = await websocket_connect(request, max_message_size=1 << 24)

    async def send(self, kind: str, **values: Any) -> None:
        """Sends a message."""
        assert self.socket is not None
        await self.socket.write_message(json.dumps({"type": kind, "token": self.token, **values}))

    async def receive(self) -> Any:
        """Returns the next message; None when the connection is closed."""
        assert self.socket is not None
        async with asyncio.timeout(PATIENCE):
            text = await self.socket.read_message()
        if text is None:  # this comes once
            self.socket.close()
            self.socket = None
            return None
        return json.loads(text)

    async def close(self) -> None:
        """Closes the connection, and waits until it is closed."""
        if self.socket is None:
            return
        self.socket.close()
        with contextlib.suppress(TimeoutError):  # a connection that the other side has broken off may say nothing more
            async with asyncio.timeout(CLOSING):
                while self.socket is not None:
                    await self.receive()
        self.socket = None


@dataclass
class Person:
    """A simulated person at a table."""

    connection: Connection
    rng: random.Random
    times: list[float] = field(default_factory=list)
    """Seconds from each action to its view."""
    view: dict[str, Any] = field(default_factory=dict)
    """The last one received."""

    async def play(self) -> None:
        """Plays until the connection is lost or everything is over."""
        await self.connection.open()
        await self.connection.send("hello", language="en", greeting=1)
        sent = None
        while True:
            message = await self.connection.receive()
            if message is None:
                return
            if message["type"] == "greeted":
                continue
            if message["type"] != "view":
                raise RuntimeError(f"Expected a view, and it is {message}.")
            if message["number"] < self.view.get("number", 0):
                raise RuntimeError(f"Ply {self.view['number']} is lost: the table is at {message['number']}.")
            self.view = message
            if sent is not None and message["number"] > sent[0]:
                self.times.append(time.perf_counter() - sent[1])
                sent = None
            if message["over"]:
                return
            if sent is None and (message["moves"] or message["round_over"]):
                await asyncio.sleep(self.rng.uniform(*THINKS))
                number = message["number"]
                sent = number, time.perf_counter()
                try:
                    if message["round_over"]:
                        await self.connection.send("deal", number=number)
                    else:
                        await self.connection.send("play", number=number, action=self.rng.choice(message["moves"])[0])
                except Exception:  # the server was killed: what was sent may be lost
                    return


async def make_tables(served: Served, options: argparse.Namespace, agents: int, people: int) -> list[Person]:
    """Makes the tables; returns the people."""
    game = get_game(options.game)
    agent = options.agent or yardstick(options.game)
    host = Connection(served, served.host)
    await host.open()
    persons = []
    for k in range(agents + people):
        seats = [{"person": f"Person {k}"} if k >= agents and seat == 0 else {"agent": agent} for seat in range(options.players)]
        table = {
            "game": game.name, "preset": options.preset or game.default_preset, "players": options.players, "knobs": {},
            "seats": seats, "rounds": 100, "seed": str(k), "pace": options.pace,
        }  # fmt: skip
        await host.send("new", table=table)
        made = await host.receive()
        while made["type"] == "preparing":  # code that is not compiled yet
            made = await host.receive()
        if made["type"] != "made":
            sys.exit(made["text"])
        if k >= agents:
            persons.append(Person(Connection(served, made["links"][0]["token"]), random.Random(k)))
        await asyncio.sleep(1.1 / LIMITS.a_second)  # the host's connection has a rate, too
    await host.close()
    return persons


async def measure(served: Served, options: argparse.Namespace) -> None:
    """Prints times and memory of play."""
    people = await make_tables(served, options, options.tables, options.people)
    playing = [asyncio.create_task(person.play()) for person in people]
    await asyncio.sleep(options.warm_up)
    for person in people:
        person.times.clear()
    begun, spent, memory = time.perf_counter(), served.processor(), [served.memory()]
    while time.perf_counter() - begun < options.seconds:
        await asyncio.sleep(min(10.0, options.seconds))
        memory.append(served.memory())
    wall, spent = time.perf_counter() - begun, served.processor() - spent
    for task in playing:
        task.cancel()
    for problem in await asyncio.gather(*playing, return_exceptions=True):
        if isinstance(problem, Exception):
            raise problem
    times = 1000 * np.array([each for person in people for each in person.times])
    if times.size:
        median, most, worst = np.quantile(times, [0.5, 0.99, 1.0])
        print(f"action to view: {times.size} actions, median {median:.1f} ms, 99 % {most:.1f} ms, most {worst:.1f} ms")
    print(f"server: {100 * spent / wall:.0f} % of a core over {wall:.0f} s")
    third = memory[len(memory) // 3]
    print(f"memory: {memory[0]:.0f} MB at the start, {third:.0f} MB after a third, {memory[-1]:.0f} MB at the end", flush=True)
    for person in people:
        await person.connection.close()


def fuzzed(rng: random.Random, tokens: list[str]) -> str | bytes:
    """Returns a message that no page sends: bytes, broken, huge or deep JSON, other types, tokens of other tables."""
    values: list[Any] = [None, True, -1, 0, 7, 1.5, 1e999, 1 << 70, "", "é\ud800", "x" * 70, [], {}, [[]], {"a": 1}]
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(rng.randrange(1, 4000))
    if kind == 1:
        return rng.choice(["", "{", "[" * 9000, '{"a":' * 2500, "NaN", "null", "1" * 9000, "\x00", '"', "x" * 20_000])
    if kind == 2:
        return rng.choice(["[" * rng.randrange(1, 60_000), "x" * rng.randrange(1, 200_000), "x" * (1 << 21)])
    message = {"type": rng.choice(["play", "deal", "nothing", *ANSWERED, *values])}
    message["token"] = rng.choice(tokens) if rng.random() < 0.7 else rng.choice([*values, "A" * 32])
    for name in rng.sample(["number", "action", "language", "table", "text", "more"], rng.randrange(4)):
        message[name] = rng.choice(values)
    if message["type"] == "play":  # complete, and late or illegal
        message |= {"number": rng.choice([1 << 39, 10**6]), "action": rng.randrange(70)}
    return json.dumps(message)


async def fuzz(served: Served, options: argparse.Namespace) -> None:
    """Sends fuzzed messages; exits with a sentence where one is not answered or changes a table."""
    settings = argparse.Namespace(**{**vars(options), "pace": 10.0})
    people = await make_tables(served, settings, 0, 3)
    for person in people:
        await person.connection.open()
        await person.connection.send("hello", language="en", greeting=1)
        while not (await person.connection.receive()).get("moves"):
            pass
        await person.connection.close()
    before, tokens = served.plies(), [person.connection.token for person in people]
    counts = {"answered": 0, "closed": 0}
    left = iter(range(options.fuzz))

    async def sender(seed: int) -> None:
        rng, connection = random.Random(seed), Connection(served, "")
        for _ in left:
            if connection.socket is None:
                await connection.open()
            assert connection.socket is not None
            message = fuzzed(rng, tokens)
            try:
                await connection.socket.write_message(message, binary=isinstance(message, bytes))
                answer = await connection.receive()
            except Exception as error:
                answer = None
                if isinstance(error, TimeoutError):
                    sys.exit(f"A message was neither answered nor refused: {message[:80]!r}")
            counts["closed" if answer is None else "answered"] += 1
            if answer is None:
                await connection.close()
        await connection.close()

    await asyncio.gather(*map(sender, range(FUZZERS)))
    after = served.plies()
    changed = [table for table in before if before[table] != after[table]]
    print(f"fuzzed messages: {counts['answered']} answered, {counts['closed']} closed their connection, "
          f"{len(changed)} tables changed, {len(after) - len(before)} made", flush=True)  # fmt: skip
    if changed or len(after) != len(before) or served.errors:
        sys.exit(f"Fuzzed messages have changed tables or raised errors:\n{served.errors}")


async def kill(served: Served, options: argparse.Namespace) -> None:
    """Kills the server during play; exits with a sentence where something that a person has seen is lost."""
    settings = argparse.Namespace(**{**vars(options), "pace": 0.05})
    people = await make_tables(served, settings, 0, 8)
    rng, known = random.Random(0), served.plies()
    for _ in range(options.kills):
        playing = [asyncio.create_task(person.play()) for person in people]
        await asyncio.sleep(rng.uniform(0.5, 4.0))
        served.stop(signal.SIGKILL)
        for problem in await asyncio.gather(*playing, return_exceptions=True):
            if isinstance(problem, RuntimeError):
                raise problem
        for person in people:
            await person.connection.close()
        plies = served.plies()
        for table, old in known.items():
            now = plies[table]
            if now[: len(old)] != old or [number for number, _ in now] != list(range(1, len(now) + 1)):
                sys.exit("Plies are lost or come twice.")
        known = plies
        served.start()
    print(f"kills during play: {options.kills}, {sum(map(len, known.values()))} plies in the file, nothing lost", flush=True)
    if served.errors:
        sys.exit(served.errors)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="nain_jaune", help="the game (nain_jaune)")
    parser.add_argument("--preset", help="its rules (the game's own)")
    parser.add_argument("--players", type=int, default=4, help="seats (4)")
    parser.add_argument("--agent", help="the agent in every other seat (the game's yardstick)")
    parser.add_argument("--tables", type=int, default=200, help="tables of agents (200)")
    parser.add_argument("--people", type=int, default=50, help="people, each at a table with agents (50)")
    parser.add_argument("--pace", type=float, default=0.6, help="the pause before an agent's ply, in seconds (0.6)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long times and memory are measured (60)")
    parser.add_argument("--warm-up", type=float, default=10.0, help="seconds before that are left out (10)")
    parser.add_argument("--fuzz", type=int, default=10_000, help="fuzzed messages (10000)")
    parser.add_argument("--kills", type=int, default=10, help="kills during play (10)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measures everything that was asked for."""
    options = parse(arguments)
    try:
        setup = get_game(options.game).setup(options.preset, options.players)
    except NainJauneError as error:
        sys.exit(str(error))
    print(f"{setup.game.title}, {setup.preset}, {options.players} seats, {options.tables} tables of agents, "
          f"{options.people} people, {options.pace:g} s before an agent's ply; {platform.machine()}", flush=True)  # fmt: skip
    for part, wanted in ((measure, options.seconds), (fuzz, options.fuzz), (kill, options.kills)):
        if not wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            served = Served(Path(folder))
            try:
                asyncio.run(part(served, options))
            finally:
                served.stop(signal.SIGTERM)


if __name__ == "__main__":
    main()
