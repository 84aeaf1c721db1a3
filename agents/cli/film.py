"""Render a round as an animated GIF, or one position as a picture.

  # from a record, as seat 0 saw it
  nainjaune film matches.jsonl --match 2 --round 1 --seat 0 --out round.gif
  # a new round between agents
  nainjaune film --agents lowest tally longest random --seed 3 --out round.gif
  # one picture: .svg or .png
  nainjaune film matches.jsonl --ply 12 --lang fr --out table.svg

A new round begins with the deal of Batch(setup, 1, seed=SEED). With --seat the pictures show what that seat may see, otherwise
every hand.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import AgentError, ConfigError, RulesError
from nainjaune_env.core.printable import printable
from nainjaune_env.render.film import MAX_SECONDS
from nainjaune_env.render.raster import MAX_SCALE, MIN_SCALE

from .arguments import add_language_argument, add_seed_argument, integer, number
from .bot_options import add_bot_arguments, settings_of
from .files import check_new, read_match
from .progress import progress_bar
from .setups import add_setup_arguments, settle_setup

if TYPE_CHECKING:
    from nainjaune_env.records.record import Record

NAME = "film"
HELP = "render a round as a GIF, or a position as a picture"

ENDINGS = (".gif", ".png", ".svg")
OPTIONS = {"ply": (".png", ".svg"), "scale": (".gif", ".png"), "seconds": (".gif",), "hold": (".gif",)}
"""The options that apply to some files only, with the endings of these."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="a file of records (.jsonl); without it a new round is played")
    parser.add_argument("--match", type=integer(1), metavar="N", help="the number of the match, from 1 (default: 1)")
    parser.add_argument("--round", type=integer(1), default=1, metavar="N", help="the number of the round, from 1 (default: 1)")
    parser.add_argument("--agents", nargs="+", metavar="AGENT", help="the agents in seat order, repeated if there are more seats")
    add_setup_arguments(parser)
    add_seed_argument(parser, default=None, meaning="the seed of a new round (default: 0)")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="a new file: .gif for a film, .png or .svg for a picture"
    )
    parser.add_argument(
        "--seat", type=integer(0), help="the seat whose view is shown (default: a spectator, who sees every hand)"
    )
    add_language_argument(parser)
    parser.add_argument(
        "--ply", type=integer(0), metavar="N", help="show the picture after N plies; 0: the deal (default: all plies)"
    )
    parser.add_argument("--scale", type=number(MIN_SCALE, MAX_SCALE), help="scale of a .gif (default: 0.6) or .png (default: 1)")
    parser.add_argument("--seconds", type=number(0.01, MAX_SECONDS), help="seconds per picture of a film (default: 0.8)")
    parser.add_argument(
        "--hold",
        type=number(0.01, MAX_SECONDS),
        metavar="SECONDS",
        help="time that the last picture of a film is shown (default: 4.0)",
    )
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.records.record import setup_of, shown_names

    if args.out.suffix not in ENDINGS:
        raise ConfigError(f"--out must end in {', '.join(ENDINGS)}, not {str(args.out)!r}.")
    for name, endings in OPTIONS.items():
        if getattr(args, name) is not None and args.out.suffix not in endings:
            raise ConfigError(f"--{name} is for {' or '.join(endings)}, and cannot be used for {args.out.suffix}.")
    check_new(args.out)
    record = _played(args) if args.file is None else _written(args)
    setup = setup_of(record)
    if setup.game.pictures is None:
        raise RulesError(f"The game {setup.game.name!r} has no pictures.")
    if args.seat is not None and args.seat not in range(setup.players):
        raise ConfigError(f"--seat must be from 0 to {setup.players - 1}, not {args.seat}.")
    names = shown_names(record)
    film = setup.game.pictures.film(setup, record, args.seat, part=args.round, language=args.lang, names=names)
    pictures = list(film)
    if args.out.suffix == ".gif":
        _film(args, pictures)
        print(f"{printable(str(args.out))}: {len(pictures)} pictures")
    else:
        _picture(args, pictures)
        print(printable(str(args.out)))
    return 0


def _written(args: argparse.Namespace) -> Record:
    """Returns the match of the file that the arguments name."""
    for name in ("agents", "game", "preset", "players", "set", "seed"):
        if getattr(args, name) not in (None, []):
            raise ConfigError(f"--{name} is for a new round, and cannot be used with the file {args.file}.")
    return read_match(args.file, args.match or 1)


def _played(args: argparse.Namespace) -> Record:
    """Returns the record of a new round between the agents."""
    from ..base.devices import set_torch_threads
    from ..measure.arena.matches import record_round
    from ..players.loading import load_agent
    from ..players.program.counting import BotCounts

    if not args.agents:
        raise AgentError("Give a file of records or the agents of a new round, as in --agents lowest tally.")
    if args.match is not None:
        raise ConfigError("--match is for a file of records, and cannot be used for a new round.")
    seed = 0 if args.seed is None else args.seed
    setup = settle_setup(args, args.agents)
    if len(args.agents) > setup.players:
        raise AgentError(f"There are {setup.players} seats, too few for {len(args.agents)} agents.")
    set_torch_threads(1)
    bots = settings_of(args)
    agents = [load_agent(name, setup, bots=bots) for name in args.agents]
    record = record_round(setup, agents, seed=seed)
    for line in BotCounts.taken(agents).lines():
        print(line)
    return record


def _film(args: argparse.Namespace, pictures: list[str]) -> None:
    from nainjaune_env.render.film import write_gif

    options = {"scale": args.scale, "seconds": args.seconds, "last_seconds": args.hold}
    given = {name: value for name, value in options.items() if value is not None}
    with progress_bar(total=len(pictures), unit="picture") as bar:
        write_gif(pictures, args.out, **given, progress=bar.update)


def _picture(args: argparse.Namespace, pictures: list[str]) -> None:
    from nainjaune_env.render.raster import write_png

    last = len(pictures) - 1
    ply = last if args.ply is None else args.ply
    if not 0 <= ply <= last:
        raise ConfigError(f"--ply must be from 0 to {last} in this round, not {ply}.")
    if args.out.suffix == ".svg":
        write_text(args.out, pictures[ply])
    else:
        write_png(pictures[ply], args.out, 1.0 if args.scale is None else args.scale)
