"""Signal Lamps, a game that only memory solves: the worked example of ``docs/new_game.md``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from nainjaune_env.core.kernel import join_kernel
from nainjaune_env.core.spec import GameSpec, Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.table_checks import Invariant, between
from nainjaune_env.games.signal_lamps import encode, kernel
from nainjaune_env.games.signal_lamps.rules import PRESETS, SEATS, SYMBOLS, compile_rules


def table_invariants(setup: Setup, rows: NDArray[Any]) -> Iterator[Invariant]:
    """Yields what the rules say of tables from outside, ``rows (K,)``."""
    rules = compile_rules(setup.rules, setup.players)
    end = SEATS * (2 + rules.idle)
    for name, high in {"symbol": SYMBOLS - 1, "won": 1, "plies": end, "rounds": rules.rounds}.items():
        yield Invariant(name, between(rows[name], 0, high), f"0 to {high}")
    over = rows["stage"] != Stage.PLAYING
    yield Invariant("plies", over == (rows["plies"] == end), f"{end} plies if and only if the round is over")


SPEC = GameSpec(
    package=__name__,
    title="Signal Lamps",
    presets=PRESETS,
    default_preset="lamps",
    default_players=SEATS,
    kernel=join_kernel(kernel, encode),
    table=kernel.TABLE,
    actions=kernel.ACTIONS,
    unit="symbols",
    compile_rules=compile_rules,
    layout=encode.layout,
    table_invariants=table_invariants,
    chance_fields=("symbol", "seat"),
)
