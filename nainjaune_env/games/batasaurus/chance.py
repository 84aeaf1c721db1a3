"""What chance does before a game: who leads (B3.3), and under ``memory = glimpse`` where everybody's cards lie (B1.1).

The module as a whole is the game's ``nainjaune_env.core.spec.Chance``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, cast

from nainjaune_env.core.spec import Extent, Setup
from nainjaune_env.games.batasaurus.encode import PERFECT
from nainjaune_env.games.batasaurus.records.setup_table import setup_table
from nainjaune_env.games.batasaurus.rules import KernelRules

__all__ = ["canonical", "describe", "draws", "extent", "name", "opening", "openings", "outcomes"]


def extent(setup: Setup) -> Extent:
    """Each card is one ply, and so is each memorising step; no pile is larger than all cards."""
    cards = setup.players * _rules(setup).dinosaurs
    looks = 0 if _rules(setup).memory == PERFECT else setup.players
    return Extent(plies=cards + looks, draws=1 + (cards if looks else 0), least=0, most=cards)


def outcomes(setup: Setup, drawn: Sequence[int]) -> list[int]:
    """The first leader, then seat by seat the value in each slot, where slots are shuffled."""
    if not drawn:
        return list(range(setup.players))
    dinosaurs, dealt = _rules(setup).dinosaurs, drawn[1:]
    if len(drawn) == extent(setup).draws:
        return []
    seats_own = dealt[len(dealt) - len(dealt) % dinosaurs :]
    return [value for value in range(1, dinosaurs + 1) if value not in seats_own]


def opening(setup: Setup, drawn: Sequence[int]) -> Any:
    """The table that begins with these draws."""
    dinosaurs, layouts = _rules(setup).dinosaurs, list(drawn[1:])
    if not layouts:
        layouts = list(range(1, dinosaurs + 1)) * setup.players
    rows = [layouts[seat * dinosaurs : (seat + 1) * dinosaurs] for seat in range(setup.players)]
    return setup_table(setup, rows, leader=drawn[0])


def draws(setup: Setup, table: Any) -> list[int]:
    """The draws that ``table`` began with."""
    dealt = extent(setup).draws > 1
    dinosaurs = _rules(setup).dinosaurs
    values = [int(value) for row in table.layout[: setup.players] for value in row[:dinosaurs]] if dealt else []
    return [int(table.first), *values]


def name(setup: Setup, drawn: Sequence[int], outcome: int) -> str:
    """``outcome`` in words, after what is drawn."""
    if not drawn:
        return f"seat {outcome} leads"
    seat, slot = divmod(len(drawn) - 1, _rules(setup).dinosaurs)
    return f"{outcome} in slot {slot} of seat {seat}"


def openings(setup: Setup) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every deal, each once: no two layouts are the same to who must remember them."""
    values = range(1, _rules(setup).dinosaurs + 1)

    def layouts(seats: int) -> Iterator[tuple[int, ...]]:
        if not seats:
            yield ()
            return
        for row in itertools.permutations(values):
            yield from ((*row, *others) for others in layouts(seats - 1))

    for leader in range(setup.players):
        for dealt in layouts(setup.players if extent(setup).draws > 1 else 0):
            yield (leader, *dealt), 1


def canonical(setup: Setup, drawn: Sequence[int]) -> tuple[int, ...]:
    """The deal itself."""
    return tuple(drawn)


def describe(setup: Setup, drawn: Sequence[int]) -> str:
    """The first leader, and the layouts seat by seat where they were dealt."""
    leads, dinosaurs = name(setup, [], drawn[0]), _rules(setup).dinosaurs
    rows = [" ".join(map(str, drawn[at : at + dinosaurs])) for at in range(1, len(drawn), dinosaurs)]
    return f"{leads}: {' | '.join(rows)}" if rows else leads


def _rules(setup: Setup) -> KernelRules:
    return cast(KernelRules, setup.kernel_rules)
