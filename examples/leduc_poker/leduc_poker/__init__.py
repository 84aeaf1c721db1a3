"""Leduc poker, with chance in the middle of a round: a game in a distribution of its own (docs/new_game.md)."""

from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import GameSpec

from . import kernel

SPEC = GameSpec(
    package=__name__,
    title="Leduc poker",
    presets=kernel.PRESETS,
    default_preset="leduc",
    default_players=kernel.SEATS,
    kernel=kernel,
    table=kernel.TABLE,
    actions=kernel.ACTIONS,
    unit="chips",
    compile_rules=lambda knobs, players: kernel.KernelRules(players, knobs.raises),
    layout=lambda players: Layout(kernel.FEATURES),
    table_invariants=kernel.table_invariants,
    chance_fields=("hand", "first", "seat"),
)
