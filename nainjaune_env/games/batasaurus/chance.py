"""Chance before a game: the first leader (B3.3), and under ``memory = glimpse`` where everyone's cards lie (B1.1).

The game's ``nainjaune_env.core.spec.Chance``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.spec import Extent, Setup
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.belief.resample import resample as resample_table
from nainjaune_env.games.batasaurus.kernel import must_remember, open_game, redact, sees_own_cards
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import TABLE


def extent(setup: Setup) -> Extent:
    """Returns the bounds: one ply a card and a memorising step, and no pile larger than all cards."""
    rules = rules_of(setup)
    n = setup.players
    cards = n * rules.dinosaurs
    if must_remember(rules):
        openings = n * math.factorial(rules.dinosaurs) ** n
        return Extent(plies=cards + n, draws=1 + cards, least=0, most=cards, openings=openings)
    return Extent(plies=cards, draws=1, least=0, most=cards, openings=n)


def outcomes(setup: Setup, drawn: Sequence[int], before: Sequence[int] = ()) -> list[int]:
    """Returns what the next draw can be: the first leader, then where slots are shuffled the value in each, seat by seat."""
    if not drawn:
        return list(range(setup.players))
    if len(drawn) == extent(setup).draws:
        return []
    dinosaurs = rules_of(setup).dinosaurs
    of_seat = drawn[len(drawn) - (len(drawn) - 1) % dinosaurs :]
    return [value for value in range(1, dinosaurs + 1) if value not in of_seat]


def opening(setup: Setup, drawn: Sequence[int]) -> Any:
    """Returns the table that begins with these draws: the leader, then the layouts seat by seat, or nothing where sorted."""
    rules = rules_of(setup)
    table: Any = np.zeros(1, TABLE)[0]
    table.first = drawn[0]
    layouts = drawn[1:] or list(range(1, rules.dinosaurs + 1)) * setup.players
    table.layout[: setup.players, : rules.dinosaurs] = np.reshape(layouts, (setup.players, rules.dinosaurs))
    open_game(table, rules)
    return table


def draws(setup: Setup, table: Any) -> list[int]:
    """Returns the draws that ``table`` began with."""
    rules = rules_of(setup)
    dealt = table.layout[: setup.players, : rules.dinosaurs].flat if must_remember(rules) else ()
    return [int(table.first), *map(int, dealt)]


def name(setup: Setup, drawn: Sequence[int], outcome: int) -> str:
    """Returns ``outcome``, drawn after ``drawn``, in words."""
    if not drawn:
        return f"seat {outcome} leads"
    seat, slot = divmod(len(drawn) - 1, rules_of(setup).dinosaurs)
    return f"{outcome} in slot {slot} of seat {seat}"


def openings(setup: Setup) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields every deal once, with multiplicity 1: no two layouts are alike to a seat that must remember them."""
    rules = rules_of(setup)
    for leader in range(setup.players):
        for layouts in _layouts(rules.dinosaurs, setup.players if must_remember(rules) else 0):
            yield (leader, *layouts), 1


def _layouts(dinosaurs: int, seats: int) -> Iterator[tuple[int, ...]]:
    if not seats:
        yield ()
        return
    for row in itertools.permutations(range(1, dinosaurs + 1)):
        yield from ((*row, *others) for others in _layouts(dinosaurs, seats - 1))


def canonical(setup: Setup, drawn: Sequence[int]) -> tuple[int, ...]:
    """Returns ``drawn`` itself."""
    return tuple(drawn)


def describe(setup: Setup, drawn: Sequence[int]) -> str:
    """Returns the first leader, and the layouts seat by seat where they were dealt."""
    leads, dinosaurs = name(setup, [], drawn[0]), rules_of(setup).dinosaurs
    rows = [" ".join(map(str, drawn[start : start + dinosaurs])) for start in range(1, len(drawn), dinosaurs)]
    return f"{leads}: {' | '.join(rows)}" if rows else leads


def resample(
    setup: Setup, opening: Any, table: Any, plies: Sequence[tuple[int, int]], seat: int, state: int
) -> tuple[list[int], list[int]]:
    """Returns the draws and the actions of a round that ``seat`` cannot distinguish from the one at ``table``.

    Unlike a redacted table, ``seat`` remembers its own cards once it has seen them (B4.2). Other seats have played the same
    values from other slots (B4.3); what they have committed, and nobody has seen yet, is drawn anew (B2.3).
    """
    rules = rules_of(setup)
    rows = np.zeros(1, TABLE)
    rows[0] = table
    redact(rows[0], rules, seat)
    rows[0].rng = np.uint64(state)
    resample_table(rows[0], rules, seat)
    layout = rows[0].layout
    if sees_own_cards(table, rules, seat) or any(who == seat for who, _ in plies):
        layout[seat] = opening.layout[seat]
    face_down = {who: number for number, (who, _) in enumerate(plies) if table.hidden[who]}  # the last ply of each
    actions = []
    for number, (who, action) in enumerate(plies):
        if who != seat and action != MEMORISE:
            value = rows[0].hidden[who] if face_down.get(who) == number else opening.layout[who][action]
            action = int(np.flatnonzero(layout[who] == value)[0])
        actions.append(action)
    return draws(setup, rows[0]), actions
