"""What the rules say of every table, to check tables that come from outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.table_checks import Invariant, between
from nainjaune_env.games.signal_lamps.rules import SEATS, SYMBOLS, compile_rules


def table_invariants(setup: Setup, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields the invariants of ``rows (K,)``."""
    rules = compile_rules(setup.rules, setup.players)
    end = SEATS * (2 + rules.idle)
    for name, high in {"symbol": SYMBOLS - 1, "won": 1, "plies": end, "rounds": rules.rounds}.items():
        yield Invariant(name, between(rows[name], 0, high), f"0 to {high}")
    over = rows["stage"] != Stage.PLAYING
    yield Invariant("plies", over == (rows["plies"] == end), f"{end} plies if and only if the round is over")
