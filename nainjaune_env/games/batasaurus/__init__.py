"""Batasaurus, a trick-taking game with cards to remember."""

from __future__ import annotations

from nainjaune_env.core.kernel import join_kernel
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.games.batasaurus import encode, kernel
from nainjaune_env.games.batasaurus.actions import ACTIONS
from nainjaune_env.games.batasaurus.belief import resample
from nainjaune_env.games.batasaurus.events import Event
from nainjaune_env.games.batasaurus.invariants import table_invariants
from nainjaune_env.games.batasaurus.rules import PRESETS, compile_rules
from nainjaune_env.games.batasaurus.state import MAX_SEATS, TABLE

SPEC = GameSpec(
    package=__name__,
    title="Batasaurus",
    presets=PRESETS,
    default_preset="batasaurus",
    default_players=2,
    kernel=join_kernel(kernel, encode, resample),
    table=TABLE,
    actions=ACTIONS,
    unit="cards",
    compile_rules=compile_rules,
    layout=encode.layout,
    events=Event,
    max_events=4 + (MAX_SEATS - 1) + MAX_SEATS,  # a card, cards turned up, a tie, seats that drop out, who takes, cards left
    table_invariants=table_invariants,
)
