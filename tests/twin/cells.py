"""What is compared: every preset at every number of seats, and random knobs at every number of seats."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nainjaune_env.core.spec import Setup
from nainjaune_env.games import DEFAULT_GAME
from nainjaune_env.registry import get_game

from . import compare as nain_jaune
from . import compare_batasaurus as batasaurus

SIDES: dict[str, Any] = {"nain_jaune": nain_jaune, "batasaurus": batasaurus}
"""For each game a module with `WIDEST`, `random_knobs(rng)` and `Comparer(setup)`, which has `job(rng, label)` and `seen`."""


@dataclass(frozen=True)
class Cell:
    """A preset (or random knobs) with a number of seats."""

    preset: str | None
    """None: random knobs over the game's `WIDEST`, the preset that allows every number of seats."""
    players: int
    game: str = DEFAULT_GAME

    def __str__(self) -> str:
        return f"{self.preset or 'random knobs'} x{self.players}"


def all_cells(game: str = DEFAULT_GAME) -> list[Cell]:
    """Presets in order, each at every number of seats it allows, then random knobs."""
    presets = get_game(game).presets
    cells = [Cell(name, n, game) for name, preset in presets.items() for n in preset.players]
    return cells + [Cell(None, n, game) for n in presets[SIDES[game].WIDEST].players]


def random_knobs(rng: random.Random, game: str = DEFAULT_GAME) -> dict[str, Any]:
    """A value for every knob of the game."""
    knobs: dict[str, Any] = SIDES[game].random_knobs(rng)
    return knobs


def compare(cell: Cell, seed: object, rounds: int) -> Counter[str]:
    """At least so many rounds of a cell (games, where a game is one round); gives how often what came up."""
    seen: Counter[str] = Counter()
    work = jobs(cell, seed)
    while seen["rounds"] < rounds:
        seen += next(work)
    return seen


def jobs(cell: Cell, seed: object) -> Iterator[Counter[str]]:
    """Compare without end, some rounds of one setup at a time; yields what came up."""
    number = 0
    comparer: Any = None
    while True:
        label = f"{cell}, seed {seed}, job {number}"
        rng = random.Random(label)
        if comparer is None or cell.preset is None:
            comparer = SIDES[cell.game].Comparer(setup_of(cell, rng))
        comparer.seen.clear()
        comparer.job(rng, label)
        yield comparer.seen
        number += 1


def setup_of(cell: Cell, rng: random.Random) -> Setup:
    """The cell's setup, with knobs drawn where it has none."""
    game = get_game(cell.game)
    if cell.preset is not None:
        return game.setup(cell.preset, cell.players)
    return game.setup(SIDES[cell.game].WIDEST, cell.players, **random_knobs(rng, cell.game))
