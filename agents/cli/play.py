"""Play against agents in the terminal.

  # a match against the game's baseline heuristic
  nainjaune play
  nainjaune play --resume
  nainjaune play --lang fr --preset classic --players 5 \\
      --agents lowest tally run_pot tally
  # three single rounds, the same cards every time
  nainjaune play --agents runs/first --rounds 3 --seed 7
  # you must type "7d takes" to take the pot
  nainjaune play --set announce=explicit --records mine.jsonl

Type what is shown before a card, then press Enter. ? shows the rules and the commands, hint a good move, q leaves the table. You
confirm each move, unless --no-confirm is given; u takes a move back if nobody has played since. A match that you leave is kept
until you leave another; --resume goes on with it. An agent is the name of a heuristic
(nainjaune agents) or the folder of a training run. Records of finished matches are appended to the file --records;
nainjaune record shows them.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs
from numpy.typing import NDArray

from nainjaune_env.core.errors import AgentError, ConfigError, RulesError

from ..base.seeds import Stream, generator
from ..tables.terminal.terminal import Terminal
from .arguments import add_color_argument, add_language_argument, add_seed_argument, integer, number
from .bot_options import add_bot_arguments, settings_of
from .setups import add_setup_arguments, game_of, settle_setup

if TYPE_CHECKING:
    from ..tables.terminal.saved import SavedMatch

NAME = "play"
HELP = "play against agents"
HINT_DEALS = 1000
"""Deals in which each move is tried for a hint, with rounds played to their end by the game's baseline heuristic."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_setup_arguments(parser)
    parser.add_argument("--resume", action="store_true", help="go on with the match that you left last")
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT",
        help="the agents in the other seats, in seat order, or one for all of them (default: the game's baseline heuristic)",
    )  # fmt: skip
    parser.add_argument("--seat", type=integer(0), help="your seat (default: 0)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--match", action="store_true", help="play a match (the default if the rules end it)")
    length.add_argument("--rounds", type=integer(1), metavar="N", help="play N single rounds")
    add_seed_argument(parser, default=None, meaning="the seed of cards and agents (default: random)")
    parser.add_argument("--records", type=Path, metavar="FILE", help="append the record of each finished match to this file")
    parser.add_argument("--name", help="your name in records (default: person)")
    add_language_argument(parser)
    add_color_argument(parser)
    parser.add_argument(
        "--pace",
        type=number(0, 3600),
        default=0.6,
        metavar="SECONDS",
        help="pause after each event of another seat (default: %(default)s)",
    )
    parser.add_argument(
        "--look", type=number(0, 3600), default=30.0, metavar="SECONDS",
        help="time to memorise cards that are shown once; 0: no limit (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--every-ply", action="store_true", help="make forced moves yourself, too")
    parser.add_argument("--no-confirm", action="store_true", help="play moves without confirmation")
    add_bot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.records.record import Record, append_record, check_appendable

    from ..base.devices import set_torch_threads
    from ..players.heuristics import yardstick
    from ..players.loading import load_agent
    from ..players.program.counting import BotCounts
    from ..tables.terminal.saved import load_match, make_private_folder, save_match, saved_path
    from ..tables.terminal.session import Session
    from ..tables.terminal.table import PersonsTable
    from ..tables.terminal.texts import TEXTS

    path = saved_path()
    match = load_match(path) if args.resume else None
    if match is None:
        match = _new_match(args)
    else:
        _check_resumable(args)
        if args.records is not None:
            match = structs.replace(match, records=os.path.abspath(args.records))
    setup, records = match.setup, None if match.records is None else Path(match.records)
    bots = settings_of(args)
    loaded = {name: load_agent(name, setup, bots=bots) for name in dict.fromkeys(match.agents)}
    others = [loaded[name] for name in match.agents]
    set_torch_threads(1)
    if records is not None:
        check_appendable(records)
        records.parent.mkdir(parents=True, exist_ok=True)  # an error must come before the game
    make_private_folder(path.parent)  # so must this one: a match that is left is written there
    stored: list[Path] = []

    def keep(record: Record) -> str:
        assert records is not None
        append_record(records, record)
        return str(records if args.records is None else args.records)

    def leave(plies: list[list[int]]) -> None:
        save_match(path, structs.replace(match, plies=plies))
        stored.append(path)

    def hint(tables: NDArray[Any]) -> int:
        from ..study.advice.adviser import Adviser  # compiles the loops of advice
        from ..study.advice.models import in_seats, players

        adviser = Adviser(setup, players(setup, in_seats(setup, [yardstick(setup.game.name)])))
        return int(adviser.advise(tables, generator(match.seed, Stream.ADVICE), deals=HINT_DEALS).best[0])

    table = PersonsTable(
        setup, match.seat, others, seed=match.seed, language=args.lang, by_rounds=match.rounds is not None,
        every_ply=match.every_ply,
    )  # fmt: skip
    seated = [agent.name for agent in others]
    seated.insert(match.seat, match.name)
    session = Session(
        table, Terminal(color=args.color, pace=args.pace), seated, keep=None if records is None else keep, leave=leave, hint=hint,
        look=args.look, confirm=not args.no_confirm,
    )  # fmt: skip
    if match.plies:
        session.repeat(match.plies)
    if hasattr(signal, "SIGHUP"):  # a terminal that is closed leaves the match too
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    texts = TEXTS[args.lang]
    notices = [texts.goes_on] if args.resume else [texts.waiting] if path.exists() else []
    status = session.run(match.rounds, notices=notices)
    if args.resume and not stored:
        path.unlink(missing_ok=True)  # it is over
    for line in BotCounts.taken(loaded.values()).lines():
        print(line)
    return status


def _new_match(args: argparse.Namespace) -> SavedMatch:
    """Returns the match that the arguments describe, without a ply."""
    from ..players.heuristics import yardstick
    from ..players.loading import playing_name
    from ..tables.terminal.saved import SavedMatch

    given = args.agents or [yardstick(game_of(args).name)]
    setup = settle_setup(args, given)
    names = [playing_name(name, setup) for name in given]
    if len(names) not in (1, setup.players - 1):
        raise AgentError(f"At a table of {setup.players}, --agents takes 1 or {setup.players - 1} names, not {len(names)}.")
    rounds = args.rounds
    if rounds is None and not args.match:
        try:
            setup.game.check_match(setup.rules)
        except RulesError:
            rounds = 1  # a match would have no end
    return SavedMatch(
        setup=setup,
        seat=0 if args.seat is None else args.seat,
        agents=names if len(names) > 1 else names * (setup.players - 1),
        name="person" if args.name is None else args.name,
        seed=secrets.randbelow(1 << 32) if args.seed is None else args.seed,
        rounds=rounds,
        every_ply=args.every_ply,
        records=None if args.records is None else os.path.abspath(args.records),
        plies=[],
    )


def _check_resumable(args: argparse.Namespace) -> None:
    """Raises :class:`ConfigError` for arguments that the match that was left has already."""
    for name in ("game", "preset", "players", "set", "agents", "seat", "match", "rounds", "seed", "name", "every_ply"):
        value = getattr(args, name)
        if value is not None and value is not False and value != []:  # a seat or a seed may be 0
            option = name.replace("_", "-")
            raise ConfigError(f"--{option} cannot be combined with --resume: the match that was left has it already.")
