"""The tables of the static site against those of ``serve``: what each viewer is sent after each ply, and the records."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nainjaune_agents.serve import views
from nainjaune_agents.serve.live_table import LiveTable
from nainjaune_agents.serve.settings import TableSettings
from nainjaune_agents.serve.store import DEAL
from nainjaune_env import make_setup
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.core.spec import Setup
from nainjaune_env.records.record import format_record, parse_record, verify_record
from tests.wasm.test_javascript import node

HERE = Path(__file__).parent
NAMES = ("Anne", "Bob", "Bob", "closer", "Éric", "F", "G", "H")
MAX_PLIES = 400


def live_table(setup: Setup, seed: int, rounds: int | None) -> LiveTable:
    """Returns a table of persons, who make every ply."""
    names, nobody = NAMES[: setup.players], (None,) * setup.players
    settings = TableSettings(setup, names, nobody, rounds, seed, pace=0.0, every_ply=True, advice=False)
    return LiveTable(settings, nobody, lambda number, action: None)


def tables(game: str, seed: int) -> Iterator[dict[str, Any]]:
    """Yields tables of all presets and seats, played at random: what Node is told, and what it must answer."""
    rng = np.random.default_rng(seed)
    for preset, of in make_setup(game).game.presets.items():
        for players in of.players:
            setup = make_setup(game, preset, players)
            rounds = None if rng.random() < 0.6 else 2
            live = live_table(setup, int(rng.integers(2**62)), rounds)
            plies: list[int] = []
            viewers: list[tuple[int | None, str, int | None]] = []
            shown = []
            while True:
                seat = None if rng.random() < 0.1 else int(rng.integers(players))
                if not live.table.round_over and rng.random() < 0.5:
                    seat = live.table.at_turn
                viewers.append((seat, str(rng.choice(LANGUAGES)), seat if rng.random() < 0.7 else None))
                shown.append(views.view(live, *viewers[-1]))
                if live.over or len(plies) > MAX_PLIES and live.table.round_over:
                    break
                plies.append(DEAL if live.table.round_over else int(rng.choice(live.table.legal)))
                live.replay(plies[-1:])
            settings = {
                "game": game, "preset": preset, "players": players, "knobs": {}, "names": live.settings.names,
                "agents": live.settings.agents, "rounds": rounds, "seed": str(live.settings.seed), "every_ply": True, "advice": False,
            }  # fmt: skip
            records = [f"{format_record(record)}\n" for record in live.records] if live.over else []
            rules = [live.listener(0, language, None).speaker.rules() for language in LANGUAGES]
            yield {"asked": {"settings": settings, "plies": plies, "viewers": viewers}, "views": shown, "records": records, "rules": rules}


@pytest.mark.parametrize("game", ["nain_jaune", "batasaurus"])
def test_viewers_are_sent_the_same(game: str, site: Path) -> None:
    expected = list(tables(game, seed=1))
    lines = "".join(json.dumps(each["asked"]) + "\n" for each in expected)
    result = subprocess.run([node(), str(HERE / "views.mjs"), str(site)], input=lines, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for line, each in zip(result.stdout.splitlines(), expected, strict=True):
        answered = json.loads(line)
        assert answered["rules"] == each["rules"]
        for one, other in zip(answered["views"], json.loads(json.dumps(each["views"], default=int)), strict=True):
            one.pop("playable")
            assert one == other
        assert answered["records"] == each["records"]
        for record in answered["records"]:
            verify_record(parse_record(record))
