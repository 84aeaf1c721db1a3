"""Watch agents play each other in a browser, with the edge that grows meanwhile.

  nainjaune watch --agents closer lowest
  nainjaune watch --agents zoo:strong tally lowest --preset classic --players 5

The first agent sits in seat 0 and the others in turn after it, at a table of this machine that only the printed link opens. The
rounds are fresh ones, shown live at a speed that you set, with the edge of the first agent in a field of the others as it grows.
Ctrl-C stops. To sit down yourself, use nainjaune serve or play; to rate agents, nainjaune evaluate.
"""

from __future__ import annotations

import argparse
import itertools
from typing import TYPE_CHECKING

from nainjaune_env.core.errors import AgentError

from ..players.program.settings import FORFEIT
from .arguments import add_seed_argument
from .bot_options import add_bot_arguments, settings_of
from .duplicate import add_agents_argument
from .setups import add_setup_arguments, settle_setup

if TYPE_CHECKING:
    from ..tables.server.server import TableServer

NAME = "watch"
HELP = "show agents at a table in a browser, and the edge as it grows"
ROUNDS = 100
"""Rounds that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_agents_argument(parser, "two or more agents, at most one for each seat")
    add_setup_arguments(parser)
    add_seed_argument(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the link")
    add_bot_arguments(parser, on_fault=FORFEIT)


def run(args: argparse.Namespace) -> int:
    """Serves the table until Ctrl-C; returns the exit status."""
    import tempfile
    from pathlib import Path

    from ..tables.server.settings import read_settings
    from .serve import run_server

    setup = settle_setup(args, args.agents)
    if not 2 <= len(args.agents) <= setup.players:
        raise AgentError(f"Expected from 2 agents to as many as there are seats, {setup.players}, not {len(args.agents)}.")
    others = itertools.cycle(args.agents[1:])
    seats = [args.agents[0], *(next(others) for _ in range(setup.players - 1))]
    given = {
        "game": setup.game.name, "preset": setup.preset, "players": setup.players, "knobs": setup.knobs, "rounds": ROUNDS,
        "seats": [{"agent": name} for name in seats], "seed": str(args.seed), "pace": 0.6,
    }  # fmt: skip
    settings = read_settings(given, args.agents)

    async def first(tables: TableServer) -> str:
        (token,) = await tables.tables.add(settings)
        return token

    with tempfile.TemporaryDirectory() as folder:
        server = argparse.Namespace(host="127.0.0.1", port=0, name=[], days=1.0, agents=args.agents, no_browser=args.no_browser)
        return run_server(server, Path(folder) / "watch.sqlite", "The agents play here:", first, settings_of(args))
