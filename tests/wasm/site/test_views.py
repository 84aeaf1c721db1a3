"""The tables of the static site against those of ``serve``: what each viewer is sent after each ply, and the records."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.tables.server import views
from nainjaune_agents.tables.server.live_table import LiveTable
from nainjaune_agents.tables.server.settings import TableSettings
from nainjaune_agents.tables.server.store import DEAL
from nainjaune_env import get_game, make_setup
from nainjaune_env.core.errors import RulesError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import format_record, parse_record, verify_record
from tests.wasm.site.scripts import output_of

NAMES = ("Anne", "Bob", "Bob", "closer", "Éric", "F", "G", "H")
MAX_PLIES = 100


def live_table(setup: Setup, seed: int, rounds: int | None) -> LiveTable:
    """Returns a table of persons, who make every ply."""
    names, nobody = NAMES[: setup.players], (None,) * setup.players
    settings = TableSettings(setup, names, nobody, rounds, seed, pace=0.0, every_ply=True, advice=False)
    return LiveTable(settings, nobody, lambda number, action: None)


Viewer = tuple[int | None, str, int | None]
"""The seat, the language, and the seat of the reader."""


def setups(game: str, rng: np.random.Generator) -> Iterator[Setup]:
    """Yields a table of every preset and number of seats, and one with some knobs changed."""
    for name, preset in get_game(game).presets.items():
        for players in preset.players:
            yield make_setup(game, name, players)
            yield changed(game, name, players, rng)


def changed(game: str, preset: str, players: int, rng: np.random.Generator) -> Setup:
    """Draws knobs until they make rules whose matches have an end."""
    rules = get_game(game).presets[preset].rules
    knobs = [f for f in fields(rules) if f.metadata["kind"] == "word" or f.name in ("unannounced", "stake", "ranks", "dinosaurs")]
    while True:
        values = {f.name: f.metadata["choices"] or range(f.metadata["low"], min(f.metadata["high"], 12) + 1) for f in knobs}
        chosen = {name: rng.choice(of).item() for name, of in values.items() if rng.random() < 0.4}
        with suppress(RulesError):
            setup = make_setup(game, preset, players, **chosen)
            setup.game.check_match(setup.rules)
            return setup


def played_table(setup: Setup, rng: np.random.Generator) -> dict[str, Any]:
    """Plays a table at random; returns what Node is told, and what it must answer."""
    live = live_table(setup, int(rng.integers(2**62)), rounds=None if rng.random() < 0.6 else 2)
    plies: list[int] = []
    viewers = [viewer(live, rng)]
    shown = [views.view(live, *viewers[-1])]
    while not live.over and (len(plies) < MAX_PLIES or not live.table.round_over):
        plies.append(DEAL if live.table.round_over else int(rng.choice(live.table.legal)))
        live.replay(plies[-1:])
        viewers.append(viewer(live, rng))
        shown.append(views.view(live, *viewers[-1]))
    asked = {"settings": settings_of(live), "plies": plies, "viewers": viewers}
    records = [f"{format_record(record)}\n" for record in live.records] if live.over else []
    rules = [live.listener(0, language, None).speaker.rules() for language in LANGUAGES]
    return {"asked": asked, "views": shown, "records": records, "rules": rules}


def check_page(site: Path, expected: Sequence[dict[str, Any]]) -> None:
    """Plays the same tables in Node; all that is shown and recorded must be the same."""
    lines = "".join(json.dumps(each["asked"]) + "\n" for each in expected)
    for line, each in zip(output_of("views.mjs", site, lines).splitlines(), expected, strict=True):
        answered = json.loads(line)
        assert answered["rules"] == each["rules"]
        for one, other in zip(answered["views"], json.loads(json.dumps(each["views"], default=int)), strict=True):
            assert one == other
        assert answered["records"] == each["records"]
        for record in answered["records"]:
            verify_record(parse_record(record))


def viewer(live: LiveTable, rng: np.random.Generator) -> Viewer:
    """Draws who looks at a table: often the seat to act, and sometimes a spectator."""
    seat = None if rng.random() < 0.1 else int(rng.integers(live.settings.setup.players))
    if not live.table.round_over and rng.random() < 0.5:
        seat = live.table.at_turn
    return seat, str(rng.choice(LANGUAGES)), seat if rng.random() < 0.7 else None


def settings_of(live: LiveTable) -> dict[str, Any]:
    """Returns the settings of a table as the site has them."""
    settings, setup = live.settings, live.settings.setup
    same = {name: getattr(settings, name) for name in ("names", "agents", "rounds", "every_ply", "advice")}
    rules = {"game": setup.game.name, "preset": setup.preset, "players": setup.players, "knobs": setup.knobs}
    return {**rules, **same, "seed": str(settings.seed)}


@pytest.mark.long
@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus"])
def test_viewers_are_sent_the_same(game: str, site: Path) -> None:
    rng = np.random.default_rng(1)
    check_page(site, [played_table(setup, rng) for setup in setups(game, rng)])
