"""Rate agents at the tasks of a split, by chips, duplicate edge, advantage and regret.

  nainjaune leaderboard --agents closer tally lowest --tasks 50 --out board
  nainjaune leaderboard --agents chat:gpt-5 closer --game batasaurus \\
      --set memory=perfect --out board --chat tokens=2000000

At each task one agent sits in the task's seat, in a field of --field, and every agent plays the same deal. Edge is its payoff
minus what the field's agent gets in that seat on that deal. Advantage is what its decisions gained over the moves of the
adviser's own player, regret what they lost against the best moves that it chooses (nainjaune analyse); both are exact where the
game is solved. Intervals are over tasks. Differences are from the first agent at the same tasks.

--out gets leaderboard.json, leaderboard.md and rows.jsonl, a line for each round. The same command, with more agents or tasks
too, goes on from the lines that are there. docs/language_models.md says what the measures show.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.printable import printable
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import get_game

from ..players.program.settings import FORFEIT
from .advise import MAX_DEALS
from .arguments import add_seed_argument, integer
from .bot_options import add_bot_arguments, settings_of
from .duplicate import add_agents_argument
from .files import write_json
from .progress import progress_bar
from .streams import print_text

NAME = "leaderboard"
HELP = "rate agents, language models among them, at the tasks of a split"
SPLITS = ("train", "test", "held_out")
"""As in ``language.tasks``, which is too slow to import before the command line is parsed."""
NUMBERS, PAGE = "leaderboard.json", "leaderboard.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_agents_argument(parser, "one or more agents; differences are from the first")
    parser.add_argument("--game", default=DEFAULT_GAME, help="the game (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="a rule knob of all tasks")
    parser.add_argument("--split", choices=SPLITS, default="test", help="of the tasks (default: %(default)s)")
    parser.add_argument("--tasks", type=integer(2), default=100, help="number of tasks (default: %(default)s)")
    parser.add_argument("--field", metavar="AGENT", help="who plays all other seats (default: the game's baseline heuristic)")
    parser.add_argument(
        "--adviser", metavar="AGENT", help="who plays the adviser's rounds (default: zoo:strong where it plays, else the field's)"
    )
    deals = integer(2, MAX_DEALS)
    parser.add_argument(
        "--choosing", type=deals, default=500, metavar="DEALS", help="deals to find the best move in (default: %(default)s)"
    )
    parser.add_argument(
        "--measuring", type=deals, default=2000, metavar="DEALS", help="deals to measure it in (default: %(default)s)"
    )
    add_seed_argument(parser, meaning="seed of the adviser's deals (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the rounds and the leaderboard")
    add_bot_arguments(parser, on_fault=FORFEIT)


def run(args: argparse.Namespace) -> int:
    from ..base.devices import set_torch_threads
    from ..base.provenance import provenance
    from ..language.board import Leaderboard, markdown, standings, text
    from ..language.settings import TextEnvSettings
    from ..measure.player_id import settings_that_decide
    from ..train.config import apply_settings

    game = get_game(args.game)
    set_torch_threads(1)
    settings = TextEnvSettings(
        field=args.field, adviser=args.adviser, choosing=args.choosing, measuring=args.measuring, seed=args.seed
    )
    knobs, bots = apply_settings({}, args.set), settings_of(args)
    board = Leaderboard(tuple(args.agents), game.name, args.split, args.tasks, knobs, settings, bots)
    with progress_bar(total=len(board.agents) * board.count, unit="round") as bar:
        rows = board.play(args.out, bar.update)
    places = standings(rows)
    numbers = [{**one.to_dict(), **settings_that_decide(one.agent, bots)} for one in places]
    content = {**board.head, "tasks": board.count, "unit": game.unit, "standings": numbers, **provenance()}
    write_json(args.out / NUMBERS, content)
    write_text(args.out / PAGE, markdown(board, places, game.unit))
    print_text(f"{text(board, places, game.unit)}\nLeaderboard: {printable(str(args.out / PAGE))}")
    return 0
