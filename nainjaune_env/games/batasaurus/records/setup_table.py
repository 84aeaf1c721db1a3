"""Tables set up from layouts, after checking them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import DealError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import whole
from nainjaune_env.games.batasaurus.chance import opening
from nainjaune_env.games.batasaurus.rules import Memory, rules_of


def setup_table(setup: Setup, layouts: Sequence[Sequence[int]], *, leader: int, seed: int = 0) -> Any:
    """Returns a table (one record of ``state.TABLE``) at the start of a game with ``layouts``: per seat, the value in each slot.

    ``seed`` is the state of the generator that later games are dealt from. Raises :class:`DealError` where a layout does not
    hold each value once, where it is not sorted although ``memory = perfect`` requires it (B4.1), and where a number is not
    whole or out of range.
    """
    rules = rules_of(setup)
    values = list(range(1, rules.dinosaurs + 1))
    if len(layouts) != setup.players:
        raise DealError(f"With {setup.players} players there are {setup.players} layouts, not {len(layouts)}.")
    checked = [[_whole(f"Each value in layout {seat}", value) for value in row] for seat, row in enumerate(layouts)]
    for seat, given in enumerate(checked):
        if sorted(given) != values:
            raise DealError(f"A layout holds each of the values 1 to {rules.dinosaurs} once, and seat {seat}'s is {given}.")
        if rules.memory == Memory.PERFECT and given != values:
            raise DealError(f"With memory = perfect layouts are sorted (B4.1), and seat {seat}'s is {given}.")
    leader = _whole("The leader", leader)
    if not 0 <= leader < setup.players:
        raise DealError(f"The leader is a seat from 0 to {setup.players - 1}, not {quoted(leader)}.")
    seed = _whole("The seed", seed)
    if not 0 <= seed < 1 << 64:
        raise DealError(f"The seed is from 0 to {(1 << 64) - 1}, not {quoted(seed)}.")
    table = opening(setup, [leader, *(value for row in checked for value in row)])
    table.rng = np.uint64(seed)
    return table


def _whole(what: str, given: object) -> int:
    number = whole(given)
    if number is None:
        raise DealError(f"{what} is a whole number, not {quoted(given)}.")
    return number
