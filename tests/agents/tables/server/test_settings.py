"""Settings of tables: what a page may ask for, and what is kept."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from nainjaune_agents.study.advice.models import is_advised
from nainjaune_agents.tables.server.players import LoadedAgents, check_agent, offered
from nainjaune_agents.tables.server.settings import catalogue, from_dict, playable, read_settings
from nainjaune_env.core.errors import NainJauneError
from tests.agents.tables.server.pages import advised_knobs, new_table
from tests.support.games import games_with

GAME = games_with("speaker", "pictures")[0]


@pytest.mark.parametrize("game", games_with("speaker", "pictures"))
def test_what_is_kept_is_what_was_read(game: str) -> None:
    settings = read_settings(new_table(game, rounds=3))
    assert from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert settings.persons == [0]
    assert not settings.every_ply
    assert read_settings(new_table(game, persons=2)).every_ply  # or a quick pass would tell that it was forced


def test_persons_are_advised_where_they_sit_alone_or_the_form_says_so() -> None:
    game = next(game for game in games_with("speaker", "pictures", "advice") if not advised_knobs(game))
    asked = [(1, None), (2, None), (0, None), (1, False), (2, True)]
    assert [read_settings(new_table(game, persons, advice=advice)).advice for persons, advice in asked] == [
        True, False, True, False, True,
    ]  # fmt: skip
    for game in games_with("speaker", "pictures"):
        usual = read_settings(new_table(game))
        assert usual.advice == is_advised(usual.setup)


def test_names_become_text_and_seeds_are_random() -> None:
    seats = [{"person": " <b>\x1b\u202eZoé "}, {"person": ""}]
    one, two = (read_settings(new_table(GAME, seats=seats, players=2, seed=None)) for _ in "ab")
    assert one.names == (r"<b>\x1b\u202eZoé", "person 1")
    assert one.seed != two.seed


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rouns": 1}, "A new table: Unknown key 'rouns'. Did you mean 'rounds'?"),
        ({"game": "poker"}, "A table plays one of the games"),
        ({"game": ["x"]}, "A new table: expected 'game' to be a text, not ['x']."),
        ({"preset": "no"}, "Unknown preset 'no'"),
        ({"players": 99}, "players, not 99"),
        ({"knobs": {"no": 1}}, "Unknown knob 'no'"),
        ({"knobs": {"preset": "x"}}, "Unknown knob 'preset'"),
        ({"knobs": {"self": 1}}, "Unknown knob 'self'"),
        ({"seats": []}, "has as many seats, not 0."),
        ({"seats": [{"agent": "/etc/passwd"}, {"person": ""}], "players": 2}, "Unknown agent '/etc/passwd'"),
        ({"seats": [{"agent": "random@search=9999"}, {"person": ""}], "players": 2}, "from 1 to 500"),
        ({"seats": [{"agent": "random@search=1.5"}, {"person": ""}], "players": 2}, "from 1 to 500"),
        (
            {"seats": [{"person": "x" * 41}, {"person": ""}]},
            "expected 'seats[0].person' to be a text, at most 40 long, or null, not",
        ),
        ({"seats": [{"agent": "random", "name": 5}]}, "expected 'seats[0].name' to be a text, at most 40 long, or null, not 5."),
        ({"seats": [{"person": "x", "agent": "random"}]}, "In a seat is {'agent': agent}"),
        ({"seats": [{"person": "x", "name": "y"}]}, "In a seat is {'agent': agent}"),
        ({"seats": [{}]}, "In a seat is {'agent': agent}"),
        ({"rounds": 0}, "A new table: expected 'rounds' to be a whole number from 1 to 100 or null, not 0."),
        ({"rounds": True}, "A new table: expected 'rounds' to be a whole number from 1 to 100 or null, not True."),
        ({"absence": 3601}, "A new table: expected 'absence' to be a whole number from 5 to 3600 or null, not 3601."),
        ({"seed": 7}, "A new table: expected 'seed' to be a text or null, not 7."),
        ({"seed": "9" * 20}, "A seed is a whole number from 0 to 18446744073709551615 in digits"),
        ({"seed": "٣"}, "A seed is a whole number from 0 to 18446744073709551615 in digits"),
        ({"pace": float("nan")}, "A new table: expected 'pace' to be a finite number, not nan."),
    ],
)
def test_other_tables_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(NainJauneError, match=re.escape(says)):
        read_settings({**new_table(GAME), **change})


def test_agents_are_those_of_the_package_and_those_that_are_named() -> None:
    names = offered(GAME, ["runs/a"])
    assert "random" in names
    assert names[-1] == "runs/a"
    for name in ("random", "random@search=50", "runs/a", "runs/a@sample@search=5"):
        assert check_agent(name, GAME, ["runs/a"]) == name
    for name in ("runs/b", "../random", "random/", "random@search=0", None, ["random"]):
        with pytest.raises(NainJauneError):
            check_agent(name, GAME, ["runs/a"])


def test_an_agent_is_loaded_once() -> None:
    agents, setup = LoadedAgents(), read_settings(new_table(GAME)).setup
    assert agents.get("random", setup) is agents.get("random", setup)


def test_the_catalogue_is_json_with_every_knob() -> None:
    games = json.loads(json.dumps(catalogue()))
    assert [game["name"] for game in games] == playable()
    for game in games:
        names = [knob["name"] for knob in game["knobs"]]
        assert all(list(preset["knobs"]) == names for preset in game["presets"])
        assert game["agent"] in game["agents"]
