"""Compare agents by duplicate play, with 95 % confidence intervals.

  nainjaune evaluate --agents random lowest run_pot --preset classic \\
      --players 4 --deals 2000 --seed 1 --out results
  nainjaune evaluate --agents lowest runs/first --out results \\
      --records matches.jsonl --matches 50

An agent is the name of a heuristic (see nainjaune agents), the folder of a run, or a player from elsewhere such as exec:./bot
(docs/players.md); runs/first@sample draws from the policy instead of playing the likeliest action. Other suffixes, such as
tally@search=50, are in docs/search.md and docs/heuristics.md. mixed, or mixed:closer+tally, is another player in each seat.
For every ordered pair, a hero sits in each seat in turn, in a field of the other agent, on the same deals. The edge is the
hero's payoff minus what the field gets in that seat on that deal.
The table of edges is printed; --out gets results.html (who is stronger, and how they play), .csv, .json, .txt and .png, and in
rows/ what was played. The same command plays nothing twice: with more deals or one more agent, it plays what is missing.
--records also plays whole matches among all agents, with rotating seats and the preset's own stacks, and writes their records.

  nainjaune evaluate --agents runs/second runs/first --until-decided \\
      --bounds 0 0.05

--until-decided compares two agents by a sequential test (GSPRT) that looks every 256 deals, and stops when it decides between an
advantage of at most LOW and one of at least HIGH, or at --deals.

  nainjaune evaluate --one-way --agents zoo:strong@search=50 zoo:strong

--one-way plays only the first agent, in a field of each other: the same edges of it in a fraction of the time, where it is slow.
--control-variates does so, too, and averages the luck of hidden cards out: where hero and field act otherwise, what follows is
also played on other deals that the hero cannot tell from the true one. The field must always act alike in the same position.
--one-table plays all agents at one table, too, in all rotations of the seats.

  nainjaune evaluate --agents closer zoo:strong --preset classic \\
      --episode match --deals 500

--start says what rounds start with: fresh is the first round of a match, carried a round in the middle of one. --objective
centred counts payoffs less the mean of the table. --episode match rates whole matches, in which every round is played with the
same cards whichever agents play. docs/evaluation.md says what that means.

  nainjaune evaluate --agents zoo:strong@search=50 closer --workers 8 \\
      --chunk 64 --out results

--workers N plays in N processes, and --cluster ADDRESS on a Ray cluster, with the same results to the last byte for every N.
--shard I/N plays one part in N into --out, for job arrays; the same command without it puts the parts together, and --only-read
makes a missing part an error. docs/scale.md has more. --verify N plays N rows of --out again, and ends with status 1 where one
comes out otherwise.

--device cuda keeps the tables and the agents on an NVIDIA GPU: heuristics, random, and networks. Deals are the same, and so
are edges, except for agents that draw and for logits that are equal up to rounding. Searches, solutions and agents with other
suffixes than @sample play on the CPU only. Records and the measures of a report are computed on the CPU.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import ConfigError, WorkError
from nainjaune_env.core.printable import printable
from nainjaune_env.core.spec import Setup

from .arguments import integer, number
from .bot_options import settings_of
from .duplicate import (
    DEALS,
    add_agents_argument,
    add_deals_argument,
    add_device_argument,
    add_out_argument,
    add_table_arguments,
    load_players,
)
from .files import check_new
from .progress import progress_bar
from .streams import print_note, print_text
from .workers import add_resumed_arguments, check_place, goes_on, place_of

if TYPE_CHECKING:
    from nainjaune_env.agent import Agent

    from ..measure.cross_table import CrossTable
    from ..measure.plan import Measurement
    from ..measure.stats.sequential import SequentialTest
    from ..measure.store import Store

NAME = "evaluate"
HELP = "compare agents by duplicate play"

ROWS = "rows"
"""The folder of rows in ``--out``."""
MATCHES = 100
"""Default number of matches for ``--records``."""
MAX_DEALS = 100_000
"""Default number of deals at which an undecided test stops."""
DIFFERENT = 1
"""The exit status where a row did not come out the same again."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_agents_argument(parser, "two or more agents")
    add_table_arguments(parser)
    add_deals_argument(
        parser,
        f"number of deals, or of matches with --episode match (default: {DEALS}; with --until-decided the most, {MAX_DEALS})",
    )
    parser.set_defaults(deals=None)
    parser.add_argument(
        "--episode",
        choices=("round", "match"),
        default="round",
        help="what is rated: rounds, or whole matches (default: round)",
    )
    parser.add_argument(
        "--rounds",
        type=integer(1, 10_000),
        help="with --episode match: most rounds of a match (default: as the rules end it, else 12)",
    )
    add_out_argument(parser, "results.html, .csv, .json, .txt and .png, and for what was played")
    parser.add_argument(
        "--until-decided", action="store_true", help="compare two agents, and stop when a sequential test decides"
    )
    parser.add_argument(
        "--bounds", type=number(-1e6, 1e6), nargs=2, metavar=("LOW", "HIGH"),
        help="the test's hypotheses: the first is stronger by at most LOW, or by at least HIGH (default: 0 0.05 of its unit)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=number(1e-9, 0.5), help="probability of deciding HIGH where LOW is true (default: 0.05)")
    parser.add_argument("--beta", type=number(1e-9, 0.5), help="probability of deciding LOW where HIGH is true (default: 0.05)")
    parser.add_argument(
        "--one-way",
        action="store_true",
        help="only the first agent is a hero, in a field of each other: for a slow first agent; no advantages and no ranking",
    )
    parser.add_argument(
        "--control-variates", action="store_true", help="one way, with the luck of hidden cards averaged out: for few deals"
    )
    parser.add_argument(
        "--one-table", action="store_true", help="play all agents at one table, too, in all rotations of the seats"
    )
    parser.add_argument(
        "--records", type=Path, metavar="FILE", help="also play whole matches and write their records to this file"
    )
    parser.add_argument("--matches", type=integer(1), help=f"number of matches for --records (default: {MATCHES})")
    add_device_argument(parser)
    add_resumed_arguments(parser, "deals played at once (default: as many as fill 8192 tables); each is kept when it is over")
    parser.add_argument("--verify", type=integer(1), metavar="N", help="play N rows that are in --out again, and compare them")


def run(args: argparse.Namespace) -> int:
    from ..measure.own_game import OwnGame
    from ..measure.plan import Measurement, make_plan
    from ..measure.store import Store

    test = _test(args)
    _check(args)
    if args.deals is None:
        args.deals = MAX_DEALS if test is not None else DEALS
    setup, task, agents = load_players(args)
    source = OwnGame(setup, args.seed, task, args.episode, args.rounds, args.device)
    if test is not None and len(agents) != 2:
        raise ConfigError(f"--until-decided compares two agents, and there are {len(agents)}.")
    plan = make_plan(
        source, agents, args.deals, one_way=args.one_way or args.control_variates, controlled=args.control_variates,
        measure=args.out is not None and args.episode == "round" and test is None and not args.control_variates,
        together=args.one_table, sequential=test is not None, chunk=args.chunk,
    )  # fmt: skip
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # an error of this comes before the games
    with contextlib.ExitStack() as opened:
        store = None if args.out is None else opened.enter_context(Store(args.out / ROWS))
        for sentence in [] if store is None else store.damaged:
            print_note(f"{sentence} What is missing is played again.")
        bar = opened.enter_context(progress_bar(total=plan.total_deals, unit="deal"))
        executor = place_of(args, bar.set_postfix_str)
        measurement = Measurement(
            plan, agents, store=store, executor=executor, bots=settings_of(args), progress=bar.update
        )  # fmt: skip
        if args.verify is not None:
            assert store is not None
            return _verify(measurement, store, args)
        folder = None if store is None else store.folder
        opened.enter_context(goes_on(args, folder, lambda: folder is not None and folder.is_dir()))
        if args.shard is not None:
            return _play_share(measurement, args)
        if args.only_read and (missing := measurement.missing()[1]):
            raise WorkError(f"{len(missing)} units are missing in {str(args.out)!r}, and --only-read plays nothing.")
        if args.records is not None:
            _record(args, setup, agents)
        table = _fold(measurement, args, test, bar)
        if store is not None:
            table.looks = store.looks(measurement.source_id, measurement.ids)
            store.add_look(measurement.source_id, measurement.ids, table.deals)
    _report(table, args)
    return 0


def _check(args: argparse.Namespace) -> None:
    """Raises :class:`ConfigError` for arguments that do not go together."""
    check_place(args)
    by_match = args.episode == "match"
    if args.rounds is not None and not by_match:
        raise ConfigError("--rounds is the length of matches: it goes with --episode match.")
    if args.matches is not None and args.records is None:
        raise ConfigError("--matches is the number of matches to record: it goes with --records.")
    pairs = {
        "--episode match": (by_match, ("records", "control_variates")),
        "--until-decided": (args.until_decided, ("shard", "one_way", "control_variates", "one_table")),
        "--control-variates": (args.control_variates, ("one_table",)),
        "--shard": (args.shard is not None, ("records", "verify")),
    }
    for option, (given, others) in pairs.items():
        for other in others:
            if given and getattr(args, other):
                raise ConfigError(f"{option} cannot be combined with --{other.replace('_', '-')}.")
    if args.device != "cpu" and (by_match or args.control_variates):
        raise ConfigError(f"{'--episode match' if by_match else '--control-variates'} goes without --device cuda.")
    for name in ("verify", "only_read"):
        if getattr(args, name) and args.out is None:
            raise ConfigError(f"--{name.replace('_', '-')} is about what was played into --out, and there is none.")


def _test(args: argparse.Namespace) -> SequentialTest | None:
    """Returns the test that the arguments ask for; raises :class:`ConfigError` for arguments of a test where there is none."""
    from ..measure.stats.sequential import SequentialTest

    low, high = args.bounds or (None, None)
    for name in ("bounds", "alpha", "beta"):
        if getattr(args, name) is not None and not args.until_decided:
            raise ConfigError(f"--{name} belongs to a sequential test: it needs --until-decided.")
    values = {"low": low, "high": high, "alpha": args.alpha, "beta": args.beta}
    return SequentialTest(**{name: value for name, value in values.items() if value is not None}) if args.until_decided else None


def _fold(measurement: Measurement, args: argparse.Namespace, test: SequentialTest | None, bar: Any) -> CrossTable:
    """Plays what is missing, and shows how near a test is to a decision."""
    from ..measure.cross_table import fold
    from ..measure.report.format_ci import decimal, mean_ci
    from ..measure.stats.sequential import anytime_half_width

    def look(table: CrossTable) -> None:
        if test is not None and not bar.disable:
            advantage = table.advantages[0, 1]
            low, high = test.thresholds
            llr = f"LLR {decimal(test.llr(advantage), '+.2f')} of {decimal(low, '.2f')} … {high:+.2f}"
            bar.set_postfix_str(f"{mean_ci(advantage.mean, anytime_half_width(advantage))}, {llr}")

    return fold(measurement, one_way=args.one_way or args.control_variates, test=test, progress=look)


def _record(args: argparse.Namespace, setup: Setup, agents: Sequence[Agent]) -> None:
    """Plays matches and writes their records."""
    from nainjaune_env.records.record import write_records

    from ..measure.arena.matches import record_matches
    from ..players.program.counting import BotCounts

    setup.game.check_match(setup.rules)
    check_new(args.records, "--records")
    args.records.parent.mkdir(parents=True, exist_ok=True)
    matches = MATCHES if args.matches is None else args.matches
    with progress_bar(total=matches, unit="match") as bar:
        write_records(args.records, record_matches(setup, agents, matches, seed=args.seed, progress=bar.update))
    print_text("\n".join([f"Records of {matches} matches: {printable(str(args.records))}", *BotCounts.taken(agents).lines()]))


def _play_share(measurement: Measurement, args: argparse.Namespace) -> int:
    """Plays the part ``--shard``; returns the exit status."""
    from ..players.program.counting import BotCounts

    plan, units = measurement.missing(args.shard)
    bots = BotCounts()
    for _, rows in measurement.fill(plan, units):
        for _, row in rows:
            bots.add(row.bots)
    part, jobs = args.shard
    then = "When all parts are there, the same command without --shard puts them together."
    print_text("\n".join([f"Part {part} of {jobs}: {len(units)} units were missing and are played. {then}", *bots.lines()]))
    return 0


def _verify(measurement: Measurement, store: Store, args: argparse.Namespace) -> int:
    """Plays some rows again; returns the exit status."""
    import secrets

    import numpy as np

    seed = secrets.randbits(32)
    compared, differing = store.verify(args.verify, np.random.default_rng(seed), measurement.replay)
    deals = "".join(f"\n  {row.key.kind}, deals {row.first} to {row.end - 1}" for row in differing)
    verdict = f"{len(differing)} came out otherwise:{deals}" if differing else "all came out the same to the byte"
    print_text(f"{compared} rows played again, {verdict if compared else 'none to compare'}.")
    return DIFFERENT if differing else 0


def _report(table: CrossTable, args: argparse.Namespace) -> None:
    """Prints the table, and writes the report to ``--out``."""
    from ..measure.report.text import text_table

    report = None
    if args.out is not None:  # first: what is printed may be lost
        from ..measure.report.report import write_report

        report = write_report(table, args.out, settings_of(args))
    print_text(text_table(table))
    if report is not None:
        print(f"Report: {printable(str(report))}")
