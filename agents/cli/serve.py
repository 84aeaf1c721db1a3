"""Serve tables to browsers: play against agents and other people.

  # on this machine alone; the page opens
  nainjaune serve
  # people on your network join by the invitations that the page shows
  nainjaune serve --host 0.0.0.0 --port 8000
  # a trained run and another program may be seated too
  nainjaune serve --agents runs/first 'exec:./bot --level 3'

The page makes tables: game, rules, seats, who plays. Each person at a table has a link of their own, and spectators have one.
What is played is kept in --data: a server that was stopped or killed goes on where it was, and all links stay valid. Whoever has
the link that is printed makes and deletes tables; --new-link makes another one. The link of a seat shows what that seat may know,
so pass it on to that person alone. Connections are not encrypted; on a network that you do not trust, put a proxy with HTTPS in
front, and give its name with --name.

On their turn people see the expected payoff of each move, if the table was set up to allow it. At the end of a match they
review their decisions, and play on from any of its positions.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.atomic_files import locked
from nainjaune_env.core.errors import ConfigError

from ..players.program.settings import FORFEIT, BotSettings
from .arguments import integer, number
from .bot_options import add_bot_arguments, settings_of

if TYPE_CHECKING:
    from ..tables.server.server import TableServer

NAME = "serve"
HELP = "serve tables to browsers"
PORT = 8765
DAYS = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0: all (default: %(default)s)")
    parser.add_argument(
        "--port", type=integer(0, 65535), default=PORT, help="the port to listen at; 0: any that is free (default: %(default)s)"
    )
    parser.add_argument(
        "--name", nargs="+", default=[], metavar="NAME", help="further names of this server, such as that of a proxy"
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="keep tables in this file (default: in the user's state folder, XDG_STATE_HOME)"
    )
    parser.add_argument(
        "--days", type=number(0, 36500), default=DAYS, help="remove tables older than this number of days (default: %(default)g)"
    )
    parser.add_argument(
        "--agents",
        nargs="+",
        default=[],
        metavar="AGENT",
        help="agents that may be seated besides those of the package: runs, bots",
    )
    parser.add_argument(
        "--new-link", action="store_true", help="print a new link that makes tables; all earlier ones are valid no longer"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the link")
    add_bot_arguments(parser, on_fault=FORFEIT)


def run(args: argparse.Namespace) -> int:
    """Runs the command until Ctrl-C; returns the exit status."""
    from ..tables.server.players import check_extra
    from ..tables.terminal.saved import make_private_folder, saved_path

    bots = settings_of(args)
    for name in args.agents:
        check_extra(name, bots)
    path: Path = saved_path().with_name("serve.sqlite") if args.data is None else args.data
    make_private_folder(path.parent)

    async def host(tables: TableServer) -> str:
        if args.new_link:
            tables.store.remove_hosts()
        return tables.store.host_token()

    return run_server(args, path, "Tables are served. Whoever has this link makes new ones:", host, bots)


def run_server(
    args: argparse.Namespace, path: Path, about: str, first: Callable[[TableServer], Awaitable[str]], bots: BotSettings
) -> int:
    """Serves the tables in the file ``path`` until Ctrl-C; returns the exit status.

    ``first(tables)`` returns the token of the page that opens, whose link is printed after the words ``about``. ``bots`` says how
    bots are asked.
    """
    import asyncio

    try:
        with locked(path, wait=False):
            return asyncio.run(_serve(args, path, about, first, bots))
    except TimeoutError:
        raise ConfigError(f"Another server uses the tables in {str(path)!r}; --data names another file.") from None


async def _serve(
    args: argparse.Namespace, path: Path, about: str, first: Callable[[TableServer], Awaitable[str]], bots: BotSettings
) -> int:
    import asyncio
    import signal
    import webbrowser

    from ..tables.server.app import Serving
    from ..tables.server.server import TableServer
    from ..tables.server.store import Store

    store = Store(path)
    try:
        store.remove_old(args.days)
        tables = TableServer(store, agents=args.agents, bots=bots, prepared=True)
        serving = Serving(tables, args.host, args.port, names=args.name)
        link = f"http://{_shown(args.host)}:{serving.port}/#{await first(tables)}"
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)  # Windows has no loop.add_signal_handler
        before = {each: signal.signal(each, lambda *_: loop.call_soon_threadsafe(stopped.set)) for each in numbers}
        try:
            # only now: whoever reads the link may stop the server at once
            print(f"{about} {link}\nCtrl-C stops the server.", flush=True)
            if not args.no_browser:
                await asyncio.to_thread(webbrowser.open, link)
            await stopped.wait()
            await serving.close()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
    finally:
        store.close()
    return 0


def _shown(host: str) -> str:
    """Returns the address by which others reach this machine; a server that listens everywhere has several."""
    import socket

    if host in ("0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing: it only asks which address would be used
                return str(probe.getsockname()[0])
            except OSError:
                return socket.gethostname()
    return f"[{host}]" if ":" in host else host
