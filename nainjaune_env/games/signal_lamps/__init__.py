"""Signal Lamps, a game that only memory solves: the worked example of ``docs/new_game.md``."""

from __future__ import annotations

from nainjaune_env.core.kernel import join_kernel
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.games.signal_lamps import encode, kernel
from nainjaune_env.games.signal_lamps.invariants import table_invariants
from nainjaune_env.games.signal_lamps.rules import PRESETS, SEATS, compile_rules

SPEC = GameSpec(
    name="signal_lamps",
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
)
