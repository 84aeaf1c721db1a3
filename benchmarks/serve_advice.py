"""Times advice at a table of `nainjaune serve` on this machine: seconds from the question to the first numbers, and to ± 0.2.

A server in this process has tables with one person, whose connection asks for advice at every turn, waits until the best move's
value and lead are within --error, and plays that move; the other seats play by --agent. So the work of the connection counts.
Seconds are by the clock, and in brackets those of the processor, which depend less on what else the machine does. The model is
that of advice on such tables. Loading it is timed apart: a server loads it when a person sits down.

  python benchmarks/serve_advice.py --preset djeco --players 4 --positions 100
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import platform
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import numpy as np
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from nainjaune_agents.tables.server import advising
from nainjaune_agents.tables.server.app import Serving
from nainjaune_agents.tables.server.server import TableServer
from nainjaune_agents.tables.server.store import Store
from nainjaune_env.core.errors import NainJauneError
from nainjaune_env.registry import make_setup


class Connection:
    """A page's connection."""

    def __init__(self, socket: WebSocketClientConnection, token: str) -> None:
        self._socket, self._token = socket, token

    async def send(self, kind: str, **values: Any) -> None:
        """Sends a message."""
        await self._socket.write_message(json.dumps({"type": kind, "token": self._token, **values}))

    async def receive(self, *kinds: str) -> dict[str, Any]:
        """Returns the next message of one of the ``kinds``; raises an error for a refusal."""
        while True:
            message: dict[str, Any] = json.loads(await self._socket.read_message() or '{"type": "refused", "text": "closed"}')
            if message["type"] == "refused":
                raise NainJauneError(message["text"])
            if message["type"] in kinds:
                return message


@asynccontextmanager
async def connected(serving: Serving, token: str) -> AsyncIterator[Connection]:
    """A new connection with ``token``."""
    request = HTTPRequest(f"ws://127.0.0.1:{serving.port}/ws", headers={"Origin": f"http://127.0.0.1:{serving.port}"})
    socket = await websocket_connect(request, max_message_size=1 << 24)
    try:
        yield Connection(socket, token)
    finally:
        socket.close()
        while await socket.read_message() is not None:
            continue  # what was on its way


async def new_table(host: Connection, options: argparse.Namespace, seed: int) -> str:
    """Makes a table with one person; returns the token of their seat."""
    seats = [{"person": ""}, *({"agent": options.agent} for _ in range(options.players - 1))]
    table = {
        "game": "nain_jaune", "preset": options.preset, "players": options.players, "knobs": {}, "seats": seats, "rounds": 1,
        "seed": str(seed), "pace": 0, "advice": True,
    }  # fmt: skip
    await host.send("new", table=table)
    token: str = (await host.receive("made"))["links"][0]["token"]
    return token


async def round_timed(person: Connection, most: int) -> list[list[float]]:
    """Plays a round by advice, or ``most`` decisions of it.

    Returns for each decision the seconds to the first numbers, by the clock and of the processor, those to the last ones, and the
    number of moves.
    """
    timings: list[list[float]] = []
    await person.send("hello", language="en", greeting=1)
    while not (view := await person.receive("view"))["over"] and len(timings) < most:
        if not view["moves"]:
            continue
        then = np.array([time.perf_counter(), time.process_time()])
        await person.send("advise", number=view["number"])
        advice = await person.receive("advice")
        first = [time.perf_counter(), time.process_time()] - then
        while not advice["done"]:
            advice = await person.receive("advice")
        timings.append([*first, *([time.perf_counter(), time.process_time()] - then), len(view["moves"])])
        await person.send("play", number=view["number"], action=advice["moves"][0]["action"])
    return timings


async def measured(options: argparse.Namespace) -> tuple[str, float, list[list[float]]]:
    """Returns the model, the seconds of loading it, and the times of :func:`round_timed` for --positions."""
    setup = make_setup("nain_jaune", options.preset, options.players)
    timings: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder, closing(Store(Path(folder) / "tables.sqlite")) as store:
        serving = Serving(TableServer(store), "127.0.0.1", 0)
        clock = time.perf_counter()
        model = serving.tables.advisers.get(setup).model
        loading = time.perf_counter() - clock
        async with connected(serving, serving.tables.add_host()) as host:
            for seed in itertools.count(1):
                async with connected(serving, await new_table(host, options, seed)) as person:
                    timings += await round_timed(person, options.positions - len(timings))
                if len(timings) == options.positions:
                    break
        await serving.close()
    return model, loading, timings


def main(arguments: list[str] | None = None) -> None:
    """Prints the times as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="djeco", help="the rules (default: %(default)s)")
    parser.add_argument("--players", type=int, default=4, help="the seats (default: %(default)s)")
    parser.add_argument("--agent", default="closer", help="who plays in the other seats (default: %(default)s)")
    parser.add_argument("--positions", type=int, default=100, help="how many (default: %(default)s)")
    parser.add_argument("--error", type=float, default=0.2, help="half-width of the 95 %% intervals (default: %(default)s)")
    options = parser.parse_args(arguments)
    advising.ERROR = options.error
    model, loading, timings = asyncio.run(measured(options))
    times = np.array(timings)
    print(f"Nain Jaune, {options.preset}, {options.players} seats, {model}, {platform.machine()}; loaded in {loading:.1f} s")
    print(
        f"{len(timings)} positions with {times[:, 4].mean():.1f} moves\n\n| seconds | median | 90 % | most |\n|---|---|---|---|"
    )
    for name, at in (("first numbers", 0), (f"± {options.error:g}", 2)):
        cells = [np.quantile(times[:, at : at + 2], share, axis=0) for share in (0.5, 0.9, 1.0)]
        print(f"| {name} | {' | '.join(f'{clock:.2f} ({processor:.2f})' for clock, processor in cells)} |")


if __name__ == "__main__":
    main()
