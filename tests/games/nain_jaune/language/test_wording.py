"""The texts of both languages."""

from __future__ import annotations

import pytest

from nainjaune_env.games.nain_jaune.language import LANGUAGES
from nainjaune_env.games.nain_jaune.research.statistics import SOURCES


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_have_an_entry_for_each_rank_pot_and_source(language: str) -> None:
    texts = LANGUAGES[language]
    assert len(texts.words.rank_signs) == len(texts.words.rank_names) == 13
    assert len(texts.words.takes) == 5
    assert len(texts.advice.sources) == len(SOURCES)
