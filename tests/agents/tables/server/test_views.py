"""What a viewer is sent: scenes, the cards that may be played, and how seats are called."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from nainjaune_agents.tables.server.live_table import LiveTable
from nainjaune_agents.tables.server.settings import playable, read_settings
from nainjaune_agents.tables.server.tables import to_text
from nainjaune_agents.tables.server.views import view
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.registry import get_game
from tests.agents.tables.server.pages import new_table
from tests.support.games import games_with

GAMES = pytest.mark.parametrize("game", games_with("pictures"))


def cards_of(scene: dict[str, Any], seat: int) -> list[Any]:
    """The cards of a seat that its scene shows, as it names them."""
    if "hands" in scene:
        return list(scene["hands"][seat] or ())
    return [slot for slot, value in enumerate(scene["slots"][seat] or ()) if value is not None]


@GAMES
@pytest.mark.parametrize("preset", [0, -1])
def test_every_scene_is_json_and_a_person_gets_the_cards_that_they_may_play(game: str, preset: int) -> None:
    """Nobody else gets any, and what is no card remains a move."""
    spec = get_game(game)
    name = list(spec.presets)[preset]
    n = spec.presets[name].players[0]
    live = LiveTable(read_settings(new_table(game, persons=n, players=n, preset=name)), [None] * n, lambda number, action: None)
    rng, playable = random.Random(5), 0
    while not live.table.round_over:
        turn = live.table.at_turn
        sent = json.loads(to_text(view(live, turn, "en", turn)))
        legal = {action for action, _ in sent["moves"]}
        for action, card in sent["playable"]:
            assert action in legal
            assert card in cards_of(sent["scene"], turn)
        played = [card for _, card in sent["playable"]]
        assert played == [card for card in cards_of(sent["scene"], turn) if card in played]
        playable += len(sent["playable"])
        other, looks = (json.loads(to_text(view(live, seat, "en", seat))) for seat in ((turn + 1) % n, None))
        assert other["playable"] == looks["playable"] == []
        assert sent["picture"] is other["picture"] is looks["picture"] is None
        assert [cards_of(looks["scene"], seat) for seat in range(n)] == [[]] * n
        live.play(turn, rng.choice(sorted(legal)))
    assert playable > 10
    shown = json.loads(to_text(view(live, 0, "en", 0)))
    assert shown["playable"] == []
    assert shown["scene"] == json.loads(to_text(view(live, None, "en", None)))["scene"]


@GAMES
def test_a_spectator_of_people_sees_what_every_seat_sees(game: str) -> None:
    settings = read_settings(new_table(game, persons=2, players=2))
    live = LiveTable(settings, [None, None], lambda number, action: None)
    rng = random.Random(3)
    while not live.table.round_over:
        seats = [view(live, seat, "en", seat)["scene"] for seat in (0, 1)]
        public = view(live, None, "en", None)["scene"]
        for name, value in public.items():
            if name not in ("viewer", "hands", "slots", "committed"):
                assert value == seats[0][name] == seats[1][name], name
        live.play(live.table.at_turn, rng.choice(live.table.legal))


@GAMES
def test_a_game_that_the_page_does_not_draw_has_a_picture(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nainjaune_agents.tables.server.views.DRAWN", ())
    settings = read_settings(new_table(game, persons=2, players=2))
    live = LiveTable(settings, [None, None], lambda number, action: None)
    assert view(live, 0, "en", 0)["picture"].startswith("<svg")
    assert view(live, None, "en", None)["picture"] is None


SEATS = [{"person": "Zoé"}, {"person": "Max"}, {"agent": "random"}, {"agent": "random"}]
CALLED = ["Zoé", "Max", "random (seat 2)", "random (seat 3)"]


@pytest.mark.parametrize(("game", "language"), [(game, language) for game in playable() for language in LANGUAGES])
def test_seats_are_called_by_name_and_the_reader_you(game: str, language: str) -> None:
    """Nothing that is shown calls a seat by its number alone: neither the events nor the settlement."""
    players = get_game(game).default_players
    settings = read_settings(new_table(game, players=players, seats=SEATS[:players]))
    live = LiveTable(settings, [None] * players, lambda number, action: None)
    rng, you = random.Random(5), {"en": "you", "fr": "vous"}[language]
    numbered = re.compile(r"(?<!\()(?:\bseat|\bplace) [0-9]", re.IGNORECASE)
    told = ""
    while not live.table.round_over:
        live.go_on(rng.choice(live.table.legal))
        for seat in (0, None):
            sent = view(live, seat, language, seat)
            said = [text for ply in sent["events"] for _, text in ply["said"]]
            text = "\n".join([*sent["begun"], *said, *sent["settled"]])
            assert not numbered.search(text)
            assert seat == 0 or not re.search(rf"\b{you}\b", text, re.IGNORECASE)
            told += text if seat == 0 else ""
    assert re.search(rf"\b{you}\b", told)
    assert sent["names"] == [name.replace("seat", {"en": "seat", "fr": "place"}[language]) for name in CALLED[:players]]
    assert not any(word in sent["settled"][0] for word in ("Settlement", "Règlement"))
