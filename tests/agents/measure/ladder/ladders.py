"""Small ladders in a folder, for tests."""

from __future__ import annotations

from pathlib import Path

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


def contents(folder: Path) -> dict[str, bytes]:
    """The files of the results of the ladder in ``folder`` that do not depend on the machine, by name."""
    paths = sorted(path for path in (folder / "results").rglob("*") if path.is_file() and path.name != "times.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
