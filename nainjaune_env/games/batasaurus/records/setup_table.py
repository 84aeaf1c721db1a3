"""Tables set up from layouts, after checking them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import DealError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import MAX_SEED, check_whole
from nainjaune_env.games.batasaurus.chance import opening
from nainjaune_env.games.batasaurus.kernel import must_remember
from nainjaune_env.games.batasaurus.rules import rules_of


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
    checked = [[check_whole(f"Each value in layout {seat}", value) for value in row] for seat, row in enumerate(layouts)]
    for seat, given in enumerate(checked):
        if sorted(given) != values:
            raise DealError(f"A layout holds each of the values 1 to {rules.dinosaurs} once, and seat {seat}'s is {given}.")
        if not must_remember(rules) and given != values:
            raise DealError(f"With memory = perfect layouts are sorted (B4.1), and seat {seat}'s is {given}.")
    leader = check_whole("The leader", leader)
    if not 0 <= leader < setup.players:
        raise DealError(f"The leader is a seat from 0 to {setup.players - 1}, not {quoted(leader)}.")
    seed = check_whole("The seed", seed, 0, MAX_SEED)
    table = opening(setup, [leader, *(value for row in checked for value in row)])
    table.rng = np.uint64(seed)
    return table
