"""The rows that were played, in a folder of append-only segments: what is there is not played again.

Each process writes a segment of its own, so that any number of processes and jobs share a folder, and putting their work together
is reading it. A row that was cut, edited or copied is named and not believed; it is played again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.errors import WorkError, quoted

from .distributed.segments import DIGEST, Place, Segments, digest
from .rows import ROW, Key, Row, chain, joined
from .source import DealSource

LOOK = "look"


class _Entry(NamedTuple):
    """A row of the folder, as far as the index holds it."""

    first: int
    deals: int
    only_sums: bool
    repeatable: bool
    digest: str
    place: Place

    @property
    def end(self) -> int:
        return self.first + self.deals


class Store:
    """A folder of rows. Memory holds where they stand, not the rows."""

    def __init__(self, folder: Path, writer: str | None = None) -> None:
        """Reads the folder, which need not exist; ``writer`` is as in ``Segments``.

        Raises :class:`WorkError` where two rows of the same deals differ.
        """
        self.folder = folder
        self._segments = Segments(folder, writer)
        self._entries: dict[Key, dict[int, list[_Entry]]] = {}
        """By the number of the :data:`~.rows.ROW` deals in which a row begins."""
        self._looks: list[dict[str, Any]] = []
        foreign = 0
        for place, content in self._segments.read():
            if LOOK in content:
                self._looks.append(content[LOOK])
                continue
            try:
                row = Row.from_json(content)
            except WorkError:
                foreign += 1
            else:
                self._index(row, content[DIGEST], place)
        self.damaged = [*self._segments.damaged]
        """Sentences on what is not believed."""
        if foreign:
            self.damaged.append(f"{str(folder)!r} has {foreign} line{'s' * (foreign > 1)} that are no rows of payoffs.")

    def _index(self, row: Row, sha256: str, place: Place) -> None:
        entries = self._entries.setdefault(row.key, {}).setdefault(row.first // ROW, [])
        for other in entries:
            if (other.first, other.deals) == (row.first, row.deals):
                if other.digest != sha256 and other.repeatable and row.repeatable:
                    raise _different(row, str(place.path), str(other.place.path))
                return  # the same twice
        entries.append(_Entry(row.first, row.deals, row.only_sums, row.repeatable, sha256, place))

    def pieces(self, key: Key, first: int, deals: int) -> list[Row]:
        """Returns all rows of a cell that have some of the deals ``first .. first+deals-1``."""
        return [Row.from_json(self._segments.at(entry.place)) for entry in self._near(key, first, deals)]

    def _near(self, key: Key, first: int, deals: int) -> list[_Entry]:
        rows = self._entries.get(key, {})
        numbers = range(first // ROW, (first + deals - 1) // ROW + 1)
        return [
            entry for number in numbers for entry in rows.get(number, ()) if first < entry.end and entry.first < first + deals
        ]

    def get(self, key: Key, first: int, deals: int) -> Row | None:
        """Returns the deals ``first .. first+deals-1`` of a cell; None where some are missing."""
        return joined(self.pieces(key, first, deals), first, deals)

    def covered(self, key: Key, first: int, deals: int) -> int:
        """Returns how many deals of a cell are there from ``first`` on without a gap, at most ``deals``."""
        rows = chain(self._near(key, first, deals), first, first + deals)
        return min(rows[-1].end, first + deals) - first if rows else 0

    def add(self, rows: Sequence[Row]) -> None:
        """Appends rows, while the caller goes on; what is there already is left out.

        Raises :class:`WorkError` for a row whose deals are there with other numbers, and as ``Segments.append`` does.
        """
        new = list[dict[str, Any]]()
        for row in rows:
            content = json.loads(json.dumps(row.to_json()))
            there = self._entries.get(row.key, {}).get(row.first // ROW, ())
            same = [entry for entry in there if (entry.first, entry.deals) == (row.first, row.deals)]
            if not same:
                new.append(content)
            elif row.repeatable and same[0].repeatable and same[0].digest != digest(content):
                raise _different(row, "here", str(same[0].place.path))
        self._segments.append(*new)

    def close(self) -> None:
        """Waits until all rows are on the disk; raises :class:`WorkError` where some are not."""
        self._segments.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- looks ---------------------------------------------------------------------------------------------------------

    def looks(self, source: str, players: Iterable[str]) -> set[int]:
        """Returns the numbers of deals over which results were reported before that two of ``players`` were in."""
        names = {*players}
        return {
            look["deals"] for look in self._looks if look["source"] == source and len(names.intersection(look["players"])) > 1
        }

    def add_look(self, source: str, players: Sequence[str], deals: int) -> None:
        """Notes that a result of ``players`` over ``deals`` was reported, unless it was before."""
        look = {"source": source, "players": [*players], "deals": deals}
        if look not in self._looks:
            self._looks.append(look)
            self._segments.append({LOOK: look})

    # ---- verification --------------------------------------------------------------------------------------------------

    def keys(self) -> list[tuple[Key, int, int]]:
        """Returns the cells, first deals and numbers of deals of all rows that must come out the same again."""
        return [(key, one.first, one.deals) for key, one in self._all() if one.repeatable]

    def _all(self) -> Iterator[tuple[Key, _Entry]]:
        return ((key, one) for key, rows in self._entries.items() for some in rows.values() for one in some)

    def verify(self, count: int, rng: np.random.Generator, play: Callable[[Row], Row | None]) -> tuple[int, list[Row]]:
        """Plays ``count`` rows again, drawn by ``rng``; returns how many were compared, and the rows that came out otherwise.

        ``play`` returns a row as it is played now; None where one of its players is not there.
        """
        rows = [entry for _, entry in self._all() if entry.repeatable]
        compared, differing = 0, list[Row]()
        for number in rng.permutation(len(rows)).tolist():
            if compared == count:
                break
            before = Row.from_json(self._segments.at(rows[number].place))
            now = play(before)
            if now is not None:
                compared += 1
                if digest(json.loads(json.dumps(now.to_json()))) != rows[number].digest:
                    differing.append(before)
        return compared, differing


def _different(row: Row, one: str, other: str) -> WorkError:
    return WorkError(
        f"The deals {row.first} to {row.end - 1} of a cell came out otherwise in {quoted(one)} than in {quoted(other)}: the code "
        "of a player, or what it depends on, changed under a running command. Remove one of the two, or play into another folder."
    )


def source_id(source: DealSource[Any]) -> str:
    """Returns the identity of a source, 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(source.content(), sort_keys=True).encode()).hexdigest()[:32]
