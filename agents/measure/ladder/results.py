"""What the pairs of a ladder have played: rows in the store ``results/``, one for each batch of a pair at a table.

A row has exact sums, with the first half of the SHA-256 of all gains, so that playing the batch again shows every difference. It
counts as long as the rules and both entries are what they were, and the batches of the pair before it are there.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nainjaune_env.core.errors import AgentError, RecordError, WorkError, as_sentence

from ...players.foreign import is_bot
from ...players.program.counting import KEY as BOTS
from ...players.program.settings import FORFEIT
from ..distributed.segments import SUFFIX
from ..distributed.units import Payload
from ..own_game import OwnGame
from ..player_id import player_id
from ..rows import Key, Row, clocks_of
from ..stats.differences import Differences
from ..stats.exact_sums import DifferenceSums
from ..store import Store, source_id
from .batches import check_batch
from .entries import Ladder
from .folder import inside
from .plan import PairDeals

FOLDER, SEGMENT, SORTED = "results", "batches", "sorted"


@dataclass
class Pairing:
    """Two entries at a table."""

    table: str
    one: str
    other: str
    seed: int
    """Of their deals."""
    key: Key
    """Of their rows."""
    batches: list[Row]
    """From deal 0 on, without a gap."""

    @property
    def keys(self) -> tuple[str, str]:
        """Both entries."""
        return self.one, self.other

    @property
    def deals(self) -> int:
        """The deals played."""
        return self.batches[-1].end if self.batches else 0

    def advantage(self, players: int) -> Differences:
        """Returns the advantages of ``one`` over ``other``."""
        scale = 2 * players**2
        sums = DifferenceSums(scale)
        for row in self.batches:
            assert row.sums is not None
            sums.merge(DifferenceSums.from_json(scale, row.sums["advantage"]))
        return sums.differences()

    def part(self, agents: Sequence[str], first: int, deals: int) -> PairDeals:
        """Returns some deals of the pair as a part of a plan, whose agents are the entries ``agents``."""
        return PairDeals(agents.index(self.one), agents.index(self.other), self.seed, first, deals)

    def row(self, first: int, deals: int, payload: Payload) -> Row:
        """Returns the row of some deals as a ``LadderPlan`` played them: with the faults of bots only where there were any."""
        counts = zip(self.keys, payload["counts"], strict=True)
        faults = {key: one for key, one in counts if one is not None and (one["faults"] or one["forfeited"])}
        clocks = {key: [*taken[:2], round(taken[2], 4)] for key, taken in zip(self.keys, payload["clocks"], strict=True)}
        return Row(
            self.key, first, deals, np.zeros((0, 0), np.int64), np.zeros(0, np.int64), payload["sums"],
            {BOTS: faults} if faults else {}, {"clocks": clocks},
        )  # fmt: skip


def pair_seed(seed: int, table: str, one: str, other: str) -> int:
    """Returns the seed of the deals of a pair, below 2**32: every pair has its own, so that pairs are independent."""
    return int(hashlib.sha256(f"{seed} {table} {one} {other}".encode()).hexdigest()[:8], 16)


class Results:
    """The results of a ladder that count."""

    def __init__(self, ladder: Ladder) -> None:
        """Reads them; raises :class:`WorkError` for a row that no ladder writes, and as ``Store`` and ``player_id`` do.

        Damaged lines are named in ``store.damaged``, and played again.
        """
        self.ladder = ladder
        self.folder = ladder.folder / FOLDER
        self.identities = {table: {key: self._identity(key, table) for key in ladder.players(table)} for table in ladder.tables}
        for path in self.folder.glob(f"*{SUFFIX}"):
            if not path.is_file():
                raise WorkError(f"{str(path)!r} is no file.")  # a pipe may wait for ever
        self.store = Store(self.folder, SEGMENT)
        self.pairings = {
            (table, *pair): self._read(table, *pair) for table in ladder.tables for pair in ladder.pairs(table)
        }  # fmt: skip

    def _identity(self, key: str, table: str) -> str:
        entry, setup = self.ladder.entries[key], self.ladder.tables[table]
        try:
            return player_id(entry.located, setup, self.ladder.bots, folder=entry.folder, build=entry.build)
        except AgentError as error:
            raise AgentError(f"The entry {key!r} at the table {table!r}: {error}") from None

    def _read(self, table: str, one: str, other: str) -> Pairing:
        seed = pair_seed(self.ladder.seed, table, one, other)
        ids = self.identities[table]
        key = Key(source_id(OwnGame(self.ladder.tables[table], seed)), ids[one], ids[other], "summary")
        pairing = Pairing(table, one, other, seed, key, [])
        programs = {each: self._forfeits(each) for each in pairing.keys}
        while rows := self.store.pieces(key, pairing.deals, 1):
            row = rows[0]
            if (row.first, row.deals) != (pairing.deals, self.ladder.batch):
                break  # of another ladder.toml
            where = f"{str(self.folder)!r}, {one} and {other} at {table} from deal {row.first}"
            try:
                check_batch(where, row, programs)
            except RecordError as error:
                raise WorkError(f"{as_sentence(error)} Remove its line to play it again.") from None
            pairing.batches.append(row)
        return pairing

    def _forfeits(self, key: str) -> bool:
        """Returns whether an entry is a program whose faults are forfeits."""
        return is_bot(self.ladder.entries[key].agent) and self.ladder.bots.on_fault == FORFEIT

    def at(self, table: str) -> Iterator[Pairing]:
        """Yields the pairings of a table that have played."""
        return (pairing for (where, *_), pairing in self.pairings.items() if where == table and pairing.batches)

    @property
    def times(self) -> dict[str, list[float]]:
        """Calls, decisions and seconds of each entry, on whatever machines played."""
        return clocks_of(row for pairing in self.pairings.values() for row in pairing.batches)

    def add(self, pairing: Pairing, row: Row) -> None:
        """Adds the next batch of a pair, and appends it to the store while the caller goes on; raises as ``Store.add`` does."""
        inside(self.ladder.folder, self.folder / f"{SEGMENT}{SUFFIX}")
        self.store.add([row])
        pairing.batches.append(row)

    def sort(self) -> None:
        """Writes the rows of these entries sorted, so that results do not depend on the order in which they were played.

        Others are dropped; the old file is replaced at once. All rows must be on the disk. Raises :class:`WorkError` where they
        cannot be written.
        """
        name = f"{SEGMENT}{SUFFIX}"
        new, path = (inside(self.ladder.folder, self.folder / part) for part in (SORTED, name))
        shutil.rmtree(new, ignore_errors=True)  # of a process that was killed
        with Store(new, SEGMENT) as store:
            store.add([row for pairing in self.pairings.values() for row in pairing.batches])
        if (new / name).exists():  # not without any row
            (new / name).replace(path)
        shutil.rmtree(new, ignore_errors=True)
        self.store = Store(self.folder, SEGMENT)
