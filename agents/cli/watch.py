"""``evaluate --watch``: the agents play each other in a browser, with the edge that grows meanwhile."""

from __future__ import annotations

import argparse
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup

    from ..serve.server import TableServer
    from ..task import Task

ROUNDS = 100
"""Rounds that are shown."""


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "--watch", action="store_true", help="only show the agents at a table in a browser, and their edges as they grow"
    )
    parser.add_argument("--no-browser", action="store_true", help="with --watch: only print the link")


def run_watch(args: argparse.Namespace, setup: Setup, named: list[str], task: Task) -> int:
    """Serves a table with the first agent in seat 0 and the others in turn after it, until Ctrl-C; returns the exit status."""
    import tempfile
    from pathlib import Path

    from nainjaune_env.core.errors import AgentError, ConfigError

    from ..serve.settings import read_settings
    from ..task import DEFAULT_TASK
    from .serve import run_server

    if args.out is not None or args.records is not None or args.device != "cpu" or args.episode == "match" or args.until_decided:
        raise ConfigError("--watch cannot be combined with --out, --records, --until-decided, --device cuda or --episode match.")
    if args.pots is not None or task != DEFAULT_TASK or args.control_variates:
        raise ConfigError(
            "--watch shows fresh rounds and their own payoffs: it cannot be combined with --pots, --start, --objective or "
            "--control-variates."
        )
    if not 2 <= len(named) <= setup.players:
        raise AgentError(f"--watch takes from 2 agents to as many as there are seats, {setup.players}, not {len(named)}.")
    others = itertools.cycle(named[1:])
    seats = [named[0], *(next(others) for _ in range(setup.players - 1))]
    given = {
        "game": setup.game.name, "preset": setup.preset, "players": setup.players, "knobs": setup.knobs, "rounds": ROUNDS,
        "seats": [{"agent": name} for name in seats], "seed": str(args.seed), "pace": 0.6, "every_ply": None,
    }  # fmt: skip
    settings = read_settings(given, named)

    async def first(tables: TableServer) -> str:
        (token,) = await tables.tables.add(settings)
        return token

    with tempfile.TemporaryDirectory() as folder:
        server = argparse.Namespace(host="127.0.0.1", port=0, name=[], days=1.0, agents=named, no_browser=args.no_browser)
        return run_server(server, Path(folder) / "watch.sqlite", "The agents play here:", first)
