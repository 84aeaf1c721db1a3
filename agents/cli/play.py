"""Play against agents in the terminal.

  # a match against the game's best heuristic
  nainjaune play
  nainjaune play --resume
  nainjaune play --lang fr --preset classic --players 5 \\
      --agents lowest tally run_pot tally
  # three single rounds, the same cards every time
  nainjaune play --agents runs/first --rounds 3 --seed 7
  # you must type "7d takes" to take the pot
  nainjaune play --set announce=explicit --records mine.jsonl

Type what is shown before a card, then press Enter. ? shows the rules and the commands, q leaves the table. You confirm each
move, unless --no-confirm is given; u takes a move back if nobody has played since. An agent is the name of a heuristic
(nainjaune evaluate --list) or the folder of a training run. Records of finished matches are appended to the file --records;
nainjaune record shows them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.speech import LANGUAGES

from .arguments import add_seed_argument, number, whole
from .setups import add_setup_arguments, game_of, settle_setup

NAME = "play"
HELP = "play against agents"
COLORS = ("auto", "always", "never")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_setup_arguments(parser)
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT",
        help="the agents in the other seats, in seat order, or one for all of them (default: the game's last heuristic)",
    )  # fmt: skip
    parser.add_argument("--seat", type=whole(0), default=0, help="your seat (default: %(default)s)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--match", action="store_true", help="play a match (the default if the rules end it)")
    length.add_argument("--rounds", type=whole(1), metavar="N", help="play N single rounds")
    add_seed_argument(parser, default=None, meaning="the seed of cards and agents (default: random)")
    parser.add_argument("--records", type=Path, metavar="FILE", help="append the record of each finished match to this file")
    parser.add_argument("--name", default="person", help="your name in records (default: %(default)s)")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="the language (default: %(default)s)")
    parser.add_argument(
        "--color",
        choices=COLORS,
        default="auto",
        help="colours; auto: on a terminal, unless NO_COLOR is set (default: %(default)s)",
    )
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


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    import secrets

    from nainjaune_env.core.errors import AgentError, RulesError
    from nainjaune_env.records.record import Record, append_record, check_appendable

    from ..heuristics import heuristics
    from ..loading import load_agent, use_threads
    from ..play.session import Session
    from ..play.table import PersonsTable
    from ..play.terminal import Terminal

    names = args.agents or list(heuristics(game_of(args).name))[-1:]
    setup = settle_setup(args, names)
    if len(names) not in (1, setup.players - 1):
        raise AgentError(f"At a table of {setup.players}, --agents takes 1 or {setup.players - 1} names, not {len(names)}.")
    others = [load_agent(name, setup) for name in (names if len(names) > 1 else names * (setup.players - 1))]
    use_threads(1)
    rounds = args.rounds
    if rounds is None and not args.match:
        try:
            setup.game.check_match(setup.rules)
        except RulesError:
            rounds = 1  # a match would have no end
    if args.records is not None:
        check_appendable(args.records)
        args.records.parent.mkdir(parents=True, exist_ok=True)  # an error must come before the game

    def keep(record: Record) -> str:
        append_record(args.records, record)
        return str(args.records)

    seed = secrets.randbelow(1 << 32) if args.seed is None else args.seed
    table = PersonsTable(
        setup, args.seat, others, seed=seed, language=args.lang, by_rounds=rounds is not None, every_ply=args.every_ply
    )
    seated = [agent.name for agent in others]
    seated.insert(args.seat, args.name)
    terminal = Terminal(color=args.color, pace=args.pace)
    session = Session(
        table, terminal, seated, keep=None if args.records is None else keep, look=args.look, confirm=not args.no_confirm
    )
    return session.run(rounds)
