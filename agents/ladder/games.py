"""A few rounds among neighbours of the ranking, to go through on a page each."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.records.record import Record, append_record, read_records, verify_record

from ..arena.matches import record_round
from ..play.replay_page import replay_page
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
            write_text(site / PAGES / name, replay_page(record, "en"))
            played.append(Game(table, seats, f"{PAGES}/{name}"))
    return played


def _record(results: Results, table: str, seats: tuple[str, ...], players: Players) -> Record:
    """Returns the record of the round of ``seats`` at ``table``, verified, which is played if it is not kept."""
    identities = [results.identities[table][key] for key in seats]
    digest = hashlib.sha256(" ".join([table, *seats, *identities]).encode()).hexdigest()
    path = results.folder / RECORDS / f"{table}-{digest[:12]}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        append_record(path, played_round(results, table, seats, players, int(digest[:8], 16)))
    (record,) = read_records(path)
    return record


def played_round(results: Results, table: str, seats: tuple[str, ...], players: Players, seed: int) -> Record:
    """Returns the record of a round of the entries ``seats`` at ``table``, verified by replay, with their names."""
    setup = results.ladder.tables[table]
    agents = [players(table, key) for key in seats]
    record = record_round(setup, agents, seed=seed)
    record["agents"] = [results.ladder.entries[key].name for key in (seats * setup.players)[: setup.players]]
    verify_record(record)
    return record
