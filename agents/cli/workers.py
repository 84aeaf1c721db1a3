"""Command-line arguments for where deals are played: processes of this machine, a cluster, or one job of many."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nainjaune_env.core.errors import ConfigError, NainJauneError, WorkError, as_sentence, quoted
from nainjaune_env.core.printable import printable

from .arguments import integer
from .bot_options import settings_of
from .streams import print_note, print_text

if TYPE_CHECKING:
    from ..measure.distributed.resumed import Resumed
    from ..measure.distributed.units import Executor, WorkPlan
    from ..players.program.counting import BotCounts
    from ..players.program.settings import BotSettings

MAX_WORKERS = 1024
MAX_CHUNK = 100_000


def add_place_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares ``--workers`` and ``--cluster``."""
    parser.add_argument(
        "--workers", type=integer(1, MAX_WORKERS), metavar="N", help="play in N processes; results do not depend on N"
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="play on the Ray cluster at this address (auto: the one started here)"
    )


def add_resumed_arguments(parser: argparse.ArgumentParser, chunk: str) -> None:
    """Declares the arguments of a command whose finished units are in one folder, from which each job goes on."""
    add_place_arguments(parser)
    parser.add_argument(
        "--shard",
        type=share,
        metavar="I/N",
        help="play only the I-th of N parts, for job arrays; the same command without it puts them together",
    )
    parser.add_argument("--only-read", action="store_true", help="play nothing: an error if a part is missing in --out")
    parser.add_argument("--chunk", type=integer(1, MAX_CHUNK), metavar="D", help=chunk)


def share(text: str) -> tuple[int, int]:
    """Returns the numbers of ``3/100``."""
    match = re.fullmatch(r"(\d{1,7})/(\d{1,7})", text)
    number, jobs = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= jobs:
        raise argparse.ArgumentTypeError(f"expected a part and the number of parts, as in 3/100, not {quoted(text)}")
    return number, jobs


def check_place(args: argparse.Namespace) -> None:
    """Raises :class:`ConfigError` for ``--workers`` beside ``--cluster``, and for any of them beside ``--only-read``."""
    if getattr(args, "only_read", False):
        for name in ("workers", "cluster", "shard"):
            if getattr(args, name) is not None:
                raise ConfigError(f"--only-read plays nothing: it cannot be combined with --{name}.")
    if getattr(args, "shard", None) is not None and args.out is None:
        raise ConfigError("--shard leaves its part in a folder: it needs --out.")
    if args.workers is not None and args.cluster is not None:
        raise ConfigError("--workers are processes of this machine, and --cluster is another place to play: give one of them.")


def resumes(args: argparse.Namespace) -> bool:
    """Returns whether units are kept in ``--out``: if :func:`keeps_units`, and where some are, or only they are to be read."""
    from ..measure.distributed.resumed import FOLDER

    return args.only_read or (args.out / FOLDER).is_dir() or keeps_units(args)


def resumed_of(args: argparse.Namespace, report: Callable[[str], object]) -> Resumed:
    """Returns what plays the units that are missing in ``--out``, of the part ``--shard`` if given; none by ``--only-read``."""
    from ..measure.distributed.resumed import FOLDER, Resumed

    executor = None if args.only_read else place_of(args, report)
    return Resumed(args.out / FOLDER, executor, args.shard, settings_of(args), print_note)


def place_of(args: argparse.Namespace, report: Callable[[str], object], bots: BotSettings | None = None) -> Executor:
    """Returns what plays, by ``--workers`` and ``--cluster``; it keeps no files. ``bots``: its settings (None: of ``args``)."""
    from ..measure.distributed.units import InProcess

    bots = settings_of(args) if bots is None else bots
    if args.cluster is not None:
        from ..measure.distributed.cluster import Cluster

        return Cluster(args.cluster, report, bots)
    if args.workers is not None and args.workers > 1:
        from ..measure.distributed.processes import Processes

        return Processes(args.workers, report, bots)
    return InProcess()


def keeps_units(args: argparse.Namespace) -> bool:
    """Returns whether finished units are kept, so that the command resumes from them.

    They are with workers, and where a player from elsewhere may fail in the middle.
    """
    from ..players.foreign import is_external
    from ..players.loading import base_name

    named = [*args.agents, *filter(None, [getattr(args, "search_by", None)])]
    by_workers = any(given is not None for given in (args.workers, args.cluster, args.shard))
    return by_workers or any(is_external(base_name(name)) for name in named)


@contextmanager
def goes_on(args: argparse.Namespace, folder: Path | None, finished: Callable[[], object]) -> Iterator[None]:
    """Says in the sentence of an error that the same command goes on from the ``folder``, if any unit in it is ``finished``."""
    try:
        yield
    except NainJauneError as error:
        if not finished():
            raise
        smaller = "; a smaller --chunk keeps more" if hasattr(args, "chunk") else ""
        raise WorkError(
            f"{as_sentence(error)} What was played before is kept in {printable(str(folder))}, and the same command "
            f"goes on from there{smaller}."
        ) from None


def play_parts(args: argparse.Namespace, plan: WorkPlan, agents: Any, unit: str, plural: str) -> BotCounts:
    """Plays the units of ``plan`` that are missing in ``--out``, or this job's by ``--shard``; returns the counts of bots.

    Units have a number of ``unit``. A job prints what it has played.
    """
    from ..players.program.counting import BotCounts
    from .progress import progress_bar

    bots, units, deals = BotCounts(), 0, 0
    with progress_bar(unit=unit) as bar:
        parts = resumed_of(args, bar.set_postfix_str)
        bar.total = None if bar.disable else sum(one.deals for one in parts.units(plan.units()))
        with (
            goes_on(args, parts.folder, lambda: parts.finished),
            closing(parts.results(plan, agents, plan.units())) as results,
        ):
            for one, payload in results:
                units, deals = units + 1, deals + one.deals
                bots.add(payload)
                bar.update(one.deals)
    if args.shard is not None:
        number, jobs = args.shard
        print_text(
            f"Part {number} of {jobs}: {units} units, {deals} {plural}. "
            "When all parts are there, the same command without --shard puts them together."
        )
    return bots


def remove_parts(folder: Path) -> None:
    """Removes the units of a run whose results are in ``folder``."""
    from ..measure.distributed.resumed import FOLDER

    shutil.rmtree(folder / FOLDER, ignore_errors=True)
