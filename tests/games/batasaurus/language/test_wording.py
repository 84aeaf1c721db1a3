"""The texts of both languages."""

from __future__ import annotations

import pytest

from nainjaune_env.games.batasaurus.language import LANGUAGES
from nainjaune_env.games.batasaurus.research.statistics import SOURCES
from nainjaune_env.games.batasaurus.rules import Exhausted, Memory


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_is_a_text_for_each_value_and_source(language: str) -> None:
    texts = LANGUAGES[language]
    assert set(texts.phrases.memory) == set(texts.phrases.typing) == {member.name.lower() for member in Memory}
    assert set(texts.phrases.exhausted) == {member.name.lower() for member in Exhausted}
    assert len(texts.advice.sources) == len(SOURCES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_twelve_dinosaurs_with_names_of_their_own(language: str) -> None:
    dinosaurs = LANGUAGES[language].words.dinosaurs
    assert len(set(dinosaurs)) == 12
    assert (dinosaurs[0], dinosaurs[11]) == ("Compsognathus", "T. rex")


def test_a_dinosaur_with_its_value() -> None:
    assert (LANGUAGES["fr"].words.named(9), LANGUAGES["en"].words.named(9)) == ("Styracosaure (9)", "Styracosaurus (9)")
