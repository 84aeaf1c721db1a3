"""Names of this game's actions, and tables set up from layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import DealError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import whole
from nainjaune_env.games.batasaurus.encode import PERFECT
from nainjaune_env.games.batasaurus.kernel import open_game
from nainjaune_env.games.batasaurus.rules import KernelRules
from nainjaune_env.games.batasaurus.state import SLOTS, TABLE

ACTIONS: tuple[str, ...] = (*(f"slot {slot}" for slot in range(SLOTS)), "memorise")
"""Names of the 13 actions: the card in a slot, numbered from 0 as on records, and the memorising step."""


def setup_table(setup: Setup, layouts: Sequence[Sequence[int]], *, leader: int, seed: int = 0) -> Any:
    """A table (one record of ``state.TABLE``) at the start of a game with these layouts: per seat, the value in each slot.

    ``seed`` is the generator's state, from which later games are dealt. Raises :class:`DealError` where a layout does not
    hold each value once, or not sorted where ``memory = perfect`` wants it so (B4.1), or a number is not whole.
    """
    rules: KernelRules = setup.kernel_rules  # type: ignore[assignment]
    values = list(range(1, rules.dinosaurs + 1))
    if len(layouts) != setup.players:
        raise DealError(f"With {setup.players} players there are {setup.players} layouts, not {len(layouts)}.")
    checked = [[_whole(f"Each value in layout {seat}", value) for value in row] for seat, row in enumerate(layouts)]
    for seat, given in enumerate(checked):
        if sorted(given) != values:
            raise DealError(f"A layout holds each of the values 1 to {rules.dinosaurs} once, and seat {seat}'s is {given}.")
        if rules.memory == PERFECT and given != values:
            raise DealError(f"With memory = perfect layouts are sorted (B4.1), and seat {seat}'s is {given}.")
    leader = _whole("The leader", leader)
    if not 0 <= leader < setup.players:
        raise DealError(f"The leader is a seat from 0 to {setup.players - 1}, not {leader}.")
    seed = _whole("The seed", seed)
    if not 0 <= seed < 1 << 64:
        raise DealError(f"The seed is from 0 to {(1 << 64) - 1}, not {seed}.")
    table = np.zeros(1, TABLE)
    row = table[0]
    row.rng = np.uint64(seed)
    row.first = leader
    for seat, given in enumerate(checked):
        row.layout[seat, : rules.dinosaurs] = given
    open_game(row, rules)
    return table[0]


def _whole(what: str, given: object) -> int:
    number = whole(given)
    if number is None:
        raise DealError(f"{what} is a whole number, not {given!r}.")
    return number
