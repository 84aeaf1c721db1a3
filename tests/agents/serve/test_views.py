"""The cards of the picture that may be played are where the painter has drawn them."""

from __future__ import annotations

import random

import pytest

from nainjaune_agents.play.match_table import MatchTable
from nainjaune_agents.serve.live_table import LiveTable
from nainjaune_agents.serve.settings import read_settings
from nainjaune_agents.serve.views import view
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import OwnCard
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
    table = MatchTable(setup, [None] * setup.players, seed=4, chance=lambda number, index: RowStreams(index), by_rounds=True)
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
        sent = view(live, turn, "en")
        legal = {action for action, _ in sent["moves"]}
        assert {OwnCard(*card).action for card in sent["cards"]} <= legal
        assert view(live, 1 - turn, "en")["cards"] == view(live, None, "en")["cards"] == []
        live.play(turn, rng.choice(sorted(legal)))
    assert view(live, 0, "en")["cards"] == []
