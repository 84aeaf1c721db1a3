"""A few rounds among neighbours of the ranking, to go through on a page each."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import RecordError, WorkError, as_sentence, quoted
from nainjaune_env.records.record import Record, append_record, read_records, setup_of, verify_record
from nainjaune_env.render.replay_page import replay_page

from ..arena.matches import record_round
from .folder import inside
from .play import Players
from .results import Results

RECORDS, PAGES = "games", "games"
"""The folder of records in that of results, and of pages in that of the site."""


class Game(NamedTuple):
    """A round that can be gone through."""

    table: str
    entries: tuple[str, ...]
    """By seat."""
    page: str
    """Its address from the page of the ladder."""


def games(results: Results, ranking: list[str], players: Players, site: Path) -> list[Game]:
    """Returns the games of the entries in ``ranking``, and writes their pages into ``site``.

    At its first table, each entry plays about two rounds with those who stand next to it. Rounds are kept with the results, and
    played only where there are none of these entries as they are now.
    """
    ladder, played = results.ladder, []
    for table, setup in ladder.tables.items():
        order = [key for key in ranking if ladder.entries[key].tables[0] == table]
        if len(order) < setup.players:
            order += [key for key in ladder.players(table) if key not in order][: setup.players - len(order)] if order else []
        starts = range(0, max(len(order) - setup.players, 0) + 1, max(setup.players // 2, 1)) if order else range(0)
        for start in sorted({*starts, max(len(order) - setup.players, 0)} if order else set()):
            seats = tuple(order[start : start + setup.players])
            record = _record(results, table, seats, players)
            name = f"{'--'.join([table, *seats])}.html"[-200:]
            if setup.game.pictures is None:
                continue
            write_text(inside(ladder.folder, site / PAGES / name), replay_page(record, "en"))
            played.append(Game(table, seats, f"{PAGES}/{name}"))
    return played


def _record(results: Results, table: str, seats: tuple[str, ...], players: Players) -> Record:
    """Returns the record of the round of ``seats`` at ``table``, verified, which is played if it is not kept."""
    setup = results.ladder.tables[table]
    identities = [results.identities[table][key] for key in seats]
    digest = hashlib.sha256(" ".join([table, *seats, *identities]).encode()).hexdigest()
    path = inside(results.ladder.folder, results.folder / RECORDS / f"{table}-{digest[:12]}.jsonl")
    seed = int(digest[:8], 16)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        append_record(path, played_round(results, table, seats, players, seed))
    try:
        if not path.is_file():
            raise RecordError(f"{str(path)!r} is no file.")  # a pipe may wait for ever
        records = [*read_records(path)]
        of = [(setup_of(record), record["seed"]) for record in records]
        if of != [(replace(setup, rules=setup.game.single_round(setup.rules)), seed)]:
            raise RecordError(f"{str(path)!r}: expected one round of the table {table!r} from the seed {seed}, not {quoted(of)}.")
    except (OSError, RecordError) as error:
        raise WorkError(f"{as_sentence(error)} Remove the file to play the round again.") from None
    return {**records[0], "agents": _names(results, table, seats)}


def played_round(results: Results, table: str, seats: tuple[str, ...], players: Players, seed: int) -> Record:
    """Returns the record of a round of the entries ``seats`` at ``table``, verified by replay, with their names."""
    agents = [players(table, key) for key in seats]
    record = record_round(results.ladder.tables[table], agents, seed=seed)
    record["agents"] = _names(results, table, seats)
    verify_record(record)
    return record


def _names(results: Results, table: str, seats: tuple[str, ...]) -> list[str]:
    """Returns the names in seat order."""
    players = results.ladder.tables[table].players
    return [results.ladder.entries[key].name for key in (seats * players)[:players]]
