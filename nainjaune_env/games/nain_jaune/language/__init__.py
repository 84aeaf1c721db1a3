"""What the game says and understands, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nainjaune_env.core.texts import read_texts
from nainjaune_env.core.validation import check_name
from nainjaune_env.games.nain_jaune.language.wording import Language

LANGUAGES: Mapping[str, Language] = read_texts(Language, Path(__file__).parent)
"""The texts by the language's name."""


def language_of(name: str) -> Language:
    """Returns the texts of a language; raises :class:`RulesError` for an unknown one."""
    return LANGUAGES[check_name("language", name, LANGUAGES)]
