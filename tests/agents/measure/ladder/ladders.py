"""Small ladders in a folder, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nainjaune_agents.measure.distributed.segments import Segments
from nainjaune_agents.measure.ladder.entries import read_ladder
from nainjaune_agents.measure.ladder.results import Results
from nainjaune_agents.measure.rows import Key

ROWS = "results/batches.jsonl"
HEAD = """title = "Test"
game = "nain_jaune"
batch = 256
seed = 1
reference = "lowest"
"""
TABLES = """
[[tables]]
preset = "djeco"
seats = [3, 2]
"""


def entry(folder: Path, key: str, agent: str | None = None, **others: str) -> None:
    """Writes the entry ``key`` of the ladder in ``folder``; values of ``others`` are TOML."""
    lines = [f'name = "{key}"', 'author = "us"', f'agent = "{agent or key}"', *(f"{k} = {v}" for k, v in others.items())]
    (folder / "entries").mkdir(parents=True, exist_ok=True)
    (folder / "entries" / f"{key}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ladder(folder: Path, *keys: str) -> Path:
    """Writes a ladder whose entries are heuristics; returns ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ladder.toml").write_text(HEAD + TABLES, encoding="utf-8")
    for key in keys or ("closer", "lowest", "random", "tally"):
        entry(folder, key)
    return folder


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of the ladder in ``folder``, in the order of the file."""
    lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()[1:] if (folder / ROWS).exists() else []
    return [json.loads(line) for line in lines]


def of_pair(folder: Path, table: str, one: str, other: str) -> list[dict[str, Any]]:
    """Those of a pair."""
    key = Results(read_ladder(folder)).pairings[table, one, other].key
    return [row for row in rows(folder) if Key(*(row[name] for name in Key._fields)) == key]


def forge(folder: Path, change: Callable[[dict[str, Any]], object], *pair: str) -> None:
    """Changes each row of a pair, a table and two entries, with the SHA-256 that it then has."""
    changed = [row["sha256"] for row in of_pair(folder, *pair)]
    content = rows(folder)
    for row in content:
        if row["sha256"] in changed:
            change(row)
    (folder / ROWS).unlink()
    with Segments((folder / ROWS).parent, (folder / ROWS).stem) as segments:
        segments.append(*content)


def contents(folder: Path) -> dict[str, Any]:
    """The results of the ladder in ``folder`` that do not depend on the machine: the rows, and other files by name."""
    paths = [path for path in (folder / "results").rglob("*") if path.is_file() and path != folder / ROWS]
    files: dict[str, Any] = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {**files, ROWS: [{name: value for name, value in row.items() if name != "made"} for row in rows(folder)]}
