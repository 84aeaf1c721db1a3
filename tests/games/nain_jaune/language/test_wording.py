"""The texts of both languages."""

from __future__ import annotations

import pytest

from nainjaune_env.core.speech import LANGUAGES as SPOKEN
from nainjaune_env.games.nain_jaune.language import LANGUAGES
from nainjaune_env.games.nain_jaune.research.statistics import SOURCES
from tests.support.wordings import differences, texts_of


def test_both_languages_have_the_same_texts_and_fill_in_the_same_fields() -> None:
    assert set(LANGUAGES) == set(SPOKEN)
    assert len(list(texts_of(LANGUAGES["en"]))) > 150  # or nothing would be compared
    assert differences(LANGUAGES["en"], LANGUAGES["fr"]) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_have_an_entry_for_each_rank_pot_and_source(language: str) -> None:
    texts = LANGUAGES[language]
    assert len(texts.words.rank_signs) == len(texts.words.rank_names) == 13
    assert len(texts.words.takes) == 5
    assert len(texts.advice.sources) == len(SOURCES)
