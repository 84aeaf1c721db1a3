"""The page and the server say everything in both languages, and nothing that nobody asks for."""

from __future__ import annotations

import re

from nainjaune_agents.tables.server.page_files import PAGE, texts_of_page
from nainjaune_agents.tables.server.players import check_agent
from nainjaune_agents.tables.server.settings import playable
from nainjaune_agents.tables.server.texts import TEXTS

LEVELS = ("easy", "good", "strong")
CHECKS = ("text", "token", "choice", "whole", "number", "flag", "plain", "array", "object", "list", "database")
"""What the page expects of stored values."""
COMPUTED = {"connecting", "connected", "lost", *LEVELS, *(f"expected_{check}" for check in CHECKS)}
"""Read by a name that is computed."""


def test_both_languages_have_the_same_names_and_blanks() -> None:
    for table in ("refusals", "page"):
        english, french = (getattr(TEXTS[language], table) for language in ("en", "fr"))
        assert english.keys() == french.keys()
        for name, text in english.items():
            assert re.findall(r"\{\w+\}", text) == re.findall(r"\{\w+\}", french[name]), name


def test_the_page_uses_every_text_and_no_other() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PAGE.rglob("*.js"))
    used = set(re.findall(r"texts\.(\w+)", code)) | COMPUTED
    assert used == texts_of_page("en").keys()


def test_opponents_of_every_level_can_be_seated_and_no_two_are_alike() -> None:
    for game in playable():
        english, french = (TEXTS[language].opponents[game] for language in ("en", "fr"))
        for one, other in zip(english, french, strict=True):
            assert one.keys() == other.keys() == {"agent", "level", "name", "style"}
            assert all(one[key] == other[key] for key in ("agent", "level", "name"))
            assert check_agent(one["agent"], game) == one["agent"]
        assert {one["level"] for one in english} == set(LEVELS)
        for key in ("agent", "name", "style"):
            assert len({one[key] for one in english}) == len(english)
