"""Cards: back as they were, or refused with a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.base.task import DEFAULT_TASK, Task
from nainjaune_agents.players.zoo import SearchGain, load_card, save_card
from nainjaune_env.core.errors import CheckpointError
from tests.agents.players.zoo.boxes import put
from tests.support.positions import small


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return put(tmp_path, "strong", small(), "classic-3").with_suffix(".json")


def test_back_as_it_was(card: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    save_card(again, load_card(card))
    assert load_card(again) == load_card(card)
    assert again.read_bytes() == card.read_bytes()
    assert not load_card(card).anywhere


def test_ratings_name_their_task(card: Path) -> None:
    """Cards that are older than tasks have ratings of the default one."""
    payload = json.loads(card.read_text(encoding="utf-8"))
    rating = payload["ratings"][0]
    del rating["objective"], rating["start"]
    payload["ratings"].append({**rating, "objective": "centred", "start": {"pots": [20, 20]}, "knobs": {"stake": 2}})
    card.write_text(json.dumps(payload), encoding="utf-8")
    first, second = load_card(card).ratings
    assert first.task == DEFAULT_TASK
    assert first.table == "classic, max_rounds 2, 3 seats"
    assert second.task == Task("centred", {"pots": [20, 20]})
    assert second.table == "classic, stake 2, 3 seats, centred payoff, start with pots 20"


def test_gains_left_to_a_search_and_fallback_are_optional(card: Path) -> None:
    """Cards that are older have neither."""
    payload = json.loads(card.read_text(encoding="utf-8"))
    assert payload.pop("search_gains") == []
    assert payload.pop("fallback") is False
    card.write_text(json.dumps(payload), encoding="utf-8")
    assert load_card(card).search_gains == []
    assert not load_card(card).fallback
    gain = SearchGain(**payload["ratings"][0], search="search=2,inference=policy")
    save_card(card, replace(load_card(card), search_gains=[gain]))
    assert load_card(card).search_gains == [gain]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sha256": None}, "has the keys .*, not .*sha256"),
        ({"version": 2}, "is not a nainjaune-zoo-card of version 1"),
        ({"ratings": {"luck": 1}}, "is malformed: .*unexpected keyword"),
        ({"ratings": {"start": "heavy"}}, "is malformed: .*'heavy'"),
        ({"fallback": 1}, "is malformed: 'fallback' is not true or false"),
        ({"house_rules": {}}, "is malformed: 'house_rules' is not a list"),
        ({"house_rules": [{"preset": "classic", "players": 3, "knobs": {}}]}, "house rules have a list of 'players'"),
        (
            {"house_rules": [{"preset": "classic", "players": [3], "knobs": {"stake": 2}}]},
            "is malformed: the values of a knob in 'house_rules' are a list",
        ),
    ],
    ids=str,
)
def test_another_one_is_refused(card: Path, change: dict[str, Any], says: str) -> None:
    """With another value of a key, without it (None), or with a rating that has another key."""
    payload = json.loads(card.read_text(encoding="utf-8"))
    for key, value in change.items():
        if value is None:
            del payload[key]
        elif key == "ratings":
            payload[key][0] |= value
        else:
            payload[key] = value
    card.write_text(json.dumps(payload), encoding="utf-8")
    with pytest.raises(CheckpointError, match=says):
        load_card(card)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not a model card"),
        (None, "There is no model card"),
    ],
)
def test_a_broken_one_is_refused(card: Path, text: str | None, says: str) -> None:
    card.unlink() if text is None else card.write_text(text, encoding="utf-8")
    with pytest.raises(CheckpointError, match=says):
        load_card(card)
