"""The wording of advice is there in every language."""

from __future__ import annotations

from pathlib import Path

import nainjaune_agents.advice as room
from nainjaune_agents.advice.texts import TEXTS
from nainjaune_env.core.speech import LANGUAGES
from tests.support.wordings import differences, texts_of


def test_every_text_is_there_in_every_language() -> None:
    assert set(TEXTS) == set(LANGUAGES)
    assert differences(TEXTS["en"], TEXTS["fr"]) == []


def test_the_languages_are_not_one() -> None:
    english, french = dict(texts_of(TEXTS["en"])), dict(texts_of(TEXTS["fr"]))
    assert [where for where in english if english[where] == french[where] and len(english[where].split()) > 2] == []


def test_every_text_is_said_somewhere() -> None:
    folder = Path(room.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    for name in vars(TEXTS["en"]):
        assert f"texts.{name}" in code or f"TEXTS[language].{name}" in code, name
