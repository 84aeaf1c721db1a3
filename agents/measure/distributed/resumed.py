"""Units of work whose results are kept in an append-only folder: what is there is read, and only what is missing is played.

A folder belongs to one run. Each process appends a line with the run's identity, then one with each unit that it plays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from nainjaune_env.agent import Agent
from nainjaune_env.core.errors import RecordError, WorkError, as_sentence
from nainjaune_env.core.validation import check_keys, check_list

from ...base.settings import convert
from ...players.program.settings import BotSettings
from .identity import check_same, identity, run_id
from .segments import DIGEST, Place, Segments
from .units import Executor, Results, WorkPlan, WorkUnit

FOLDER = "parts"
"""The folder of finished units in that of a command's results."""
MAX_MISSING = 100_000
"""Missing units that are counted: a plan may ask for thousands of millions."""


class RunIdentity(Struct, forbid_unknown_fields=True):
    """The types of an ``identity`` in a file."""

    kind: str
    package: str
    weights: dict[str, str]
    plan: dict[str, Any]
    files: dict[str, list[str]] | UnsetType = UNSET
    bots: dict[str, Any] | UnsetType = UNSET


class Resumed:
    """Plays units by another executor, and keeps what they yield in a folder; units that are there are not played again."""

    def __init__(
        self,
        folder: Path,
        executor: Executor | None,
        share: tuple[int, int] | None = None,
        bots: BotSettings | None = None,
        note: Callable[[str], object] | None = None,
    ) -> None:
        """``executor``: None to play nothing, so that a missing unit is an error; ``bots`` are its settings of bots.

        ``share``: ``(i, n)`` for the i-th of n jobs, i from 1 on, which play every n-th unit each (None: all units). ``note`` is
        called with a sentence for each file of the folder in which there is damage.
        """
        self.folder = folder
        self.finished = 0
        """Units of this job whose results are in the folder, as far as it was read or played."""
        self._executor = executor
        self._share = share
        self._bots = bots
        self._note = note
        self._segments = Segments(folder)

    def units(self, units: Iterable[WorkUnit]) -> Iterator[WorkUnit]:
        """Yields the ``units`` that this job plays, out of all of a plan."""
        number, jobs = self._share or (1, 1)
        return islice(units, number - 1, None, jobs)

    def results(self, plan: WorkPlan, agents: Sequence[Agent], units: Iterable[WorkUnit]) -> Results:
        """Yields the results that are in the folder in the plan's order, then the others as they are finished, once each.

        ``units`` are the plan's, from its first on. Raises :class:`WorkError` where the folder belongs to another run or cannot
        be read or written to, where workers fail, and, before it yields any, where units are missing and nothing may be played.
        """
        run = identity(plan, self._bots)
        digest = run_id(run)
        there = self._read(run, digest)
        if self._executor is None:
            self._check_complete(plan, there)
        self.finished = 0
        for unit in self.units(plan.units()):
            if unit in there:
                self.finished += 1
                yield unit, self._segments.at(there[unit])["payload"]
        missing = (unit for unit in self.units(units) if unit not in there)
        first = next(missing, None)
        if first is None or self._executor is None:
            return
        with self._segments, closing(self._executor.results(plan, agents, chain([first], missing))) as results:
            self._segments.append({"run": digest, "identity": run})
            for unit, payload in results:
                self._segments.append({"run": digest, "unit": unit, "payload": payload})
                self.finished += 1
                yield unit, payload

    def _read(self, run: Mapping[str, Any], digest: str) -> dict[WorkUnit, Place]:
        """Returns where the results of each unit are; of one that two jobs have played, the first is taken."""
        there: dict[WorkUnit, Place] = {}
        for place, content in self._segments.read():
            unit = self._unit(place, content, run, digest)
            if unit is not None:
                there.setdefault(unit, place)
        then = "" if self._executor is None else " Units that are missing without it are played again."
        for sentence in self._segments.damaged:
            if self._note is not None:
                self._note(f"{sentence}{then}")
        return there

    def _unit(self, place: Place, content: Mapping[str, Any], run: Mapping[str, Any], digest: str) -> WorkUnit | None:
        """Returns the unit of a line; None for the line of the run. Raises :class:`WorkError` for another run's, and others."""
        where = repr(str(place.path))
        try:
            kind = ("identity",) if "identity" in content else ("unit", "payload")
            check_keys(where, content, ("run", *kind, DIGEST))
            if content["run"] != digest:
                if "identity" in content:
                    convert(RunIdentity, content["identity"], where, WorkError)
                    check_same(str(self.folder), content["identity"], run)
                raise WorkError(f"{where} belongs to another run.")
            return WorkUnit(*check_list(where, "unit", content["unit"], int, 3)) if "unit" in content else None
        except RecordError as error:
            raise WorkError(f"{where} is no file of a run's units: {as_sentence(error)}") from None

    def _check_complete(self, plan: WorkPlan, there: Mapping[WorkUnit, Place]) -> None:
        total, missing = 0, 0
        for unit in self.units(plan.units()):
            total, missing = total + 1, missing + (unit not in there)
            if missing == MAX_MISSING:
                break
        if missing:
            count = f"{missing:,} of {total:,}" if missing < MAX_MISSING else f"At least {MAX_MISSING:,}"
            raise WorkError(f"{count} units are missing in {str(self.folder)!r}, and nothing is played here: play them first.")
