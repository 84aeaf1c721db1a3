"""A study whose units other processes, a cluster or jobs have played: the files that one process would have written."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from nainjaune_env.core.atomic_files import replacing

from ..measure.distributed.resumed import FOLDER, Resumed
from ..players.program.settings import BotSettings
from .files import DECISIONS, columns_of, exists, files_of, writers_of
from .units import StudyPlan


def write_parts(folder: Path, plan: StudyPlan, bots: BotSettings | None = None) -> Mapping[str, int]:
    """Writes the study whose units are all in ``FOLDER`` of ``folder``, where its files will be beside it.

    Returns the number of rows of each file. The files equal what ``write_study`` writes, to the last byte. The file of
    decisions is put there last. ``bots`` are the settings of bots. Raises :class:`WorkError` as ``Resumed`` does, and
    :class:`ConfigError` if it exists.
    """
    check_folder(folder)
    columns = files_of(plan)
    with ExitStack() as opened:  # which puts the files in place in the reverse order
        paths = {name: opened.enter_context(replacing(folder / f"{name}.parquet")) for name in columns}
        with ExitStack() as written:
            writers = writers_of(paths, plan, plan.first, plan.episodes, plan.command, written)
            parts = Resumed(folder / FOLDER, None, bots=bots)
            with closing(parts.results(plan, [], plan.units())) as results:
                for _, payload in results:
                    for name, writer in writers.items():
                        writer.add(columns_of(payload.get(name), columns[name]))
    return {name: writer.rows for name, writer in writers.items()}


def check_folder(folder: Path) -> None:
    """Raises :class:`ConfigError` where ``folder`` holds anything but the units of a study that is not finished."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):  # empty: a job was stopped when it began
        return
    if not (folder / FOLDER).is_dir() or (folder / f"{DECISIONS}.parquet").exists():
        raise exists(folder)
