"""Damaged records: refused in a sentence, or still a match that the slow twin plays to the same end."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import (
    MAX_SHOWN_NAME,
    Record,
    append_record,
    format_record,
    parse_record,
    read_lines,
    show_record,
)
from nainjaune_env.registry import make_setup
from tests import golden
from tests.games.batasaurus.records.test_write import on_the_twin as batasaurus_on_the_twin
from tests.games.nain_jaune.records.test_write import on_the_twin as nain_jaune_on_the_twin
from tests.support.recorded import play

from .mutations import damage_bytes, damage_value, flip_bit
from .oracle import Fault, Fuzzer, refused

TWINS: dict[str, Any] = {"batasaurus": batasaurus_on_the_twin, "nain_jaune": nain_jaune_on_the_twin}
"""The twin of each game that has one; the records of the others are replayed only."""


class Records(Fuzzer):
    """Lines of records, read and appended to."""

    name = "records"
    short = 120
    long = 10_000

    def __init__(self, folder: Path, *, thorough: bool = False) -> None:
        super().__init__(folder, thorough=thorough)
        lines = [path.read_bytes().rstrip(b"\n") for path in sorted(golden.FOLDER.glob("*.jsonl"))]
        lines += [format_record(record).encode() for record in play(make_setup("signal_lamps"), 1)]
        self.corpus: list[tuple[bytes, Record]] = [(line, json.loads(line)) for line in lines]

    def case(self, rng: random.Random) -> None:
        line, record = rng.choice(self.corpus)
        damaged = self._damaged(line, record, rng)
        where = f"the record {damaged[:200]!r}…"
        read: list[Record] = []
        error = refused(
            lambda: read.extend(result.record for result in read_lines([damaged + b"\n"], "f")), RecordError, where=where
        )
        if error is None:
            for accepted in read:
                self._check_accepted(accepted, record, where)
        if rng.random() < 0.1 or self.thorough:
            self._check_append(damaged, rng.choice((b"", b"\n")), record, where)

    def _damaged(self, line: bytes, record: Record, rng: random.Random) -> bytes:
        kind = rng.random()
        if kind < 0.15:
            return flip_bit(line, rng)
        if kind < 0.35:
            return damage_bytes(line, rng)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            record = damage_value(record, rng, rng.choice(self.corpus)[1])
        # as a careless writer might have it: escapes, spaces, keys in another order
        ascii_only, spaced, sort = (rng.random() < 0.2 for _ in range(3))
        text = json.dumps(record, ensure_ascii=ascii_only, separators=None if spaced else (",", ":"), sort_keys=sort)
        if rng.random() < 0.05:
            text = text.replace('"version"', '"format":"nainjaune-record","version"', 1)
        return text.encode(errors="surrogatepass")

    def _check_accepted(self, accepted: Record, original: Record, where: str) -> None:
        if parse_record(format_record(accepted)) != accepted:
            raise Fault(f"accepted, and not the same when it is written and read again: {where}")
        for language in LANGUAGES:
            shown: list[str] = []
            if error := refused(
                lambda shown=shown, language=language: shown.append(show_record(accepted, language)), RecordError, where=where
            ):
                raise Fault(f"accepted, and cannot be shown: {error}: {where}")
            if "x" * (MAX_SHOWN_NAME + 1) in shown[0]:
                raise Fault(f"a long name is shown whole: {where}")
        if accepted != original and accepted["game"] in TWINS:
            try:
                TWINS[accepted["game"]](accepted)
            except Exception as error:
                raise Fault(f"accepted, and the twin plays it otherwise ({error!r}): {where}") from error

    def _check_append(self, damaged: bytes, end: bytes, record: Record, where: str) -> None:
        path = self.folder / "a.jsonl"
        path.write_bytes(damaged + end)
        error = refused(lambda: append_record(path, record), RecordError, where=f"appending to {where}")
        line = b"" if error else format_record(record).encode() + b"\n"
        if path.read_bytes() != damaged + end + line:
            raise Fault(f"what was in the file before something was appended is altered: {where}")
