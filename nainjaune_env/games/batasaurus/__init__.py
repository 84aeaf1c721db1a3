"""Batasaurus, a game of tricks with cards that one must remember."""

from __future__ import annotations

from nainjaune_env.games.batasaurus import chance, kernel, measures, outlook, painter, study, transcript
from nainjaune_env.games.batasaurus.draw import draw
from nainjaune_env.games.batasaurus.encode import layout
from nainjaune_env.games.batasaurus.notation import ACTIONS
from nainjaune_env.games.batasaurus.rules import PRESETS, check_match, compile_rules, single_round
from nainjaune_env.games.batasaurus.speaker import Speaker
from nainjaune_env.games.batasaurus.state import TABLE
from nainjaune_env.spec import GameSpec

SPEC = GameSpec(
    name="batasaurus",
    title="Batasaurus",
    presets=PRESETS,
    default_preset="batasaurus",
    default_players=2,
    kernel=kernel,
    table=TABLE,
    actions=ACTIONS,
    unit="cards",
    start_values={},
    compile_rules=compile_rules,
    layout=layout,
    check_match=check_match,
    single_round=single_round,
    transcriber=transcript,
    chance=chance,
    draw=draw,
    painter=painter,
    measures=measures,
    outlook=outlook,
    study=study,
    speaker=Speaker,
)
