"""The texts of the page and of refusals, in English and French; a game's own texts come from its ``Speaker``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.core.texts import read_texts


@dataclass(frozen=True)
class Texts:
    """One language. Both languages have the same names in each table."""

    refusals: Mapping[str, str]
    """Why a message has changed nothing."""
    page: Mapping[str, str]
    """What the page says; it fills in what stands in braces."""
    opponents: Mapping[str, Sequence[Mapping[str, str]]]
    """By game: opponents as people meet them, each with the ``agent`` that plays, a ``level`` (easy, good or strong), a ``name``
    and a line on their ``style``."""


TEXTS: Mapping[str, Texts] = read_texts(Texts, Path(__file__).parent, "texts_{language}.toml")


def known_name(game: str, agent: str) -> str:
    """Returns the name by which people know an agent in every language: its own where it is none of the opponents."""
    return next((one["name"] for one in TEXTS[LANGUAGES[0]].opponents.get(game, ()) if one["agent"] == agent), agent)
