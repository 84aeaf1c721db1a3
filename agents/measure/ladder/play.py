"""A ladder is played: batch after batch where it teaches most, until the deals are used or all neighbours are told apart."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import remove_leftovers, write_text
from nainjaune_env.core.errors import AgentError, NainJauneError, WorkError, as_sentence, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import identical, read_json

from ...players.loading import load_agent
from ...players.program.process import MAX_LOG, kill, start
from ..distributed.units import Executor, InProcess
from .entries import Entry, Ladder
from .folder import inside
from .pairings import Choice, TableState, choose
from .plan import LadderPlan
from .results import Pairing, Results
from .standings import Played

WAVE = 16
"""Batches that are chosen before any of them is played, whatever the number of workers: results do not depend on it."""
BUILD_SECONDS = 300.0
"""How long the command that builds an entry may take."""
NEXT = "next.json"
"""The wave that is being played: a ladder that was stopped goes on with it, and ends with the same files."""
Progress = Callable[[Pairing, int], object]


def build(entries: Sequence[Entry]) -> None:
    """Runs the commands that build the programs of ``entries``, each in its folder, with the variables that a program gets.

    Raises :class:`AgentError` where one fails, or is not over after :data:`BUILD_SECONDS`; it is ended then.
    """
    for entry in entries:
        if entry.build is not None:
            try:
                _run(entry.build, entry.folder)
            except (OSError, ValueError, AgentError) as error:
                raise AgentError(f"The entry {entry.key!r} was not built: {as_sentence(error)}") from None


def _run(command: str, folder: Path) -> None:
    """Runs ``command`` in ``folder``; what it has started is ended with it."""
    nothing = subprocess.DEVNULL
    with TemporaryFile() as log:
        process = start(shlex.split(command), nothing, nothing, log, folder)
        try:
            status = process.wait(BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            raise AgentError(f"{quoted(command)} is not over after {BUILD_SECONDS:g} seconds.") from None
        finally:
            kill(process)
        if status:
            log.seek(max(log.seek(0, os.SEEK_END) - MAX_LOG, 0))
            lines = log.read().decode(errors="replace").strip().splitlines() or ["it wrote nothing"]
            cause = next((line for line in lines if "error" in line.lower()), lines[-1])
            raise AgentError(f"{quoted(command)} ended with status {status}, {quoted(cause)}.")


class Players:
    """The agents of a ladder, each loaded once for each table."""

    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder
        self._agents: dict[tuple[str, str], Agent] = {}

    def __call__(self, table: str, key: str) -> Agent:
        """Returns the agent of the entry ``key``; raises :class:`AgentError`, with the entry, if it cannot play at ``table``."""
        if (table, key) not in self._agents:
            entry = self.ladder.entries[key]
            try:
                self._agents[table, key] = load_agent(entry.located, self.ladder.tables[table], bots=self.ladder.bots)
            except NainJauneError as error:
                hint = " It is built by --build." if entry.build else ""
                raise AgentError(f"The entry {key!r} at the table {table!r}: {as_sentence(error)}{hint}") from None
        return self._agents[table, key]


def played(results: Results, table: str) -> list[Played]:
    """Returns what pairs have played at ``table``, by the positions of its players."""
    at = {key: number for number, key in enumerate(results.ladder.players(table))}
    seats = results.ladder.tables[table].players
    return [Played(at[each.one], at[each.other], each.advantage(seats)) for each in results.at(table)]


def next_batches(results: Results, count: int = WAVE) -> Choice:
    """Returns what is played next."""
    ladder = results.ladder
    numbers = {key: number for number, key in enumerate(ladder.entries)}
    tables = []
    for table in ladder.tables:
        keys = ladder.players(table)
        tables.append(TableState([numbers[key] for key in keys], [*combinations(range(len(keys)), 2)], played(results, table)))
    return choose(tables, len(numbers), ladder.batch, count)


def deals_an_entry(results: Results) -> float:
    """Returns the mean number of deals of an entry at one of its tables."""
    places = sum(len(entry.tables) for entry in results.ladder.entries.values())
    return 2 * sum(pairing.deals for pairing in results.pairings.values()) / places


def play(
    results: Results,
    players: Players,
    executor: Executor,
    *,
    deals: int,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> bool:
    """Plays until entries have ``deals`` each at each table in the mean, or for ``seconds``; returns whether all is told apart.

    ``progress`` is called after each batch with its pair. Raises :class:`AgentError` for an entry that cannot play, and what
    ``executor`` raises; what has been played is kept.
    """
    end = None if seconds is None else time.monotonic() + seconds
    path = inside(results.ladder.folder, results.folder / NEXT)
    for folder in (results.folder, *(results.folder / table for table in results.ladder.tables)):
        remove_leftovers(inside(results.ladder.folder, folder))
    try:
        while True:
            wave, told_apart = _stopped_wave(results), False
            if not wave and deals_an_entry(results) < deals:
                choice = next_batches(results)
                told_apart = choice.told_apart
                wave = _wave(results, choice)
                if wave:
                    write_text(path, json.dumps(dict(wave)) + "\n")
            if not wave:
                return told_apart
            for table, batches in wave:
                if not _play_wave(results, players, executor, table, batches, end, progress):
                    return False
            path.unlink(missing_ok=True)
    finally:
        if results.times:
            results.write_times()


def _wave(results: Results, choice: Choice) -> list[tuple[str, list[list[Any]]]]:
    """Returns the chosen batches as ``[one, other, first deal, deals]``, at their table."""
    if not choice.batches:
        return []
    table = list(results.ladder.tables)[choice.batches[0].table]
    pairs, begun = results.ladder.pairs(table), dict[tuple[str, str], int]()
    batches = []
    for batch in choice.batches:
        pair = pairs[batch.pair]
        first = begun.get(pair, results.pairings[table, *pair].deals)
        batches.append([*pair, first, batch.deals])
        begun[pair] = first + batch.deals
    return [(table, batches)]


def _stopped_wave(results: Results) -> list[tuple[str, list[list[Any]]]]:
    """Returns the batches that are missing of the wave that was being played; none if entries have changed since."""
    path = results.folder / NEXT
    if not path.exists():
        return []
    wave = []
    content = read_json(path, "list of batches", WorkError)
    if not isinstance(content, dict) or not all(map(_are_batches, content.values())):
        raise WorkError(f"{str(path)!r} is not a list of batches as a ladder writes it: remove it.")
    try:
        for table, batches in content.items():
            missing: list[list[Any]] = []
            for one, other, first, deals in batches:
                there = results.pairings[table, one, other].deals
                following = max([there, *(each[2] + each[3] for each in missing if each[:2] == [one, other])])
                if first in range(0, there, deals):
                    continue
                if not identical([first, deals], [following, results.ladder.batch]):
                    raise LookupError
                missing.append([one, other, first, deals])
            if missing:
                wave.append((table, missing))
    except (LookupError, ValueError):  # of another ladder.toml or of entries that have changed
        path.unlink()
        return []
    return wave


def _are_batches(rows: object) -> bool:
    """Returns whether ``rows``, of a file, are batches as :func:`_wave` writes them, of whatever ladder."""
    return isinstance(rows, list) and all(isinstance(row, list) and [*map(type, row)] == [str, str, int, int] for row in rows)


def _play_wave(
    results: Results,
    players: Players,
    executor: Executor,
    table: str,
    batches: list[list[Any]],
    end: float | None,
    progress: Progress | None,
) -> bool:
    """Plays ``batches`` at ``table``; returns whether there was time for all."""
    keys = sorted({key for batch in batches for key in batch[:2]}, key=results.ladder.players(table).index)
    parts = {pair: number for number, pair in enumerate(combinations(keys, 2))}
    setup: Setup = results.ladder.tables[table]
    agents = [players(table, key) for key in keys]
    plan = LadderPlan(
        setup, tuple(results.ladder.entries[key].located for key in keys), tuple(keys), table, results.ladder.seed,
        tuple((parts[one, other], first, deals) for one, other, first, deals in batches),
    )  # fmt: skip
    waiting: dict[tuple[int, int], dict[str, Any]] = {}
    left = len(batches)
    with contextlib.closing(executor.results(plan, agents, plan.units())) as finished:
        for unit, payload in finished:
            waiting[unit.part, unit.first] = payload
            pair = [*parts][unit.part]
            pairing = results.pairings[table, *pair]
            while (unit.part, pairing.deals) in waiting:  # a pair's batches may be finished in any order
                results.add(pairing, waiting.pop((unit.part, pairing.deals)))
            left -= 1
            if progress is not None:
                progress(pairing, unit.deals)
            if end is not None and time.monotonic() >= end and left:
                return False
    return True


def again(results: Results, players: Players, pairing: Pairing, batch: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a kept ``batch`` of ``pairing`` as it comes out when it is played again, in this process."""
    ladder, keys = results.ladder, (pairing.one, pairing.other)
    plan = LadderPlan(
        ladder.tables[pairing.table], tuple(ladder.entries[key].located for key in keys), keys, pairing.table, ladder.seed,
        ((0, batch["first"], batch["deals"]),),
    )  # fmt: skip
    ((_, payload),) = InProcess().results(plan, [players(pairing.table, key) for key in keys], plan.units())
    return results.kept(pairing, payload)
