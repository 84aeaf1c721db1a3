"""Serve rounds to language models by the Model Context Protocol (MCP).

  # the configuration of a desktop client, which starts the server itself
  {"mcpServers": {"nainjaune": {"command": "nainjaune", "args": ["mcp"]}}}
  # at http://127.0.0.1:8000/mcp, for clients that take an address
  nainjaune mcp --http 127.0.0.1:8000
  # with finished rounds in a file for nainjaune analyse
  nainjaune mcp --record mcp.jsonl

A model starts a round with the tool start_round, by rules of its choice or as a task of a split. It answers each position with
play, in words, and reads with finish what the round was worth: chips, the edge over the field's agent in the same seat with the
same deal, and on request the regret. The other seats answer at once. If the client does not find the command, name it by its
whole path, which "which nainjaune" prints.

Whoever reaches the address may play: there are no passwords. Listen at another host than 127.0.0.1 only where you trust
everybody who reaches it. Requests must name that host or this machine, so that no site which a browser visits can send them.
"""

from __future__ import annotations

import argparse
import ipaddress
import re
import signal
import sys
from pathlib import Path

from nainjaune_env.core.errors import AgentError, CheckpointError, quoted
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import game_names, get_game

from .arguments import add_language_argument, integer

NAME = "mcp"
HELP = "serve rounds to language models by the Model Context Protocol"
LOCAL = "127.0.0.1"
MAX_PORT = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http", type=_address, metavar="[HOST:]PORT", help="listen there (host: 127.0.0.1; port 0: any that is free)"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="add the record of each finished round to this file")
    parser.add_argument("--field", metavar="AGENT", help="the agent in all other seats (default: the game's baseline heuristic)")
    parser.add_argument("--form", choices=("short", "long"), default="short", help="of the texts (default: %(default)s)")
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Serves until the client leaves or Ctrl-C; returns the exit status."""
    from ..language.mcp import Tables, TableServer, serve_http
    from ..language.settings import TextEnvSettings

    if args.field is not None:
        _check_field(args.field)
    settings = TextEnvSettings(language=args.lang, form=args.form, field=args.field)
    server = TableServer(Tables(settings, record=args.record))
    if args.http is not None:
        serve_http(server, *args.http)
        return 0
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a thread that waits for input would hold up KeyboardInterrupt
    if sys.stdin.isatty():
        print("Waiting for the messages of an MCP client; nainjaune mcp --help says how to set one up.", file=sys.stderr)
    try:
        server.run("stdio")
    finally:
        signal.signal(signal.SIGINT, before)
    return 0


def _check_field(name: str) -> None:
    """Raises the :class:`AgentError` of the agent ``name`` where it is none at any table; at which ones, a model will choose."""
    from ..players.exact import exact_agents
    from ..players.loading import base_name, load_agent

    errors = []
    for game in map(get_game, sorted(game_names(), key=lambda game: game != DEFAULT_GAME)):
        if base_name(name) in exact_agents(game.name):  # of tables with other knobs
            return
        for preset, rules in game.presets.items():
            for players in rules.players:
                try:
                    load_agent(name, game.setup(preset, players))
                except CheckpointError:  # a run, of another table
                    return
                except AgentError as error:
                    errors.append(error)
                else:
                    return
    raise errors[0]


def _address(text: str) -> tuple[str, int]:
    parts = re.fullmatch(r"(?:(\[[^\[\]]+\]|[^\[\]:/\s]+):)?(\d+)", text)
    try:
        if parts is None:
            raise ValueError(text)
        host, port = parts[1] or LOCAL, integer(0, MAX_PORT)(parts[2])
        if host.startswith("["):
            return str(ipaddress.IPv6Address(host[1:-1])), port
        host.encode("idna")
        return host, port
    except (argparse.ArgumentTypeError, ValueError):
        raise argparse.ArgumentTypeError(f"expected a port, or a host and a port, not {quoted(text)}") from None
