"""Nain Jaune, the game of ascending runs and stake pots."""

from __future__ import annotations

from nainjaune_env.core.kernel import join_kernel
from nainjaune_env.core.spec import GameSpec
from nainjaune_env.games.nain_jaune import encode, kernel
from nainjaune_env.games.nain_jaune.actions import ACTIONS
from nainjaune_env.games.nain_jaune.belief import deals, resample
from nainjaune_env.games.nain_jaune.events import Event
from nainjaune_env.games.nain_jaune.invariants import table_invariants
from nainjaune_env.games.nain_jaune.rules import PRESETS, REFUSALS, check_match, compile_rules, refuse_rules, single_round
from nainjaune_env.games.nain_jaune.state import MAX_SEATS, POTS, TABLE

SPEC = GameSpec(
    package=__name__,
    title="Nain Jaune",
    presets=PRESETS,
    default_preset="djeco",
    default_players=4,
    kernel=join_kernel(kernel, encode, resample, deals),
    table=TABLE,
    actions=ACTIONS,
    unit="chips",
    start_values={"pots": POTS},
    compile_rules=compile_rules,
    layout=encode.layout,
    events=Event,
    event_memory=MAX_SEATS,
    max_events=4 + (MAX_SEATS - 1) + POTS,  # the last card, its chips, a grand opéra, the losers' payments, stranded cards
    refusals=REFUSALS,
    refuse_rules=refuse_rules,
    check_match=check_match,
    single_round=single_round,
    table_invariants=table_invariants,
    rewind=resample.rewind,
)
