"""Kuhn poker, about the smallest game that hides anything, and so the least that contracts may ask for."""

from nainjaune_env.core.layout import Layout
from nainjaune_env.core.spec import GameSpec

from . import kernel

SPEC = GameSpec(
    package=__name__,
    title="Kuhn poker",
    presets=kernel.PRESETS,
    default_preset="kuhn",
    default_players=kernel.SEATS,
    kernel=kernel,
    table=kernel.TABLE,
    actions=kernel.ACTIONS,
    unit="chips",
    compile_rules=lambda knobs, players: kernel.KernelRules(players),
    layout=lambda players: Layout(kernel.FEATURES),
)
