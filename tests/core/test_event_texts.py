"""Events as sentences: cases that JavaScript's texts are tested with, too, and what a game's files may not say."""

from __future__ import annotations

import json
from dataclasses import fields
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from nainjaune_env.core.errors import GameError
from nainjaune_env.core.event_texts import EventKind, EventTexts, check_told, read_event_kinds
from nainjaune_env.core.events import HIDDEN, NO_SEAT, EventRow
from nainjaune_env.core.texts import CommonWords, SeatNames

CASES = Path(__file__).parents[1] / "support" / "told_cases.json"
GIVEN: dict[str, Any] = json.loads(CASES.read_text(encoding="utf-8"))
NUMBERS = {name: number for number, name in enumerate([*GIVEN["kinds"], "untold"])}
KINDS = {NUMBERS[name]: EventKind(name, **about) for name, about in GIVEN["kinds"].items()}
EMPTY = {"seat": NO_SEAT, "other": NO_SEAT, "card": 0, "pile": 0, "paid": 0, "due": 0, "cards": 0}


def row(kind: str, **columns: int) -> EventRow:
    return EventRow(NUMBERS[kind], **{**EMPTY, **columns})


@pytest.mark.parametrize("case", GIVEN["cases"], ids=lambda case: case["about"])
def test_events_are_told(case: dict[str, Any]) -> None:
    given = GIVEN["words"][case["language"]]
    words = CommonWords(**{**{f.name: "" for f in fields(CommonWords)}, **given})
    seats = SeatNames(words, len(case["names"]), case["names"], case["you"])
    spellings = {"mark": lambda value, row: f"#{value}"}
    texts = EventTexts(KINDS, GIVEN["told"][case["language"]], words, seats, spellings, case["listener"])
    heard = [[[*utterance] for utterance in texts.tell(row(**event) for event in ply)] for ply in case["plies"]]
    assert heard == case["heard"]
    assert texts.settlement == case["settlement"]
    texts.begin()
    assert texts.settlement == []


def test_only_columns_that_the_text_names_are_written() -> None:
    """A game's way to write a card need not know what a hidden one is."""
    words = CommonWords(**{**{f.name: "" for f in fields(CommonWords)}, **GIVEN["words"]["en"]})
    marks = {1: "one"}
    told = {**GIVEN["told"]["en"], "play_hidden": "a card"}
    texts = EventTexts(KINDS, told, words, SeatNames(words, 2), {"mark": lambda value, row: marks[value]})
    (utterance,) = texts.tell([row("play", seat=0, card=HIDDEN, pile=2)])
    assert utterance.text == "a card"


@pytest.mark.parametrize("language", GIVEN["told"])
def test_the_texts_of_the_cases_are_right(language: str) -> None:
    check_told("cases", KINDS, GIVEN["told"][language], language)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"deal": None}, "has no text in .told. for deal"),
        ({"deal_never": "x"}, "the text 'deal_never' .* is of no kind with variants in the order _own, _hidden"),
        ({"deal_none_short": "x"}, "the text 'deal_none_short' .* is of no kind with variants in the order"),
        ({"deal_own_own": "x"}, "the text 'deal_own_own' .* is of no kind with variants in the order"),
        ({"deal": "{card}"}, "the text 'deal' .* names 'card'; events.toml spells seat"),
        ({"deal": "{seat} {}"}, "the text 'deal' .* names ''; events.toml spells seat"),
        ({"deal": "{seat"}, "the text 'deal' .* is not a text with names of columns in braces"),
    ],
)
def test_wrong_texts_are_refused(change: dict[str, str | None], why: str) -> None:
    told = {key: text for key, text in {**GIVEN["told"]["en"], **change}.items() if text is not None}
    with pytest.raises(GameError, match=why):
        check_told("cases", KINDS, told, "en")


class Event(IntEnum):
    DEAL = 0
    PLAY = 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[bid]\narticle = "T1"\nspell = {}', "the kind 'bid' is not one of Event's kinds, deal, play"),
        ("[deal", "events.toml cannot be read"),
        ('[deal]\narticle = "T1"\nspell = "seat"', "spell is a table, and said, joined, settlement are true or false"),
        ('[deal]\narticle = "T1"\nspell = {}\nsaid = "no"', "spell is a table, and said, joined, settlement are true or false"),
        ("[deal]\nspell = {}", "missing: article"),
        ('[deal]\narticle = "T1"\nspell = {}\ncolour = 1', "missing: colour"),
        ('[deal]\narticle = "T1"\nspell = { kind = "number" }', "spells 'kind'; the columns are seat"),
        ('[deal]\narticle = "T1"\nspell = { card = "sign" }', "spells card as 'sign'; this game knows count, mark"),
    ],
)
def test_wrong_kinds_are_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "events.toml").write_text(text, encoding="utf-8")
    with pytest.raises(GameError, match=why):
        read_event_kinds(tmp_path, Event, spellings=("mark",))


def test_kinds_are_read_by_number(tmp_path: Path) -> None:
    (tmp_path / "events.toml").write_text('[play]\narticle = "T2"\nsaid = true\nspell = { card = "mark" }', encoding="utf-8")
    assert read_event_kinds(tmp_path, Event, spellings=("mark",)) == {1: EventKind("play", "T2", {"card": "mark"}, said=True)}
