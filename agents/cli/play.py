"""Play at a table against agents, in the terminal.

  nainjaune play                                                  # a match against the game's best rule of thumb
  nainjaune play --lang fr --preset classic --players 5 --agents lowest tally run_pot tally
  nainjaune play --agents runs/first --rounds 3 --seed 7          # three rounds by themselves, the same cards every time
  nainjaune play --set announce=explicit --records mine.jsonl     # say "7d takes", or get nothing

Type what stands in front of a card, then Enter; ? shows the rules, the words and the keys, q leaves the table. Each move is
to be confirmed (--no-confirm: it is not), and u takes one back as long as nobody has played since. An agent is a
heuristic's name (nainjaune evaluate --list) or the folder of a run. Finished matches are added to --records, and what
is there already is kept; nainjaune record shows them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.speech import LANGUAGES

from .setups import add_setup_arguments, game_of, settle_setup

NAME = "play"
HELP = "play at a table yourself"
COLORS = ("auto", "always", "never")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_setup_arguments(parser)
    parser.add_argument(
        "--agents", nargs="+", metavar="AGENT",
        help="who plays in the other seats, in seat order; one for all of them (default: the game's last rule of thumb)",
    )  # fmt: skip
    parser.add_argument("--seat", type=int, default=0, help="your seat (default: %(default)s)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--match", action="store_true", help="play a whole match (the default, where the rules give it an end)")
    length.add_argument("--rounds", type=int, metavar="N", help="play so many rounds, each by itself")
    parser.add_argument("--seed", type=int, help="cards and all other chance come from it (default: another one every time)")
    parser.add_argument("--records", type=Path, metavar="FILE", help="add the record of each finished match to this file")
    parser.add_argument("--name", default="person", help="your name in records (default: %(default)s)")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="the language (default: %(default)s)")
    parser.add_argument(
        "--color", choices=COLORS, default="auto", help="auto: on a terminal, unless NO_COLOR is set (default: %(default)s)"
    )
    parser.add_argument(
        "--pace", type=float, default=0.6, metavar="SECONDS", help="pause after what another seat does (default: %(default)s)"
    )
    parser.add_argument(
        "--look", type=float, default=30.0, metavar="SECONDS",
        help="how long you see what is shown only once; 0: until Enter (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--every-ply", action="store_true", help="be asked also where you have no choice")
    parser.add_argument("--no-confirm", action="store_true", help="play moves without asking whether they are meant")


def run(args: argparse.Namespace) -> int:
    """Carry it out."""
    import secrets

    from nainjaune_env.core.errors import AgentError, ConfigError, RulesError
    from nainjaune_env.records.record import Record, append_record, check_appendable

    from ..heuristics import heuristics
    from ..loading import load_agent, use_threads
    from ..play.session import Session
    from ..play.table import PersonsTable
    from ..play.terminal import Terminal

    names = args.agents or list(heuristics(game_of(args).name))[-1:]
    setup = settle_setup(args, names)
    if len(names) not in (1, setup.players - 1):
        raise AgentError(f"At a table of {setup.players}, --agents names 1 or {setup.players - 1} of them, not {len(names)}.")
    others = [load_agent(name, setup) for name in (names if len(names) > 1 else names * (setup.players - 1))]
    use_threads(1)
    if args.rounds is not None and args.rounds < 1:
        raise ConfigError(f"--rounds is at least 1, not {args.rounds}.")
    if not (args.pace >= 0 and args.look >= 0):  # nor NaN
        raise ConfigError(f"--pace and --look are seconds, at least 0, not {args.pace:g} and {args.look:g}.")
    if args.seed is not None and args.seed < 0:
        raise ConfigError(f"--seed is at least 0, not {args.seed}.")
    rounds = args.rounds
    if rounds is None and not args.match:
        try:
            setup.game.check_match(setup.rules)
        except RulesError:
            rounds = 1  # a match would have no end
    if args.records is not None:
        check_appendable(args.records)
        args.records.parent.mkdir(parents=True, exist_ok=True)  # where that fails, it fails before the game

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
