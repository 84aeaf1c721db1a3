"""A submission is verified: it plays, its records are right, and a random part of the kept results comes out the same again."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct, structs

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, WorkError, unknown_name_message
from nainjaune_env.core.validation import read_json

from ...base.settings import NonNegativeInt, convert
from ..rows import Row
from .entries import Ladder
from .folder import inside
from .games import played_round
from .play import Players, again
from .results import Results

FOLDER = "checks"
ROUNDS = 2
"""Rounds that an entry plays at each of its tables, as a sample."""
BATCHES = 8
"""Batches that are played again: half of them the entry's, as far as there are any."""


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """What a verification found."""

    entry: str
    identity: str
    """Of the entry, at its tables together: a changed entry is not verified."""
    seed: NonNegativeInt
    rounds: NonNegativeInt
    """Played and verified."""
    repeated: Annotated[int, Meta(ge=0, le=BATCHES)]
    """Batches played again."""
    differing: list[str]
    """Those that came out otherwise."""
    uncertain: NonNegativeInt
    """Batches of the entry with faults of programs, which clocks decide: they are not drawn."""

    def sentence(self) -> str:
        """Returns it in words."""
        verdict = f"DIFFERENT: {', '.join(self.differing)}" if self.differing else "all equal to the byte"
        verdict = verdict if self.repeated else "none to compare"
        left_out = f"; {self.uncertain} of the entry's batches have faults and are not repeatable" if self.uncertain else ""
        return (
            f"{self.rounds} rounds with right records; {self.repeated} drawn batches played again, {verdict}{left_out} "
            f"(seed {self.seed})"
        )


def entry_named(ladder: Ladder, text: str) -> str:
    """Returns the key of the entry that ``text`` names, by its key or its file; raises :class:`ConfigError` without one."""
    key = Path(text).name.removesuffix(".toml")
    if key not in ladder.entries:
        raise ConfigError(unknown_name_message("entry", text, ladder.entries))
    return key


def check_entry(
    results: Results, players: Players, key: str, rng: np.random.Generator, seed: int, progress: Callable[[str], object]
) -> Check:
    """Plays a sample of the entry ``key`` and a random part of the results again, both drawn from ``rng``; writes what it found.

    Raises :class:`AgentError` for an entry that cannot play, and :class:`RecordError` for a record that is not right. A batch
    that comes out otherwise raises nothing: it is in :attr:`Check.differing`.
    """
    ladder = results.ladder
    rounds = 0
    for table in ladder.entries[key].tables:
        rivals = [rival for rival in ladder.players(table) if rival != key]
        for _ in range(ROUNDS):
            progress(f"{table}: a round")
            drawn = [rivals[at] for at in rng.permutation(len(rivals))[: ladder.tables[table].players - 1]]
            played_round(results, table, (key, *drawn), players, int(rng.integers(1 << 32)))
            rounds += 1
    pairings = {
        (row.key, row.first, row.deals): pairing for pairing in results.pairings.values() for row in pairing.batches
    }  # fmt: skip
    rows = [(key in pairing.keys, row) for pairing in results.pairings.values() for row in pairing.batches]
    others = sum(row.repeatable for entrys, row in rows if not entrys)

    def play(row: Row, *, entrys: bool) -> Row | None:
        pairing = pairings.get((row.key, row.first, row.deals))
        if pairing is None or (key in pairing.keys) != entrys:
            return None
        progress(f"{pairing.table}: {pairing.one}, {pairing.other} again")
        return again(results, players, pairing, row)

    repeated, different = results.store.verify(max(BATCHES // 2, BATCHES - others), rng, partial(play, entrys=True))
    more, different_too = results.store.verify(BATCHES - repeated, rng, partial(play, entrys=False))
    names = list[str]()
    for row in (*different, *different_too):
        pairing = pairings[row.key, row.first, row.deals]
        names.append(f"{pairing.table} {pairing.one} {pairing.other} from deal {row.first}")
    uncertain = sum(entrys and not row.repeatable for entrys, row in rows)
    check = Check(key, _identity(results, key), seed, rounds, repeated + more, names, uncertain)
    write_text(inside(ladder.folder, ladder.folder / FOLDER / f"{key}.json"), json.dumps(structs.asdict(check), indent=1) + "\n")
    return check


def _identity(results: Results, key: str) -> str:
    return " ".join(of[key] for of in results.identities.values() if key in of)


def read_checks(results: Results) -> dict[str, str]:
    """Returns what the last verification of each entry found, in words, for entries that have not changed since."""
    sentences = {}
    for key in results.ladder.entries:
        path = results.ladder.folder / FOLDER / f"{key}.json"
        if path.exists():
            content = read_json(path, "verification of an entry", WorkError)
            what = f"{str(path)!r} is not a verification of an entry as --check writes it, and may be removed"
            check = convert(Check, content, what, WorkError)
            if (check.entry, check.identity) == (key, _identity(results, key)):
                sentences[key] = check.sentence()
    return sentences
