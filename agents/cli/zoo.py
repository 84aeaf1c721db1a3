"""List the zoo of trained networks that ship with the package, show their model cards, add one, or rate one again.

  nainjaune zoo
  nainjaune zoo strong
  nainjaune evaluate --agents zoo:strong tally lowest
  nainjaune zoo strong --add runs/mine --against tally lowest \\
      --start fresh pots=20 \\
      --note 'PPO, ten minutes'
  nainjaune zoo strong --against mixed --seed 5

Without a name: all players, one line per file. With a name: the model cards of that player, with the commands that reproduce
it and its edges over fields of other agents, with 95 % intervals over deals. --add rates the network of a finished run and
adds it to the zoo without the training state. A run that was made with files that differ from its commit is refused, unless
--local-changes is given; the model card says so then. A network for all tables is rated at every preset and number of seats.
With several --start it is rated at each of them. Several runs that began from the same network (init) are added as one, the mean
of their weights, which was stronger than each of them (docs/lab/zoo.md). --against without --add rates a player again, at the
tables at which its cards have ratings, and puts the edges on the cards.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.errors import AgentError, ConfigError, as_sentence, quoted, unknown_name_message
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from ..measure.report.format_ci import mean_ci
from ..measure.stats.differences import CALIBRATED_COUNT, HEAVY_COUNT, ROUGH
from .agents import player_row
from .arguments import add_seed_argument, integer
from .progress import progress_bar
from .streams import print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..measure.store import Store
    from ..players.zoo import Player, PlayerRegistry, Rating

NAME = "zoo"
HELP = "list the trained players, show their model cards, add one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="PLAYER", help="the player: strong, or zoo:strong")
    parser.add_argument(
        "--add", type=Path, nargs="+", metavar="RUN",
        help="add the network of the finished run RUN as PLAYER; several that began from one: the mean of their weights",
    )  # fmt: skip
    parser.add_argument("--note", help="with --add: a description in a sentence")
    parser.add_argument(
        "--local-changes", action="store_true", help="with --add: also a run that was made with files that differ from its commit"
    )
    parser.add_argument("--against", nargs="+", metavar="AGENT", help="agents in whose fields it is rated")
    parser.add_argument(
        "--start", nargs="+", default=["fresh"], metavar="START",
        help="what rounds start with in these ratings: 'fresh', 'carried', 'pots=20', one or more (default: fresh)",
    )  # fmt: skip
    parser.add_argument("--deals", type=integer(2), default=10_000, help="number of deals of each rating (default: %(default)s)")
    add_seed_argument(parser, default=2)
    parser.add_argument(
        "--rows", type=Path, metavar="DIR", help="keep what is played in this folder: a rating that was stopped goes on from it"
    )  # fmt: skip
    parser.add_argument("--folder", type=Path, help="folder of another zoo (default: the package's own)")


def run(args: argparse.Namespace) -> int:
    from ..measure.report.text import align
    from ..players.zoo import PREFIX, PlayerRegistry
    from ..players.zoo.registry import check_player_name

    registry = PlayerRegistry() if args.folder is None else PlayerRegistry(args.folder)
    name = None if args.name is None else args.name.removeprefix(PREFIX)
    if args.add is not None:
        if name is None or not args.note or not args.against:
            raise ConfigError("--add needs a name, --note and --against: nainjaune zoo NAME --add RUN --note … --against AGENT …")
        check_player_name(name)
        return _add(args, name, registry)
    if args.rows is not None and not args.against:
        raise ConfigError("--rows keeps what a rating plays: it needs --against.")
    if args.note or args.local_changes:
        raise ConfigError("--note and --local-changes need --add.")
    if args.against and name is None:
        raise ConfigError("--against needs the name of the player that is rated: nainjaune zoo NAME --against AGENT …")
    if not registry.folder.is_dir():
        raise ConfigError(f"There is no folder at {quoted(str(registry.folder))}.")
    os.listdir(registry.folder)  # which raises where it may not be read; to glob it is empty then
    if not registry.names():
        raise ConfigError(f"There are no players in the folder {quoted(str(registry.folder))}.")
    if name is not None and name not in registry.names():
        raise AgentError(unknown_name_message("zoo player", name, registry.names()))
    players = list(registry.players(name))
    if args.against:
        return _rate(args, players)
    if name is None:
        print("\n".join(align([player_row(player) for player in players], left=range(3))))
    for player in players if name is not None else ():
        print("\n".join([*map(printable, _card(player)), ""]))
    return 0


def _add(args: argparse.Namespace, name: str, registry: PlayerRegistry) -> int:
    from ..base.task import Task, parse_start
    from ..train.publish import publish

    setups = _setups(args.add[0])
    tasks = [Task(start=parse_start(start)) for start in args.start]
    total = 2 * len(setups) * len(tasks) * len(args.against) * args.deals
    with _store(args) as store, progress_bar(total=total, unit="deal") as bar:
        path = publish(
            args.add, name, setups, against=args.against, deals=args.deals, seed=args.seed, note=args.note,
            registry=registry, tasks=tasks, local_changes=args.local_changes,
            store=store, progress=bar.update,
        )  # fmt: skip
    print(f"Added: {printable(str(path))}")
    return 0


def _rate(args: argparse.Namespace, players: Sequence[Player]) -> int:
    """Rates ``players`` again, and says where an agent of --against does not play; if at none, that is an error."""
    from ..base.task import Task, parse_start
    from ..players.zoo import save_card
    from ..train.publish import rate, rated_setups

    tasks = [Task(start=parse_start(start)) for start in args.start]
    refusals = []
    for player in players:
        total = 2 * len(rated_setups(player.card)) * len(tasks) * len(args.against) * args.deals
        try:
            with _store(args) as store, progress_bar(total=total, unit="deal") as bar:
                card = rate(
                    player, against=args.against, deals=args.deals, seed=args.seed, tasks=tasks, store=store,
                    progress=bar.update,
                )  # fmt: skip
        except AgentError as error:
            refusals.append(error)
            print_text(printable(f"Not rated: {player.name}, {player.plays_at}. {as_sentence(error)}"))
            continue
        save_card(player.path.with_suffix(".json"), card)
        print(printable(f"Rated: {player.name}, {player.plays_at}."))
    if len(refusals) == len(players):
        raise refusals[0]
    return 0


@contextmanager
def _store(args: argparse.Namespace) -> Iterator[Store | None]:
    """Opens the store in ``--rows``; None where it is not given."""
    from ..measure.store import Store

    if args.rows is None:
        yield None
        return
    with Store(args.rows) as store:
        yield store


def _setups(run: Path) -> list[Setup]:
    """Returns the setups at which the network of a run is rated: its setups of training."""
    from ..players.networks.checkpoint import load_checkpoint
    from ..train.multitask import mixed_setups

    checkpoint = load_checkpoint(run)
    if checkpoint.common:
        return mixed_setups(checkpoint.game, checkpoint.config["mixture"], checkpoint.config["rules"])
    return [checkpoint.setup]


def _card(player: Player) -> list[str]:
    """Returns the lines on a player's model card."""
    from ..measure.report.text import align

    card = player.card
    decisions, minutes = f"{card.decisions / 1e6:.3g} million decisions", f"{card.seconds / 60:.1f} minutes"
    lines = [
        f"{player.name}: {player.plays_at}",
        card.note,
        f"Trained by {card.algorithm}: {decisions}, {minutes}, on {card.machine}, {card.made_at}. Reproduced by:",
        *(f"  {command}" for command in card.made_by),
        *(["House rules under which it plays, too:"] if card.house_rules else []),
        *(f"  {rules.table}" for rules in card.house_rules),
    ]
    rated = [[rating.field, *_measured(rating)] for rating in card.ratings]
    gains = [[f"@{gain.search}", *_measured(gain)] for gain in card.search_gains]
    rough = any(
        rating.deals < (HEAVY_COUNT if rating.task.draws else CALIBRATED_COUNT) for rating in (*card.ratings, *card.search_gains)
    )
    for heading, rows in (("Edges, a round, over a field of", rated), ("Gain left to a search, a round", gains)):
        lines += [heading, *(f"  {line}" for line in align(rows, left=(0, 1, 3)))] if rows else []
    return [*lines, *([ROUGH] if rough else [])]


def _measured(rating: Rating) -> list[str]:
    """Returns the table, the edge, and over how many deals."""
    return [rating.table, mean_ci(rating.mean, rating.ci95), f"{rating.deals} deals, seed {rating.seed}"]
