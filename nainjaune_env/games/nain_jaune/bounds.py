"""What the house rules can cost in a round, asked of the kernel at an example table.

``chance`` bounds what seats win and lose by this alone. It names no knob, so a rule that changes in the kernel changes here too.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from nainjaune_env.core.cards import cards_in
from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.rules import KernelRules
from nainjaune_env.games.nain_jaune.state import ONE, POTS, TABLE


class Bounds(NamedTuple):
    """What a round can cost. Amounts by pot are for a match's first round, where each pot holds its antes."""

    antes: tuple[int, ...]
    """By pot: what a seat antes (N2.1)."""
    pots: tuple[int, ...]
    """By pot: the chips in it after the antes."""
    dearest_card: int
    """The most that a loser owes the winner for a single card (N3.2)."""
    silent: tuple[int, ...]
    """By pot: what a silent play of its card costs (N2.7)."""
    stranded: tuple[int, ...]
    """By pot: what its card costs a loser who still holds it (N3.3)."""
    runs_go_on: bool
    """Whether a run can go on after a circle without a card (N2.6)."""


@functools.lru_cache(maxsize=64)
def bounds_of(rules: KernelRules) -> Bounds:
    """Returns the bounds under ``rules``."""
    table = first_round(rules)
    seat, pots = table.seat, range(POTS)
    table.hand[seat] = rules.deck
    return Bounds(
        antes=tuple(int(chips) // rules.players for chips in table.pot),
        pots=tuple(map(int, table.pot)),
        dearest_card=_dearest_card(rules),
        silent=tuple(int(kernel.silent_due(table, rules, pot)) for pot in pots),
        stranded=tuple(
            int(kernel.stranded_due(table, rules, pot)) if kernel.is_stranded(table, rules, seat, pot) else 0 for pot in pots
        ),
        runs_go_on=any(kernel.rank_after_circle(rules, rank) > 0 for rank in range(1, rules.top_rank + 1)),
    )


def first_round(rules: KernelRules) -> Any:
    """Returns a new table at the start of a match, after the antes, with no card in any hand."""
    table = np.zeros(1, TABLE)[0]
    table.stack[: rules.players] = rules.starting_stack
    kernel.open_round(table, rules)
    return table


def _dearest_card(rules: KernelRules) -> int:
    table = first_round(rules)
    dues = []
    for card in cards_in(rules.deck):
        table.hand[0], table.cards[0] = ONE << card, 1
        dues.append(int(kernel.payment_due(table, rules, 0)))
    return max(dues)
