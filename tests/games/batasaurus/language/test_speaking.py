"""The dialogue with a person at a table of Batasaurus, in both languages."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from nainjaune_env.core.errors import IllegalActionError
from nainjaune_env.core.speech import Utterance
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.language import LANGUAGES
from nainjaune_env.games.batasaurus.language.speaking import Speaker
from nainjaune_env.games.batasaurus.records.replay import setup_table
from nainjaune_env.games.batasaurus.rules import BatasaurusRules
from nainjaune_env.registry import make_setup
from tests.support.wordings import french

SORTED = list(range(1, 13))
TURNED = SORTED[::-1]


def speaker(language: str = "en", seat: int = 0, layouts: Any = None, **knobs: Any) -> Speaker:
    """Two seats, seat 0 leads; with `memory = glimpse` both have looked at their cards."""
    setup = make_setup(None, "batasaurus", 2, **knobs)
    dialogue = Speaker(setup, setup_table(setup, layouts or [SORTED, SORTED], leader=0), seat, language)
    if setup.rules.memory == "glimpse" and layouts is not None:
        dialogue.ply(MEMORISE)
        dialogue.ply(MEMORISE)
    return dialogue


def rules_text(language: str, **knobs: Any) -> str:
    setup = make_setup(None, "batasaurus", 2, **knobs)
    return Speaker(setup, setup_table(setup, [list(range(1, setup.rules.dinosaurs + 1))] * 2, leader=0), 0, language).rules()  # type: ignore[attr-defined]


def refused(dialogue: Speaker, text: str) -> str:
    with pytest.raises(IllegalActionError) as error:
        dialogue.parse(text)
    return str(error.value)


# ---------------------------------------------------------------- what is typed


def test_b4_2_looking_comes_first() -> None:
    dialogue = speaker()
    assert dialogue.parse("") == dialogue.parse("memorise") == dialogue.parse("Mémorise") == MEMORISE
    assert refused(dialogue, "3") == "Memorise your cards first, then press Enter."
    assert dialogue.ply(MEMORISE) == [Utterance(0, "memorises their cards")]
    dialogue.ply(MEMORISE)
    assert refused(dialogue, "memorise") == "There is nothing to memorise now: play a card."


def test_b1_1_slots_by_number() -> None:
    dialogue = speaker(layouts=[TURNED, SORTED])
    assert dialogue.menu(70) == ["Your cards, by slot:", "   0   1   2   3", "   4   5   6   7", "   8   9  10  11"]
    assert [dialogue.parse(text) for text in ("4", " 4 ", "slot 4", "Emplacement 4", "s4")] == [4] * 5
    assert refused(dialogue, "12") == "Slots are numbered from 0 to 11, and there is no slot 12."
    dialogue.ply(4)
    dialogue.ply(0)
    assert dialogue.menu(70)[2] == "   ·   5   6   7"
    assert refused(dialogue, "4") == "Slot 4 is empty."


@pytest.mark.parametrize("text", ["T. rex", "12th", "-1", "4.5", "four", "①"])
def test_b4_2_from_memory_a_name_means_nothing(text: str) -> None:
    """Whether one has it could be read from the answer."""
    assert refused(speaker(layouts=[TURNED, SORTED]), text) == f"Type the number of a slot; {text!r} is not one."


def test_b4_1_names_where_cards_are_known() -> None:
    dialogue = speaker(memory="perfect")
    assert dialogue.parse("T. rex") == dialogue.parse("t rex") == 11
    assert dialogue.parse("Vélociraptor") == dialogue.parse("veloci") == 7
    assert refused(dialogue, "S") == "'S' may mean Stegosaurus (5), Styracosaurus (9) and Spinosaurus (10)."
    assert refused(dialogue, "Pikachu") == "Type the number of a slot; 'Pikachu' is not one."
    dialogue.ply(11)
    dialogue.ply(0)
    assert refused(dialogue, "T. rex") == "You have no T. rex (12) any more."
    assert dialogue.menu(72)[3].split() == ["8", "Styracosaurus", "9", "Spinosaurus", "10", "Diplodocus", "·"]


def test_b1_2_fewer_dinosaurs() -> None:
    dialogue = speaker(memory="perfect", dinosaurs=3, layouts=[[1, 2, 3]] * 2)
    assert dialogue.menu(72)[1:] == ["   0 Compsognathus   1 Kentrosaurus    2 Pteranodon"]
    assert refused(dialogue, "3") == "Slots are numbered from 0 to 2, and there is no slot 3."
    assert refused(dialogue, "T. rex") == "Type the number of a slot; 'T. rex' is not one."


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_typed_is_understood(language: str) -> None:
    dialogue = speaker(language)
    assert dialogue.parse(dialogue.typed(MEMORISE)) == MEMORISE
    dialogue = speaker(language, layouts=[TURNED, SORTED])
    assert [dialogue.parse(dialogue.typed(slot)) for slot in range(12)] == list(range(12))


# ---------------------------------------------------------------- the rules


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("knob", dataclasses.fields(BatasaurusRules), ids=lambda knob: knob.name)
def test_every_value_of_a_knob_shows_in_the_rules(language: str, knob: dataclasses.Field[Any]) -> None:
    values = knob.metadata["choices"] or range(knob.metadata["low"], knob.metadata["high"] + 1)
    texts = {rules_text(language, **{knob.name: value}) for value in values}
    assert len(texts) == len(values) > 1
    assert not any("{" in text for text in texts)


# ---------------------------------------------------------------- what is shown


def test_b4_3_where_another_played_from_is_not_shown() -> None:
    dialogue = speaker(seat=1, layouts=[TURNED, SORTED])
    assert dialogue.ply(3) == [Utterance(0, "Styracosaurus (9)")]
    assert dialogue.ply(3) == [Utterance(1, "Ankylosaurus (4), slot 3"), Utterance(None, "Seat 0 takes 2 cards (2 in all).")]


def test_b2_3_a_battles_cards_are_shown_when_all_lie_there() -> None:
    dialogue = speaker("fr", seat=1, layouts=[SORTED, SORTED])
    assert dialogue.ply(4) == [Utterance(0, "Stégosaure (5)")]
    assert dialogue.ply(4) == [
        Utterance(1, "Stégosaure (5), emplacement 4"),
        Utterance(None, french("Bataille ! Stégosaure (5) pour la place 0 et la place 1.")),
    ]
    assert dialogue.ply(0) == [Utterance(0, "une carte face cachée")]
    assert dialogue.ply(11) == [
        Utterance(1, "une carte face cachée, emplacement 11"),
        Utterance(None, french("On retourne : place 0 Compsognathus (1) · place 1 T. rex (12)")),
        Utterance(None, "La place 1 remporte 4 cartes (4 en tout)."),
    ]


def test_b4_1_a_battles_own_card_is_shown_to_who_knows_it() -> None:
    dialogue = speaker(memory="perfect")
    dialogue.ply(4)
    dialogue.ply(4)
    assert dialogue.ply(0) == [Utterance(0, "Compsognathus (1) face down, slot 0")]


@pytest.mark.parametrize("memory", ["glimpse", "perfect"])
def test_b2_3_what_lies_face_down_is_in_nothing_that_is_shown(memory: str) -> None:
    one, two = (speaker(seat=1, memory=memory, layouts=[SORTED, SORTED]) for _ in "ab")
    for dialogue in (one, two):
        dialogue.ply(4)
        dialogue.ply(4)
    assert one.ply(0) == two.ply(11)
    assert [one.about(topic) for topic in one.topics] == [two.about(topic) for topic in two.topics]
    assert one.menu(70) == two.menu(70)


def test_what_a_play_shows_its_own_player() -> None:
    """From memory everything; where cards are known only the end of a battle."""
    assert speaker(layouts=[SORTED, SORTED]).reveals(3)
    dialogue = speaker(memory="perfect")
    assert not dialogue.reveals(3)
    dialogue.ply(4)
    dialogue.ply(4)
    assert dialogue.reveals(0)


def test_what_may_be_asked() -> None:
    dialogue = speaker("fr", layouts=[SORTED, SORTED])
    dialogue.ply(11)
    dialogue.ply(0)
    assert dialogue.about("piles") == [french("Piles : place 0 2 · place 1 0")]
    assert dialogue.about("restantes") == dialogue.about("unshown")
    assert (dialogue.about("restantes") or [])[1] == french("  place 0 : 1 2 3 4 5 6 7 8 9 10 11")
    assert dialogue.about("T. rex") is None


def test_b3_1_the_end() -> None:
    dialogue = speaker(memory="perfect", dinosaurs=2, layouts=[[1, 2], [1, 2]])
    for slot in (1, 0, 0, 1):
        dialogue.ply(slot)
    assert dialogue.settled() == ["Piles: seat 0 2 · seat 1 2"]
    with pytest.raises(IllegalActionError, match="one round"):
        dialogue.dealt()
