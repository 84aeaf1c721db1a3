"""What is compared: every preset at every number of seats, and random knobs at every number of seats."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nainjaune_env.games.nain_jaune import SPEC
from nainjaune_env.spec import Setup

from .compare import Comparer

WIDEST = "skip"
"""The preset that allows every number of seats: random knobs are set over it."""


@dataclass(frozen=True)
class Cell:
    """A preset (or random knobs) with a number of seats."""

    preset: str | None
    """None: random knobs over `WIDEST`."""
    players: int

    def __str__(self) -> str:
        return f"{self.preset or 'random knobs'} x{self.players}"


def all_cells() -> list[Cell]:
    """Presets in order, each at every number of seats it allows, then random knobs."""
    cells = [Cell(name, n) for name, preset in SPEC.presets.items() for n in preset.players]
    return cells + [Cell(None, n) for n in SPEC.presets[WIDEST].players]


def random_knobs(rng: random.Random) -> dict[str, object]:
    """A value for every knob, with numbers small enough to meet often."""
    stake = rng.choice((1, 1, 2, 7))
    return {
        "direction": rng.choice(("clockwise", "counterclockwise")),
        "decline": rng.choice(("never", "entry", "always")),
        "blocked": rng.choice(("restart", "skip")),
        "payment": rng.choice(("cards", "points")),
        "stranded": rng.choice(("none", "match_pot", "twice_pot", "twice_ante")),
        "grand_opera": rng.choice(("first_turn", "single_turn", "no_rival_card")),
        "announce": rng.choice(("automatic", "explicit", "explicit")),
        "unannounced": rng.choice((0, 1, 2)),
        "stake": stake,
        "starting_stack": rng.choice((None, 15 * stake, 30 * stake, 49 * stake, 60 * stake, 500)),
        "end_on_default": rng.random() < 0.5,
        "max_rounds": rng.choice((None, 1, 3, 12)),
    }


def compare(cell: Cell, seed: object, rounds: int) -> Counter[str]:
    """At least so many rounds of a cell; gives how often what came up."""
    seen: Counter[str] = Counter()
    work = jobs(cell, seed)
    while seen["rounds"] < rounds:
        seen += next(work)
    return seen


def jobs(cell: Cell, seed: object) -> Iterator[Counter[str]]:
    """Compare without end: a match and some rigged rounds of one setup at a time; yields what came up."""
    number = 0
    comparer: Comparer | None = None
    while True:
        label = f"{cell}, seed {seed}, job {number}"
        rng = random.Random(label)
        if comparer is None or cell.preset is None:
            comparer = Comparer(setup_of(cell, rng))
        comparer.seen.clear()
        knobs = comparer.knobs
        if knobs.starting_stack is not None or knobs.max_rounds is not None:
            comparer.match(rng, label)
        for _ in range(4):
            comparer.rigged(rng, label)
        yield comparer.seen
        number += 1


def setup_of(cell: Cell, rng: random.Random) -> Setup:
    """The cell's setup, with knobs drawn where it has none."""
    if cell.preset is not None:
        return SPEC.setup(cell.preset, cell.players)
    return SPEC.setup(WIDEST, cell.players, **random_knobs(rng))
