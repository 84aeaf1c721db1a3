"""Players in the box: trained networks that come with the package, and what they are worth.

  nainjaune zoo
  nainjaune zoo strong
  nainjaune evaluate --agents zoo:strong tally lowest
  nainjaune zoo strong --add runs/mine --against tally lowest --note 'PPO, ten minutes'

Without a name: all of them, a line a file. With one: the cards of that player, which say how it was made, by what commands it
is made again, and its edges over fields of other agents, with 95 % intervals over deals. --add rates the network of a
finished run and puts it, without what only training needs, into the box; one for all tables is rated at every sheet and
number of seats.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nainjaune_env.core.spec import Setup

    from ..zoo import Player, Shelf

NAME = "zoo"
HELP = "list the players in the box, show their cards, add one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", nargs="?", metavar="PLAYER", help="whose cards to show, or to add to: strong, or zoo:strong")
    parser.add_argument("--add", type=Path, metavar="RUN", help="put the network of the finished run RUN into the box as PLAYER")
    parser.add_argument("--note", help="with --add: a sentence for its card")
    parser.add_argument("--against", nargs="+", metavar="AGENT", help="with --add: in whose fields to rate it")
    parser.add_argument("--deals", type=int, default=10_000, help="deals of each rating (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=2, help="deals and all other chance come from it (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="another box (default: the package's own)")


def run(args: argparse.Namespace) -> int:
    """Carry it out."""
    from nainjaune_env.core.errors import AgentError, ConfigError, choose_one

    from ..zoo import PREFIX, Shelf, shelf

    box = shelf() if args.folder is None else Shelf(args.folder)
    name = None if args.name is None else args.name.removeprefix(PREFIX)
    if args.add is not None:
        if name is None or not args.note or not args.against:
            raise ConfigError("--add takes a name, --note and --against: nainjaune zoo NAME --add RUN --note … --against AGENT …")
        if args.deals < 2 or args.seed < 0:
            raise ConfigError(f"--deals is at least 2 and --seed at least 0, not {args.deals} and {args.seed}.")
        return _add(args, name, box)
    if args.note or args.against:
        raise ConfigError("--note and --against go with --add.")
    if name is not None and name not in box.names():
        raise AgentError(choose_one("player in the box", name, box.names()))
    for player in box.players(name):
        print("\n".join(_line(player) if name is None else [*_card(player), ""]))
    return 0


def _add(args: argparse.Namespace, name: str, box: Shelf) -> int:
    from tqdm import tqdm

    from ..zoo.publish import shelve

    setups = _setups(args.add)
    total = len(setups) * len(args.against) * args.deals
    with tqdm(total=total, unit="deal", file=sys.stderr, dynamic_ncols=True, leave=False) as bar:
        path = shelve(
            args.add, name, setups, against=args.against, deals=args.deals, seed=args.seed, note=args.note, shelf=box,
            progress=bar.update,
        )  # fmt: skip
    print(f"In the box: {path}")
    return 0


def _setups(run: Path) -> list[Setup]:
    """Where the network of a run is rated: what it was trained at."""
    from ..loading import setup_of_runs
    from ..nets.checkpoint import load_checkpoint
    from ..trainers.multitask import mixed_setups

    kept = load_checkpoint(run)
    if kept.common:
        return mixed_setups(kept.game, kept.config["mixture"], kept.config["rules"])
    own = setup_of_runs([str(run)], kept.game)
    assert own is not None
    return [own]


def _line(player: Player) -> list[str]:
    ratings = player.card.ratings
    first = ratings[0]
    own = [rating for rating in ratings if rating.field == first.field]
    low, high = min(rating.mean for rating in own), max(rating.mean for rating in own)
    edge = f"{first.mean:+.3f} ± {first.ci95:.3f}" if len(own) == 1 else f"{low:+.2f} … {high:+.2f}"
    return [f"{player.name:<14} {player.plays_at:<44} {edge} over {first.field}"]


def _card(player: Player) -> list[str]:
    """A card for people."""
    card = player.card
    decisions, minutes = f"{card.decisions / 1e6:.3g} million decisions", f"{card.seconds / 60:.1f} minutes"
    lines = [
        f"{player.name}: {player.plays_at}",
        card.note,
        f"Trained by {card.algorithm}: {decisions}, {minutes}, on {card.machine}, at commit {card.commit}. Again by:",
        *(f"  {command}" for command in card.made_by),
        "Edges, a round, over a field of",
    ]
    for rating in card.ratings:
        knobs = "".join(f" {knob}={value}" for knob, value in rating.knobs.items())
        where = f"{rating.preset}{knobs}, {rating.players} seats"
        lines.append(
            f"  {rating.field:<10} {where:<28} {rating.mean:+.3f} ± {rating.ci95:.3f}   {rating.deals} deals, seed {rating.seed}"
        )
    return lines
