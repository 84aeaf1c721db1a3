"""The page and the server say everything in both languages, and nothing that nobody asks for."""

from __future__ import annotations

import re

from nainjaune_agents.serve.app import PAGE
from nainjaune_agents.serve.texts import TEXTS

STATES = {"connecting", "connected", "lost"}
"""Read by a name that is computed."""


def test_both_languages_have_the_same_names_and_blanks() -> None:
    for table in ("refusals", "page"):
        english, french = (getattr(TEXTS[language], table) for language in ("en", "fr"))
        assert english.keys() == french.keys()
        for name, text in english.items():
            assert re.findall(r"\{\w+\}", text) == re.findall(r"\{\w+\}", french[name]), name


def test_the_page_uses_every_text_and_no_other() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PAGE.glob("*.js"))
    used = set(re.findall(r"texts\.(\w+)", code)) | STATES
    assert used == TEXTS["en"].page.keys()
