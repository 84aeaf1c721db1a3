"""What the table and advice say is there in every language, and no word means two things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nainjaune_agents.study.advice as advice
from nainjaune_agents.study.advice.texts import TEXTS as ADVICE
from nainjaune_agents.tables.terminal.texts import TEXTS, any_language
from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.registry import get_game
from tests.agents.tables.terminal.typist import persons_table
from tests.support.games import games_with
from tests.support.wordings import differences, texts_of

COMMANDS = ("help", "quit", "undo", "hint", "last", "table", "confirm")
LISTS = ("yes", *(f"{command}_words" for command in COMMANDS))


@pytest.mark.parametrize("texts", [TEXTS, ADVICE], ids=["play", "advice"])
def test_every_text_is_there_in_every_language(texts: Any) -> None:
    assert set(texts) == set(LANGUAGES)
    assert differences(texts["en"], texts["fr"], free=LISTS) == []


def test_every_text_of_advice_is_translated_and_said() -> None:
    english, french = dict(texts_of(ADVICE["en"])), dict(texts_of(ADVICE["fr"]))
    assert [where for where in english if english[where] == french[where] and len(english[where].split()) > 2] == []
    code = "".join(path.read_text(encoding="utf-8") for path in Path(advice.__file__).parent.glob("*.py"))
    assert [name for name in vars(ADVICE["en"]) if f"texts.{name}" not in code and f"TEXTS[language].{name}" not in code] == []


def test_no_word_is_two_commands() -> None:
    words = [word for command in COMMANDS for word in any_language(command)]
    assert len(words) == len(set(words))


def test_no_command_hides_a_topic_or_a_move() -> None:
    """Commands are looked for first; the game's own words come after. ``q`` alone is written as a queen is not."""
    for name in games_with("speaker"):
        for preset in get_game(name).presets:
            for language in LANGUAGES:
                table = persons_table(preset, language=language)
                speaker = table.speaker
                commands = {word for command in COMMANDS for word in any_language(command)}
                assert not commands & {topic.lower() for topic in speaker.topics}
                table.run_on()
                if not table.round_over:
                    typed = {speaker.typed(action) for action in table.legal}
                    assert not commands & (typed | {text.lower() for text in typed} - {"q"})
