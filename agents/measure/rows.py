"""A row: what one cell of a cross table played on some deals, kept whole, under a digest.

A cell is a hero in a field: the hero sits in each seat in turn, and copies of the field in all others. Where both are the same
player, it is one table with that player in every seat. A row holds numbers for each deal, not sums over deals, because
advantages, looks of a test and rankings need the values of several cells on the same deal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.core.errors import WorkError

from ..players.program.counting import BotCounts
from .distributed.arrays import packed, unpacked
from .stats.exact_sums import ProductSums

ROW = 256
"""Most deals of a row with numbers for each deal; it crosses no multiple of this. A sequential test looks after each."""

Kind = Literal["payoff", "controlled", "behaviour", "one table", "summary"]
"""``payoff``: for each deal the payoff by seat, of matches also the rounds. ``controlled``: see ``control_variates``. ``one
table``: see ``one_table``. ``behaviour`` (``behaviour.Behaviour``) and ``summary`` (the ladder's) have sums over deals alone."""


class Key(NamedTuple):
    """Which cell of which source a row belongs to."""

    source: str
    """The identity of the ``DealSource``, 32 hexadecimal digits."""
    hero: str
    """The ``player_id`` of the hero."""
    field: str
    kind: Kind


@dataclass(frozen=True)
class Row:
    """Some deals of a cell."""

    key: Key
    first: int
    deals: int
    values: NDArray[np.int64]
    """``(deals, C)``; the columns depend on the kind."""
    leader: NDArray[np.int64]
    """The seat that acts first on each deal, ``(deals,)``; empty where the row has sums alone."""
    sums: Mapping[str, Any] | None = None
    """Sums over all deals of the row, as JSON values."""
    bots: Mapping[str, Any] = field(default_factory=dict)
    """``BotCounts.to_dict`` of the unit that this row was played in; where there are faults, it may come out otherwise again."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """What it was made with: versions, the unit it was played in, clocks. It is never compared."""

    @property
    def end(self) -> int:
        """The number of the deal after the last."""
        return self.first + self.deals

    @property
    def only_sums(self) -> bool:
        """Whether there are no numbers for each deal."""
        return self.sums is not None

    @property
    def repeatable(self) -> bool:
        """Whether it must come out the same again: not where a program had faults, which clocks decide."""
        return not any(counts["faults"] or counts["forfeited"] for counts in self.bots.get("bots", {}).values())

    def part(self, first: int, deals: int) -> Row:
        """Returns the deals ``first .. first+deals-1`` of a row with numbers for each deal."""
        rows = slice(first - self.first, first - self.first + deals)
        return replace(self, first=first, deals=deals, values=self.values[rows], leader=self.leader[rows])

    def to_json(self) -> dict[str, Any]:
        """Returns the row as JSON values."""
        content = {**self.key._asdict(), "first": self.first, "deals": self.deals}
        content |= {"values": packed(self.values), "columns": self.values.shape[1], "leader": packed(self.leader)}
        return {**content, "sums": self.sums, "bots": self.bots, "made": self.made}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Row:
        """Returns the row that :meth:`to_json` wrote; raises :class:`WorkError` for anything else."""
        try:
            key = Key(*(content[name] for name in Key._fields))
            first, deals, columns = content["first"], content["deals"], content["columns"]
            whole = all(type(number) is int and number >= 0 for number in (first, deals, columns))
            if not whole or key.kind not in get_args(Kind) or not all(isinstance(text, str) for text in key):
                raise WorkError("Expected a cell and its deals.")
            played = deals if columns else 0
            values = unpacked(content["values"], (played, columns), np.int64)
            leader = unpacked(content["leader"], (played,), np.int64)
            return cls(key, first, deals, values, leader, content["sums"], content["bots"], content["made"])
        except (KeyError, TypeError, WorkError) as error:
            raise WorkError(f"Expected a row of payoffs, and it is none: {error!r}") from None


def joined(pieces: Iterable[Row], first: int, deals: int) -> Row | None:
    """Returns the deals ``first .. first+deals-1`` of a cell out of ``pieces`` of it; None where some are missing.

    Rows that have sums alone must fit without a rest. What ``bots`` did is that of all pieces that are used.
    """
    used = list[Row]()
    for row in chain(pieces, first, first + deals):
        at = used[-1].end if used else first
        used.append(row if row.only_sums else row.part(at, min(row.end, first + deals) - at))
    if not used or used[-1].end != first + deals:
        return None
    bots = BotCounts()
    for row in used:
        bots.add(row.bots)
    packages = {row.made.get("package") for row in used}
    made = {"packages": sorted(filter(None, packages)), "clocks": clocks_of(used)}
    values, leader = (np.concatenate([getattr(row, name) for row in used]) for name in ("values", "leader"))
    return Row(used[0].key, first, deals, values, leader, _merged(used), bots.to_dict(), made)


class Span(Protocol):
    """Some deals of a cell: a row, or where one stands."""

    @property
    def first(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def only_sums(self) -> bool: ...


S = TypeVar("S", bound=Span)


def chain(pieces: Iterable[S], first: int, end: int) -> list[S]:
    """Returns rows that follow each other from deal ``first`` on, as far as they go and at most to ``end``.

    A row with numbers for each deal may begin before the deal that is wanted, and reach beyond the ``end``.
    """
    rows, at, pieces = list[S](), first, [*pieces]
    while at < end:
        fitting = [row for row in pieces if (row.first == at and row.end <= end if row.only_sums else row.first <= at < row.end)]
        if not fitting:
            break
        rows.append(max(fitting, key=lambda row: row.end))
        at = rows[-1].end
    return rows


def _merged(rows: Sequence[Row]) -> Mapping[str, Any] | None:
    """Returns the sums of all ``rows``, by their kind."""
    if rows[0].sums is None or len(rows) == 1:
        return rows[0].sums
    if rows[0].key.kind == "behaviour":
        whole = ProductSums.from_json(dict(rows[0].sums))
        for row in rows[1:]:
            assert row.sums is not None
            whole.merge(ProductSums.from_json(dict(row.sums)))
        return whole.to_json()
    raise WorkError(f"Rows of the kind {rows[0].key.kind!r} are not put together.")


def clocks_of(rows: Iterable[Row]) -> dict[str, list[float]]:
    """Returns the calls, decisions and seconds of each player that was timed, by its name."""
    total: dict[str, Counter[int]] = {}
    for row in rows:
        for name, numbers in row.made.get("clocks", {}).items():
            total.setdefault(name, Counter()).update(dict(enumerate(numbers)))
    return {name: [counts[place] for place in range(3)] for name, counts in total.items()}
