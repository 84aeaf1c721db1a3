"""Cards: back as they were, or refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nainjaune_agents.task import DEFAULT_TASK, Task
from nainjaune_agents.zoo import load_card, save_card
from nainjaune_env.core.errors import CheckpointError
from tests.agents.zoo.boxes import put
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
    held = json.loads(card.read_text(encoding="utf-8"))
    rating = held["ratings"][0]
    del rating["objective"], rating["start"]
    held["ratings"].append({**rating, "objective": "centred", "start": {"pots": [20, 20]}, "knobs": {"stake": 2}})
    card.write_text(json.dumps(held), encoding="utf-8")
    first, second = load_card(card).ratings
    assert first.task == DEFAULT_TASK
    assert first.table == "classic, max_rounds 2, 3 seats"
    assert second.task == Task("centred", {"pots": [20, 20]})
    assert second.table == "classic, stake 2, 3 seats, centred payoff, start with pots 20"


def without(held: dict[str, Any]) -> None:
    del held["sha256"]


def of_another_version(held: dict[str, Any]) -> None:
    held["version"] = 2


def with_a_strange_rating(held: dict[str, Any]) -> None:
    held["ratings"][0]["luck"] = 1


def with_a_strange_task(held: dict[str, Any]) -> None:
    held["ratings"][0]["start"] = "heavy"


def with_a_house_rule_of_one_seat(held: dict[str, Any]) -> None:
    held["house_rules"] = [{"preset": "classic", "players": 3, "knobs": {}}]


def with_a_house_rule_of_one_value(held: dict[str, Any]) -> None:
    held["house_rules"] = [{"preset": "classic", "players": [3], "knobs": {"stake": 2}}]


def with_no_list(held: dict[str, Any]) -> None:
    held["ratings"] = {}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without, "has the keys .*, not .*sha256"),
        (of_another_version, "is not a nainjaune-zoo-card of version 1"),
        (with_a_strange_rating, "is malformed: .*unexpected keyword"),
        (with_a_strange_task, "is malformed: .*'heavy'"),
        (with_no_list, "is malformed: 'ratings' is not a list"),
        (with_a_house_rule_of_one_seat, "is malformed: house rules have a list of 'players'"),
        (with_a_house_rule_of_one_value, "is malformed: the values of a knob in 'house_rules' are a list"),
    ],
)
def test_another_one_is_refused(card: Path, change: Any, says: str) -> None:
    held = json.loads(card.read_text(encoding="utf-8"))
    change(held)
    card.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(CheckpointError, match=says):
        load_card(card)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not a model card"),
        ("[]", "is not a nainjaune"),
        pytest.param("[" * 100_000, "is not a model card: maximum recursion", id="nested"),
        (None, "There is no model card"),
    ],
)
def test_a_broken_one_is_refused(card: Path, text: str | None, says: str) -> None:
    card.unlink() if text is None else card.write_text(text, encoding="utf-8")
    with pytest.raises(CheckpointError, match=says):
        load_card(card)
