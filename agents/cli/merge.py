"""Put the parts of a tournament, a comparison or a study together, which jobs have played by `--shard I/N`.

  for i in 1 2 3; do
      nainjaune evaluate --agents lowest tally --out results --shard $i/3
  done
  nainjaune merge results

The parts are those of `nainjaune evaluate`, `versus` or `study`, and DIR is the --out of the jobs. What is written there is equal
to the last byte to the results of one run without --shard (but for the time, and for milliseconds). A part that is missing, there
twice, damaged, of another run, or of another version of the package is an error, and then nothing is written. docs/scale.md has a
script for Slurm.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import ConfigError, WorkError, unknown_name_message
from nainjaune_env.core.printable import printable

from ..players.program.settings import BotSettings
from .progress import progress_bar
from .streams import print_text
from .workers import remove_shards

NAME = "merge"
HELP = "put the parts together that jobs have played"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the --out of the jobs")


def run(args: argparse.Namespace) -> int:
    from ..measure.arena.tournament import TournamentPlan, play_tournament
    from ..measure.arena.versus import VersusPlan, play_versus
    from ..measure.distributed.plan_fields import read_plan
    from ..measure.distributed.shards import FOLDER, FinishedShards, read_run
    from ..measure.report.report import write_report
    from ..measure.report.text import text_table
    from ..study.units import StudyPlan
    from .study import print_files
    from .versus import FILE_NAME, write_versus

    folder = args.folder / FOLDER
    finished = [args.folder / name for name in ("results.json", FILE_NAME)]
    if not folder.exists():  # they are removed when a study has been put together
        finished += sorted(args.folder.glob("*.parquet"))
    for path in finished:
        if path.exists():
            raise ConfigError(f"{str(path)!r} exists, and is not overwritten.")
    run = read_run(folder)
    kinds: dict[str, Any] = {kind.KIND: kind for kind in (TournamentPlan, VersusPlan, StudyPlan)}
    if run["kind"] not in kinds:
        raise WorkError(unknown_name_message("kind of run", run["kind"], kinds))
    bots = BotSettings.from_dict(run["bots"]) if "bots" in run else None
    plan: TournamentPlan | VersusPlan | StudyPlan = read_plan(kinds[run["kind"]], run["plan"], repr(str(folder)))
    if isinstance(plan, StudyPlan):
        from ..study.parts import write_parts

        rows = write_parts(args.folder, plan)
        remove_shards(args.folder)
        print_files(args.folder, rows)
        return 0
    with progress_bar(unit="deal") as bar:
        if isinstance(plan, TournamentPlan):
            result = play_tournament(plan, [], FinishedShards(folder), bar.update)
            report = write_report(result, args.folder, bots)
            text = f"{text_table(result)}\nReport: {printable(str(report))}"
        else:
            text = write_versus(play_versus(plan, [], FinishedShards(folder)), args.folder)
    remove_shards(args.folder)
    print_text(text)
    return 0
