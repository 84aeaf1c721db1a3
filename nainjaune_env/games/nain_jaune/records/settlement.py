"""The settling of a round (N3) payment by payment, where the kernel does it in one step: for telling it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nainjaune_env.games.nain_jaune import kernel
from nainjaune_env.games.nain_jaune.state import POTS, TABLE


@dataclass(frozen=True)
class Payment:
    """One transfer of chips."""

    seat: int
    """Who pays; in a grand opéra, the winner who takes."""
    paid: int
    """Chips that changed hands."""
    due: int
    """More than ``paid`` in a default (N4.2), or where the pot was full (N4.7)."""


def before_settling(table: Any, rules: Any, action: int) -> Any:
    """A copy of ``table`` after its seat has played its last card by ``action``, with nothing settled yet."""
    rows = np.zeros(1, TABLE)
    rows[0] = table
    # the kernel settles where a hand becomes empty, so it is told of one card more
    rows[0].cards[table.seat] += 1
    kernel.step(rows[0], rules, action)
    rows[0].cards[table.seat] -= 1
    rows[0].winner = table.seat
    return rows[0]


def grand_opera(table: Any, rules: Any) -> Payment | None:
    """N3.1, on a table from :func:`before_settling`: what the winner takes, or None where he made no grand opéra."""
    if not kernel.is_grand_opera(table, rules):
        return None
    chips = sum(int(pot) for pot in table.pot)
    for pot in range(POTS):
        kernel.capture(table, table.winner, pot)
    return Payment(int(table.winner), chips, chips)


def payments(table: Any, rules: Any) -> Iterator[Payment]:
    """N3.2, on a table after :func:`grand_opera`: each loser's payment to the winner, in order."""
    for seat in _losers(table, rules):
        due = int(kernel.due(table, rules, seat))
        paid = int(kernel.payable(table, rules, seat, due))
        table.stack[seat] -= paid
        table.stack[table.winner] += paid
        yield Payment(seat, paid, due)


def stranded(table: Any, rules: Any) -> Iterator[tuple[int, Payment]]:
    """N3.3, on a table after :func:`payments`: the pots whose cards losers still hold and what they add, in order."""
    if rules.stranded == kernel.NONE:
        return
    for seat in _losers(table, rules):
        for pot in range(POTS):
            if table.hand[seat] >> rules.pot_cards[pot] & 1:
                before = int(table.pot[pot])
                due = int(kernel.stranded_due(table, rules, pot))
                kernel.add_to_pot(table, rules, seat, pot, due)
                yield pot, Payment(seat, int(table.pot[pot]) - before, due)


def _losers(table: Any, rules: Any) -> list[int]:
    return [(int(table.winner) + k) % rules.players for k in range(1, rules.players)]
