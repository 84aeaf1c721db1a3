"""Results of units as files, one each: a run resumes from those that it finds, and jobs share a run out among them.

A folder of shards holds ``run.json``, the identity of the run, and a file for each finished unit: the SHA-256 of that identity,
the unit and its result, under a SHA-256 of all three. Files are written whole or not at all, and nothing in them is code.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import locked, write_text
from nainjaune_env.core.errors import RecordError, WorkError, as_sentence, quoted
from nainjaune_env.core.validation import check_keys, check_list, read_json

from ...players.program.settings import BotSettings
from .identity import check_same, identity, package_version, run_id
from .units import Executor, Payload, Results, WorkPlan, WorkUnit

FOLDER = "shards"
"""The folder of shards in that of a command's results."""
RUN_NAME = "run.json"
MAX_MISSING = 100_000
"""Missing shards that are counted: a damaged description may ask for thousands of millions."""


class Shards:
    """Plays units by another executor, and keeps what they yield in a folder; units that are there are not played again."""

    def __init__(
        self, folder: Path, executor: Executor, share: tuple[int, int] | None = None, bots: BotSettings | None = None
    ) -> None:
        """``share``: ``(i, n)`` for the i-th of n jobs, i from 1 on, which play every n-th unit each (None: all units).

        ``bots`` are the executor's settings of bots.
        """
        self.folder = folder
        self._executor = executor
        self._share = share
        self._bots = bots

    def units(self, units: Iterable[WorkUnit]) -> Iterator[WorkUnit]:
        """Yields the ``units`` that this job plays, out of all of a plan."""
        number, jobs = self._share or (1, 1)
        return islice(units, number - 1, None, jobs)

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields the results that are in the folder, then the others as they are finished; see :class:`~.units.Executor`.

        Each unit is yielded once, also one that another job finishes meanwhile. ``units`` are the plan's, from its first on.
        Raises :class:`WorkError` where the folder belongs to another run.
        """
        run = identity(plan, self._bots)
        with locked(self.folder / RUN_NAME):  # of two jobs that begin at once, one writes it
            if (self.folder / RUN_NAME).exists():
                check_same(str(self.folder), read_run(self.folder), run)
            else:
                write_text(self.folder / RUN_NAME, json.dumps(run, indent=2) + "\n")
        digest = run_id(run)
        yielded = Numbers()
        for number, unit in enumerate(self.units(plan.units())):
            if self._path(unit).exists():
                yielded.append(number)
                yield unit, read_result(self.folder, digest, unit)
        appeared: list[WorkUnit] = []  # that another job finished meanwhile

        def missing() -> Iterator[WorkUnit]:
            for number, unit in enumerate(self.units(units)):
                if number in yielded:
                    continue
                if self._path(unit).exists():
                    appeared.append(unit)
                else:
                    yield unit

        written: Future[None] | None = None
        with ThreadPoolExecutor(1, "shards") as writer:  # playing goes on while the disk confirms what it was given
            for unit, payload in self._executor.results(plan, agents, missing()):
                if written is not None:
                    written.result()
                written = writer.submit(write_text, self._path(unit), shard_text(digest, unit, payload))
                yield unit, payload
            if written is not None:
                written.result()
        for unit in appeared:
            yield unit, read_result(self.folder, digest, unit)

    def _path(self, unit: WorkUnit) -> Path:
        return self.folder / file_name(unit)


class Numbers:
    """Whole numbers, appended in ascending order; kept as ranges, since most follow one another."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def append(self, number: int) -> None:
        """Adds a number above all others."""
        if self._ends and self._ends[-1] == number:
            self._ends[-1] += 1
        else:
            self._begins.append(number)
            self._ends.append(number + 1)

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._begins, number)
        return at > 0 and number < self._ends[at - 1]


