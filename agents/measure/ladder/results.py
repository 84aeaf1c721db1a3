"""What the pairs of a ladder have played, as files in ``results/``: one for each pair at each table.

A batch is kept as exact sums, with the first half of the SHA-256 of all its gains, so that playing it again shows every
difference. A file is rewritten after each batch, whole or not at all. It counts as long as the rules and both entries are what
they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import AgentError, RecordError, WorkError, as_sentence, quoted
from nainjaune_env.core.validation import check_keys, check_list, finite, read_json

from ...players.foreign import is_bot
from ...players.program.counting import KEY as BOTS
from ...players.program.settings import FORFEIT
from ..player_id import player_id
from ..stats.differences import Differences
from ..stats.exact_sums import DifferenceSums
from .batches import FAULTS, FORFEITED, KEYS, MAX_SUM, check_batches
from .entries import Ladder
from .folder import inside

FOLDER, TIMES = "results", "times.json"
FILE_KEYS = ("table", "entries", "seed", "batches", "sha256")


@dataclass
class Pairing:
    """Two entries at a table."""

    table: str
    one: str
    other: str
    seed: int
    """Of their deals."""
    batches: list[dict[str, Any]] = field(default_factory=list)
    """For each the ``first`` deal, the number of ``deals``, the sums of ``advantage``, the digest of the ``gains``, and the
    ``faults`` of both, where there were any."""

    @property
    def deals(self) -> int:
        """The deals played."""
        return sum(batch["deals"] for batch in self.batches)

    def advantage(self, players: int) -> Differences:
        """Returns the advantages of ``one`` over ``other``."""
        scale = 2 * players**2
        sums = DifferenceSums(scale)
        for batch in self.batches:
            sums.merge(DifferenceSums.from_json(scale, batch["advantage"]))
        return sums.differences()


def pair_seed(seed: int, table: str, one: str, other: str) -> int:
    """Returns the seed of the deals of a pair, below 2**32: every pair has its own, so that pairs are independent."""
    return int(hashlib.sha256(f"{seed} {table} {one} {other}".encode()).hexdigest()[:8], 16)


class Results:
    """The results of a ladder that count."""

    def __init__(self, ladder: Ladder) -> None:
        """Reads them; raises :class:`WorkError` for a file that is damaged, and as ``player_id`` does."""
        self.ladder = ladder
        self.folder = ladder.folder / FOLDER
        self.identities = {table: {key: self._identity(key, table) for key in ladder.players(table)} for table in ladder.tables}
        self.pairings = {
            (table, *pair): self._read(table, *pair) for table in ladder.tables for pair in ladder.pairs(table)
        }  # fmt: skip
        self.times: dict[str, list[float]] = self._read_times()
        """Calls, decisions and seconds of each entry, on whatever machines played."""

    def _identity(self, key: str, table: str) -> str:
        entry, setup = self.ladder.entries[key], self.ladder.tables[table]
        try:
            return player_id(entry.located, setup, self.ladder.bots, folder=entry.folder, build=entry.build)
        except AgentError as error:
            raise AgentError(f"The entry {key!r} at the table {table!r}: {error}") from None

    def at(self, table: str) -> Iterator[Pairing]:
        """Yields the pairings of a table that have played."""
        return (pairing for (where, *_), pairing in self.pairings.items() if where == table and pairing.batches)

    def path(self, table: str, one: str, other: str) -> Path:
        """Returns the file of a pair."""
        return self.folder / table / f"{one}--{other}.json"

    def add(self, pairing: Pairing, batch: Mapping[str, Any]) -> None:
        """Adds the next batch of a pair, and writes its file."""
        pairing.batches.append(self.kept(pairing, batch))
        content = {**self._head(pairing), "batches": pairing.batches}
        lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in pairing.batches)
        head = json.dumps(self._head(pairing), separators=(",", ":"))[1:-1]
        text = f'{{{head},"batches":[\n{lines}\n],"sha256":"{_digest(content)}"}}\n'
        write_text(inside(self.ladder.folder, self.path(pairing.table, pairing.one, pairing.other)), text)
        for key, taken in zip((pairing.one, pairing.other), batch["times"], strict=True):
            before = self.times.get(key, [0, 0, 0.0])
            self.times[key] = [mine + its for mine, its in zip(before, taken, strict=True)]

    def kept(self, pairing: Pairing, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what is kept of a batch as a player of a plan returned it."""
        faults = self._faults(pairing, batch)
        return {name: batch[name] for name in KEYS} | ({FAULTS: faults} if any(faults) else {})

    def _faults(self, pairing: Pairing, batch: Mapping[str, Any]) -> list[dict[str, int]]:
        """Returns the faults of both entries by kind, and the decisions that they forfeited."""
        rows = []
        for key in (pairing.one, pairing.other):
            counts = batch.get(BOTS, {}).get(self.ladder.entries[key].located, {"faults": {}, "forfeited": 0})
            rows.append({**counts["faults"], FORFEITED: counts["forfeited"]} if counts["faults"] or counts["forfeited"] else {})
        return rows

    def write_times(self) -> None:
        """Writes the times, which differ from machine to machine, to a file of their own."""
        rows = {key: [calls, decisions, round(seconds, 3)] for key, (calls, decisions, seconds) in sorted(self.times.items())}
        write_text(inside(self.ladder.folder, self.folder / TIMES), json.dumps(rows, indent=1) + "\n")
        self.times = rows

    def _head(self, pairing: Pairing) -> dict[str, Any]:
        of = self.identities[pairing.table]
        setup = self.ladder.tables[pairing.table]
        rules = hashlib.sha256(json.dumps(setup.to_dict(), sort_keys=True).encode()).hexdigest()[:32]
        return {
            "table": {pairing.table: rules},
            "entries": {key: of[key] for key in (pairing.one, pairing.other)},
            "seed": pairing.seed,
        }

    def _read(self, table: str, one: str, other: str) -> Pairing:
        pairing = Pairing(table, one, other, pair_seed(self.ladder.seed, table, one, other))
        path = self.path(table, one, other)
        if not path.exists():
            return pairing
        try:
            content = dict(check_keys(str(path), read_json(path, "result of a pair", WorkError), FILE_KEYS))
            if content.pop("sha256") != _digest(content):
                raise RecordError(f"{str(path)!r} is damaged: its content does not have the SHA-256 that it names.")
            batches = check_list(str(path), "batches", content.pop("batches"), dict)
            if json.dumps(content) == json.dumps(self._head(pairing)):  # in order: the first entry is the one with the advantage
                check_batches(str(path), batches, {key: self._forfeits(key) for key in (one, other)})
                pairing.batches = batches if batches and batches[0]["deals"] == self.ladder.batch else []
        except RecordError as error:
            raise WorkError(f"{as_sentence(error)} Remove the file to play the pair again.") from None
        return pairing

    def _forfeits(self, key: str) -> bool:
        """Returns whether an entry is a program whose faults are forfeits."""
        return is_bot(self.ladder.entries[key].agent) and self.ladder.bots.on_fault == FORFEIT

    def _read_times(self) -> dict[str, list[float]]:
        path = self.folder / TIMES
        if not path.exists():
            return {}
        content = read_json(path, "file of times", WorkError)
        if not isinstance(content, dict):
            raise WorkError(f"{str(path)!r} is not a file of times: expected an object, not {quoted(content)}.")
        for key, row in content.items():
            numbers = [finite(one) for one in row] if isinstance(row, list) else []
            if len(numbers) != 3 or not all(number is not None and 0 <= number <= MAX_SUM for number in numbers):
                raise WorkError(
                    f"{str(path)!r} is not a file of times: expected calls, decisions and seconds of {quoted(key)}, and they are "
                    f"{quoted(row)}."
                )
        return {key: row for key, row in content.items() if key in self.ladder.entries}


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
