"""What a seat observes; symbol 0 lights no lamp, so that looking at it tells no more than idling does."""

from __future__ import annotations

from typing import Any

from nainjaune_env.compiler.jit import jit
from nainjaune_env.core.layout import Feature, Layout
from nainjaune_env.core.table import Table
from nainjaune_env.games.signal_lamps.kernel import NAMING, phase, sees_symbol
from nainjaune_env.games.signal_lamps.rules import SYMBOLS, KernelRules

LAMPS = SYMBOLS - 1


def layout(players: int) -> Layout:
    """Returns the features of an observation."""
    return Layout(
        (
            Feature("lamps", (LAMPS,), "lamp k is lit while the seat looks at symbol k + 1 (L2.1)", private=True),
            Feature("turn", (1,), "1 = the seat is to act"),
            Feature("name", (1,), "1 = symbols are named now (L2.3)"),
        )
    )


@jit
def encode(table: Table, rules: KernelRules, seat: Any, out: Any) -> Any:
    """Writes what ``seat`` observes; returns the number of bytes."""
    sees = sees_symbol(table, rules, seat)
    for lamp in range(LAMPS):
        out[lamp] = sees and table.symbol[seat] == lamp + 1
    out[LAMPS] = seat == table.seat
    out[LAMPS + 1] = phase(table, rules) == NAMING
    return LAMPS + 2