class FinishedShards:
    """Yields the results of a folder in which all units of a run must be; plays nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields the results in order; raises :class:`WorkError` where one is missing, there twice, or of another run."""
        run = read_run(self.folder)
        check_same(str(self.folder), run, {**run, "package": package_version()})
        digest, there = run_id(run), {path.name for path in self.folder.glob("*.json")} - {RUN_NAME}
        names, missing = set[str](), list[str]()
        for name in map(file_name, plan.units()):
            if name in there:
                names.add(name)
            else:
                missing.append(name)
                if len(missing) == MAX_MISSING:
                    break
        for name in sorted(there - names) if len(missing) < MAX_MISSING else ():
            unit, _ = read_shard(self.folder / name, digest)
            other = file_name(unit)
            what = "are there twice, and also" if other in there else f"should be in {other!r}, and are"
            raise WorkError(f"The deals {_deals(unit)} {what} in {str(self.folder / name)!r}: keep one file for them.")
        if missing:
            count = f"{len(missing)} of {len(names) + len(missing)}" if len(missing) < MAX_MISSING else f"At least {MAX_MISSING}"
            raise WorkError(
                f"{count} shards are missing in {str(self.folder)!r}, the first is {min(missing)!r}: "
                "run the jobs that have not finished again."
            )
        for unit in units:
            yield unit, read_result(self.folder, digest, unit)


def count_finished(folder: Path) -> int:
    """Returns the number of shards in ``folder``, which need not exist."""
    return len({path.name for path in folder.glob("*.json")} - {RUN_NAME})


def _deals(unit: WorkUnit) -> str:
    return f"{unit.first} to {unit.first + unit.deals - 1} of part {unit.part}"


def file_name(unit: WorkUnit) -> str:
    """Returns the name of the file of ``unit``; names sort as units do."""
    return f"{unit.part:04d}-{unit.first:010d}.json"


def shard_text(run: str, unit: WorkUnit, payload: Payload) -> str:
    """Returns the content of a shard of the run with the digest ``run``."""
    content = {"run": run, "unit": unit, "found": payload}
    return json.dumps({**content, "sha256": _digest(content)}) + "\n"


def read_result(folder: Path, run: str, unit: WorkUnit) -> Payload:
    """Returns what ``unit`` yielded, from its shard in ``folder``.

    Raises :class:`WorkError` as :func:`read_shard` does, and for a shard of another unit under this name.
    """
    path = folder / file_name(unit)
    there, payload = read_shard(path, run)
    if there != unit:
        raise WorkError(
            f"{str(path)!r} holds the deals {_deals(there)}, not {_deals(unit)}: it was copied or renamed. "
            f"Remove it to play the deals {_deals(unit)} again."
        )
    return payload


def read_shard(path: Path, run: str) -> tuple[WorkUnit, Payload]:
    """Returns the unit of the shard at ``path`` and what it yielded; raises :class:`WorkError` unless it is one of ``run``."""
    what = "shard of a run"
    content = _read(path, what, ("run", "unit", "found", "sha256"))
    if content.pop("sha256") != _digest(content):
        raise WorkError(
            f"{str(path)!r} is damaged: its content does not have the SHA-256 that it names. Remove it to play it again."
        )
    if content["run"] != run:
        raise WorkError(f"{str(path)!r} belongs to another run than the {RUN_NAME} beside it.")
    try:
        return WorkUnit(*check_list(str(path), "unit", content["unit"], int, 3)), content["found"]
    except RecordError as error:
        raise WorkError(f"{str(path)!r} is not a {what}: {as_sentence(error)}") from None


def _digest(content: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of the run, the unit and the result of a shard together."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def read_run(folder: Path) -> dict[str, Any]:
    """Returns the identity in the folder of shards; raises :class:`WorkError` if there is none."""
    what = "description of a run"
    kinds = {"kind": str, "package": str, "weights": dict, "plan": dict, "files": dict, "bots": dict}
    run = _read(folder / RUN_NAME, what, (*kinds,)[:4], (*kinds,)[4:])
    for name in run:
        if not isinstance(run[name], kinds[name]):
            raise WorkError(f"{str(folder / RUN_NAME)!r} is not a {what}: its {name!r} is {quoted(run[name])}.")
    return run


def _read(path: Path, what: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    try:
        return dict(check_keys(str(path), read_json(path, what, WorkError), keys, optional))
    except RecordError as error:
        raise WorkError(f"{str(path)!r} is not a {what}: {as_sentence(error)}") from None
