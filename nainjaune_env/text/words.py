"""The texts that all games share; ``en.toml`` and ``fr.toml`` hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.texts import read_texts
from nainjaune_env.core.validation import check_name


@dataclass(frozen=True)
class SharedTexts:
    """What every text seat says."""

    title: str
    seat: str
    you: str
    colon: str
    head: str
    """Of a game without words of its own, as below."""
    choose: str
    knob: str
    sees: str
    players: str
    """Before the players' names."""
    since: str
    nothing_since: str
    moves: str
    keyword: str
    """What stands before the colon of an answer."""
    ask: str
    empty: str
    too_long: str
    no_line: str
    several: str
    unknown: str
    illegal: str
    cut: str
    again: str
    """Follows each of the sentences above."""
    forfeited: str
    """Before the next situation, when the move was made for the player."""


LANGUAGES: Mapping[str, SharedTexts] = read_texts(SharedTexts, Path(__file__).parent)
"""The texts by the language's name."""


def texts_of(language: str) -> SharedTexts:
    """Returns the texts of a language; raises :class:`RulesError` for an unknown one."""
    return LANGUAGES[check_name("language", language, LANGUAGES)]
