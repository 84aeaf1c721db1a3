"""Nain Jaune, the game of ascending runs and stake pots."""

from __future__ import annotations

from nainjaune_env.games.nain_jaune import chance, kernel, measures, outlook, painter, study, transcript
from nainjaune_env.games.nain_jaune.draw import draw
from nainjaune_env.games.nain_jaune.encode import layout
from nainjaune_env.games.nain_jaune.notation import ACTIONS
from nainjaune_env.games.nain_jaune.rules import PRESETS, check_match, compile_rules, single_round
from nainjaune_env.games.nain_jaune.speaker import Speaker
from nainjaune_env.games.nain_jaune.state import POTS, TABLE
from nainjaune_env.spec import GameSpec

SPEC = GameSpec(
    name="nain_jaune",
    title="Nain Jaune",
    presets=PRESETS,
    default_preset="djeco",
    default_players=4,
    kernel=kernel,
    table=TABLE,
    actions=ACTIONS,
    unit="chips",
    start_values={"pots": POTS},
    compile_rules=compile_rules,
    layout=layout,
    check_match=check_match,
    single_round=single_round,
    transcriber=transcript,
    chance=chance,
    draw=draw,
    speaker=Speaker,
    painter=painter,
    measures=measures,
    outlook=outlook,
    study=study,
)
