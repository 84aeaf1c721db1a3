"""Rate a folder of players against each other, and write the ladder's page.

  nainjaune ladder examples/ladder
  nainjaune ladder examples/ladder --deals 4000 --minutes 30 --workers 4
  nainjaune ladder examples/ladder --check my-bot --build

DIR has ladder.toml, which says what is measured, and a file in entries/ for each player: a heuristic, a network, a model of
another library, a program. Batches of deals go to the pairs that teach most about the ranking, until entries have --deals each
at each table in the mean, or all neighbours are told apart, or --minutes are over. Results are kept in DIR/results: only pairs
whose entries are new or have changed are played, and a command that was stopped goes on. DIR/site/index.html has the ratings.
--deals 0 only writes it.

--check verifies a submission: ENTRY plays a sample whose records are verified, and a random part of the kept results is played
again, and has to come out the same to the byte. If not, the exit status is 1. docs/ladder.md says how to submit.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nainjaune_env.core.printable import printable

from ..measure.report.format_ci import mean_ci
from .arguments import add_seed_argument, integer, number
from .progress import progress_bar
from .streams import print_note, print_text
from .workers import add_place_arguments, check_place, place_of

if TYPE_CHECKING:
    from ..measure.ladder.play import Players
    from ..measure.ladder.results import Results

NAME = "ladder"
HELP = "rate a folder of players against each other, on a page"
DEALS = 2000
DIFFERENT = 1
"""The exit status where a result did not come out the same again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the ladder")
    parser.add_argument(
        "--deals", type=integer(0), default=DEALS,
        help="deals of an entry at a table in the mean, kept ones included (default: %(default)s; 0: only the page)",
    )  # fmt: skip
    parser.add_argument("--minutes", type=number(0, 1e6), help="stop after so many minutes (default: no limit)")
    parser.add_argument("--build", action="store_true", help="run the commands by which entries are built")
    parser.add_argument("--check", metavar="ENTRY", help="verify this entry instead, by its file, with or without .toml")
    add_seed_argument(parser, default=None, meaning="what --check draws (default: another each time, which is printed)")
    add_place_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from nainjaune_env.core.atomic_files import locked
    from nainjaune_env.core.errors import ConfigError, WorkError

    from ..base.devices import set_torch_threads
    from ..measure.ladder.check import entry_named
    from ..measure.ladder.entries import SETTINGS, read_ladder
    from ..measure.ladder.page import PAGE, SITE, write_site
    from ..measure.ladder.play import Players, build, deals_an_entry, play
    from ..measure.ladder.results import Pairing, Results

    check_place(args)
    if args.seed is not None and args.check is None:
        raise ConfigError("--seed is what --check draws; that of the deals stands in ladder.toml.")
    ladder = read_ladder(args.folder)
    key = None if args.check is None else entry_named(ladder, args.check)
    try:
        with locked(args.folder / SETTINGS, wait=False):
            if args.build:
                build([*ladder.entries.values()])
            results, players = Results(ladder), Players(ladder)
            set_torch_threads(1)
            if key is not None:
                return _check(args, results, players, key)
            for sentence in results.store.damaged:
                print_note(sentence)
            before = sum(pairing.deals for pairing in results.pairings.values())
            with progress_bar(unit="deal") as bar:

                def progress(pairing: Pairing, deals: int) -> None:
                    bar.set_postfix_str(f"{pairing.table}: {pairing.one}, {pairing.other}", refresh=False)
                    bar.update(deals)

                seconds = None if args.minutes is None else 60 * args.minutes
                executor = place_of(args, bar.set_postfix_str, ladder.bots)
                apart = args.deals > 0 and play(
                    results, players, executor, deals=args.deals, seconds=seconds, progress=progress
                )  # fmt: skip
            ratings = write_site(results, players)
    except TimeoutError:
        raise WorkError(f"Another command works in {str(args.folder)!r}: wait for its end.") from None
    estimates = next(iter(ratings.columns.values())).estimates()
    keys = list(ladder.entries)
    for place, name in enumerate(ratings.ranking, 1):
        estimate = estimates[keys.index(name)]
        shown = mean_ci(estimate.mean, estimate.ci95) if estimate.known else "no rating over all tables"
        print(f"{place:3}  {printable(ladder.entries[name].name)}  {shown}")
    played = sum(pairing.deals for pairing in results.pairings.values()) - before
    print_text(f"{played:,} deals played; {deals_an_entry(results):,.0f} of an entry at a table in the mean.")
    if ratings.rated:
        of = f"{ratings.told_apart} of {ratings.rated - 1}"
        print("All neighbours are told apart." if apart else f"{of} neighbours are told apart.")
    print(f"Page: {printable(str(args.folder / SITE / PAGE))}")
    return 0


def _check(args: argparse.Namespace, results: Results, players: Players, key: str) -> int:
    """Verifies an entry; returns the exit status. Raises :class:`WorkError` where results are not believed."""
    import secrets

    from nainjaune_env.core.errors import WorkError

    from ..base.seeds import Stream, generator
    from ..measure.ladder.check import check_entry
    from ..measure.ladder.page import write_site

    if results.store.damaged:
        raise WorkError(" ".join(results.store.damaged))
    seed = secrets.randbits(32) if args.seed is None else args.seed
    with progress_bar() as bar:
        check = check_entry(results, players, key, generator(seed, Stream.LADDER), seed, bar.set_postfix_str)
    write_site(results, players)
    print_text(f"{key}: {check.sentence()}.")
    return DIFFERENT if check.differing else 0
