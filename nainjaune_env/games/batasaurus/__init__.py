"""Batasaurus, a game of tricks with cards that one must remember."""

from __future__ import annotations

from nainjaune_env.core.spec import GameSpec
from nainjaune_env.games.batasaurus import chance, kernel
from nainjaune_env.games.batasaurus.encode import layout
from nainjaune_env.games.batasaurus.language.speaking import Speaker
from nainjaune_env.games.batasaurus.records import write
from nainjaune_env.games.batasaurus.records.setup_table import ACTIONS
from nainjaune_env.games.batasaurus.research import advice, features, statistics
from nainjaune_env.games.batasaurus.rules import PRESETS, check_match, compile_rules, single_round
from nainjaune_env.games.batasaurus.state import TABLE
from nainjaune_env.games.batasaurus.view import film
from nainjaune_env.games.batasaurus.view.text import draw

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
    transcriber=write,
    chance=chance,
    draw=draw,
    pictures=film,
    measures=statistics,
    advice=advice,
    features=features,
    speaker=Speaker,
)
