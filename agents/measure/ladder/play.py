"""A ladder is played: batch after batch where it teaches most, until the deals are used or all neighbours are told apart."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryFile

from msgspec import Struct, structs

from nainjaune_env.agent import Agent
from nainjaune_env.core.atomic_files import remove_leftovers, write_text
from nainjaune_env.core.errors import AgentError, NainJauneError, WorkError, as_sentence, quoted
from nainjaune_env.core.validation import read_json

from ...base.settings import NonNegativeInt, convert
from ...players.loading import load_agent
from ...players.program.process import MAX_LOG, kill, start
from ..distributed.units import Executor, InProcess
from ..rows import Key, Row
from .entries import Entry, Ladder
from .folder import inside
from .pairings import Choice, TableState, choose
from .plan import LadderPlan, PairDeals
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
    ``executor`` and the store raise; what has been played is kept.
    """
    end = None if seconds is None else time.monotonic() + seconds
    remove_leftovers(inside(results.ladder.folder, results.folder))
    path = inside(results.ladder.folder, results.folder / NEXT)
    told_apart, going = False, True
    with results.store:
        while going:
            wave = _stopped_wave(results, path)
            if wave is None:
                if deals_an_entry(results) >= deals:
                    break
                choice = next_batches(results)
                if not choice.batches:
                    told_apart = choice.told_apart
                    break
                wave = _wave(results, choice)
                write_text(path, json.dumps(structs.asdict(wave)) + "\n")
            going = _play_wave(results, players, executor, wave, end, progress)
            if going:
                path.unlink()
    results.sort()
    return told_apart


class Wave(Struct, frozen=True, forbid_unknown_fields=True):
    """Batches that are chosen together."""

    table: str
    batches: list[tuple[str, str, NonNegativeInt]]
    """Two entries, and the first deal."""


def _wave(results: Results, choice: Choice) -> Wave:
    """Returns the chosen batches, at least one."""
    table = list(results.ladder.tables)[choice.batches[0].table]
    pairs, batches = results.ladder.pairs(table), list[tuple[str, str, int]]()
    following: dict[tuple[str, str], int] = {}
    for batch in choice.batches:
        pair = pairs[batch.pair]
        first = following.get(pair, results.pairings[table, *pair].deals)
        batches.append((*pair, first))
        following[pair] = first + batch.deals
    return Wave(table, batches)


def _stopped_wave(results: Results, path: Path) -> Wave | None:
    """Returns the wave that was being played, by the file at ``path``; None if there is none, or entries have changed since."""
    if not path.exists():
        return None
    content = read_json(path, "list of batches", WorkError)
    wave = convert(Wave, content, f"{str(path)!r} is not a list of batches as a ladder writes it, and may be removed", WorkError)
    following: dict[tuple[str, str], int] = {}
    for one, other, first in wave.batches:
        pairing = results.pairings.get((wave.table, one, other))
        there = following.get((one, other), 0 if pairing is None else pairing.deals)
        if pairing is None or first not in range(0, there + 1, results.ladder.batch):  # of other entries or another ladder.toml
            path.unlink()
            return None
        following[one, other] = max(there, first + results.ladder.batch)
    return wave


def _play_wave(
    results: Results, players: Players, executor: Executor, wave: Wave, end: float | None, progress: Progress | None
) -> bool:
    """Plays what is missing of a wave; returns whether there was time for all."""
    batches = [(results.pairings[wave.table, one, other], first) for one, other, first in wave.batches]
    batches = [(pairing, first) for pairing, first in batches if first >= pairing.deals]
    named = {key for pairing, _ in batches for key in pairing.keys}
    keys = [key for key in results.ladder.players(wave.table) if key in named]
    agents = [players(wave.table, key) for key in keys]
    plan = _plan(results, wave.table, keys, [pairing.part(keys, first, results.ladder.batch) for pairing, first in batches])
    waiting: dict[tuple[Key, int], Row] = {}
    with contextlib.closing(executor.results(plan, agents, plan.units())) as finished:
        for left, (unit, payload) in zip(reversed(range(len(batches))), finished, strict=True):
            pairing = batches[unit.part][0]
            waiting[pairing.key, unit.first] = pairing.row(unit.first, unit.deals, payload)
            while (pairing.key, pairing.deals) in waiting:  # a pair's batches may be finished in any order
                results.add(pairing, waiting.pop((pairing.key, pairing.deals)))
            if progress is not None:
                progress(pairing, unit.deals)
            if end is not None and time.monotonic() >= end and left:
                return False
    return True


def _plan(results: Results, table: str, keys: Sequence[str], parts: Sequence[PairDeals]) -> LadderPlan:
    """Returns the plan of batches at ``table``, whose agents are the entries ``keys``."""
    ladder = results.ladder
    return LadderPlan(ladder.tables[table], tuple(ladder.entries[key].located for key in keys), tuple(parts))


def again(results: Results, players: Players, pairing: Pairing, row: Row) -> Row:
    """Returns a ``row`` of ``pairing`` as it comes out when it is played again, in this process."""
    plan = _plan(results, pairing.table, pairing.keys, [pairing.part(pairing.keys, row.first, row.deals)])
    ((_, payload),) = InProcess().results(plan, [players(pairing.table, key) for key in pairing.keys], plan.units())
    return pairing.row(row.first, row.deals, payload)
