"""What a viewer is sent: the cards of the picture that may be played, and how seats are called."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import pytest

from nainjaune_agents.play.match_table import MatchTable
from nainjaune_agents.serve.live_table import LiveTable
from nainjaune_agents.serve.settings import playable, read_settings
from nainjaune_agents.serve.views import rules_text, view
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import OwnCard
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.registry import get_game
from nainjaune_env.render.svg import number
from tests.agents.serve.pages import new_table
from tests.support.games import games_with

GAMES = pytest.mark.parametrize("game", games_with("pictures"))


@GAMES
@pytest.mark.parametrize("preset", [0, -1])
def test_every_card_of_a_seat_is_where_its_picture_has_it(game: str, preset: int) -> None:
    spec = get_game(game)
    setup = spec.setup(list(spec.presets)[preset])
    assert spec.pictures is not None
    rng = random.Random(5)
    table = MatchTable(setup, [None] * setup.players, seed=4, rng=lambda number, index: RowStreams(index), by_rounds=True)
    found = 0
    while not table.round_over:
        seat, position = table.at_turn, table.position[0]
        cards = spec.pictures.own_cards(setup, position, seat, **table.history)
        svg = spec.pictures.svg(setup, position, seat, **table.history)
        for card in cards:
            assert f"translate({number(card.x)} {number(card.y)})" in svg
            assert card.width > 0
            assert card.height > 0
        assert cards == sorted(cards, key=lambda card: card.x)
        found += sum(card.action in table.legal for card in cards)
        table.make_ply(rng.choice(table.legal))
    assert found > 10


@GAMES
def test_a_person_gets_the_cards_that_they_may_play_and_nobody_else_any(game: str) -> None:
    settings = read_settings(new_table(game, persons=2, players=2))
    live = LiveTable(settings, [None, None], lambda number, action: None)
    rng = random.Random(3)
    while not live.table.round_over:
        turn = live.table.at_turn
        sent = view(live, turn, "en", turn)
        legal = {action for action, _ in sent["moves"]}
        assert {OwnCard(*card).action for card in sent["cards"]} <= legal
        assert view(live, 1 - turn, "en", 1 - turn)["cards"] == view(live, None, "en", None)["cards"] == []
        live.play(turn, rng.choice(sorted(legal)))
    assert view(live, 0, "en", 0)["cards"] == []


SEATS = [{"person": "Zoé"}, {"person": "Max"}, {"agent": "random"}, {"agent": "random"}]
CALLED = ["Zoé", "Max", "random (seat 2)", "random (seat 3)"]


@pytest.mark.parametrize(("game", "language"), [(game, language) for game in playable() for language in LANGUAGES])
def test_seats_are_called_by_name_and_the_reader_you(game: str, language: str) -> None:
    """Nothing that is shown calls a seat by its number alone: not the picture, the events, nor the settlement."""
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
            title = [] if sent["picture"] is None else [ET.fromstring(sent["picture"])[0].text or ""]
            said = [text for ply in sent["events"] for _, text in ply["said"]]
            text = "\n".join([*sent["begun"], *said, *sent["settled"], *title])
            assert not numbered.search(text)
            assert seat == 0 or not re.search(rf"\b{you}\b", text, re.IGNORECASE)
            told += text if seat == 0 else ""
    assert re.search(rf"\b{you}\b", told)
    assert sent["names"] == [name.replace("seat", {"en": "seat", "fr": "place"}[language]) for name in CALLED[:players]]
    assert not any(word in sent["settled"][0] for word in ("Settlement", "Règlement"))


@pytest.mark.parametrize("language", LANGUAGES)
@GAMES
def test_the_rules_on_the_page_say_nothing_of_typing(game: str, language: str) -> None:
    """Moves are buttons there."""
    seats = [{"person": "Zoé"}, {"agent": "random"}]
    for knobs in ({}, {"announce": "explicit"} if game == "nain_jaune" else {"memory": "perfect"}):
        settings = read_settings(new_table(game, players=2, knobs=knobs, seats=seats))
        live = LiveTable(settings, [None] * 2, lambda number, action: None)
        speaker = live.listener(0, language, 0).speaker
        shown = rules_text(live, 0, language) + "\n".join(speaker.begun())
        assert not re.search(r"\b(type|tapez)\b", shown, re.IGNORECASE)
        assert all(line not in shown for line in speaker.typing())
        assert any(re.search(r"\b(type|tapez)\b", line, re.IGNORECASE) for line in speaker.typing())
