"""The order of the modules in a game's folder: each imports only those of an earlier step, or of its own."""

from __future__ import annotations

import pytest

from nainjaune_env.registry import game_names
from tests.support.source import Source, imports, sources

STEPS: tuple[tuple[str, ...], ...] = (
    ("rules", "state", "events"),
    ("actions",),
    ("kernel",),
    ("encode", "bounds"),
    ("belief.*",),
    # the texts alone; what speaks them stands above the records
    ("language", "language.wording", "language.parsing"),
    ("chance", "invariants", "records.*"),
    ("view.*",),
    ("language.*",),
    ("research.*",),
    ("",),
)
"""Modules and packages (ending in ``.*``) by their names within the folder; ``""`` is the folder's own ``__init__``."""


def step(name: str) -> int:
    """Returns the step of a module, by its name within the folder: that of its most exact entry."""
    result = {
        entry: number
        for number, entries in enumerate(STEPS)
        for entry in entries
        if entry == name or (entry.endswith(".*") and f"{name}.".startswith(entry[:-1]))
    }
    if not result:
        raise KeyError(f"{name} has no step: enter it in STEPS, in {__file__}")
    return result[max(result, key=lambda entry: (entry == name, len(entry)))]


def modules(game: str) -> dict[str, Source]:
    """Returns the modules of a game by their names within its folder."""
    folder = f"nainjaune_env.games.{game}"
    return {
        name.removeprefix(folder).removeprefix("."): source
        for name, source in sources().items()
        if name == folder or name.startswith(f"{folder}.")
    }


def faults(name: str, source: Source, game: str) -> list[str]:
    """Returns the imports of a module that belong to a later step."""
    folder = f"nainjaune_env.games.{game}."
    targets = sorted(target.removeprefix(folder) for target in imports(source) if target.startswith(folder))
    return [f"{name} imports {target}" for target in targets if step(target) > step(name)]


@pytest.mark.parametrize("game", game_names())
def test_imports_within_a_game_go_one_way(game: str) -> None:
    result = modules(game)
    assert {"", "rules", "kernel", "encode"} <= result.keys()  # or nothing would be read
    assert [fault for name, source in result.items() for fault in faults(name, source, game)] == []
