"""Texts of advice for any game, in English and French; a game's own words are in its advice hooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.texts import read_texts


@dataclass(frozen=True)
class Texts:
    """The texts of one language; ``str.format`` fills in the braces."""

    move: str
    behind: str
    better: str
    equal: str
    because: str
    further: str
    """Between two reasons."""
    basis: str
    best_mark: str
    equal_mark: str
    decisions: str
    mistakes: str
    lost: str
    a_round: str
    all_kinds: str
    costliest: str
    none: str
    where: str
    played: str
    ask: str
    meaning: str


TEXTS: Mapping[str, Texts] = read_texts(Texts, Path(__file__).parent, "texts_{language}.toml")
