"""What the worker of the static site must know beyond the modules, as JSON values: rules by knob, and texts."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nainjaune_env.core.spec import GameSpec
from nainjaune_env.core.texts import read_texts

from ...study.advice.texts import TEXTS as ADVICE
from ..server.settings import catalogue


@dataclass(frozen=True)
class SiteTexts:
    """One language. Both languages have the same names in each table."""

    refusals: Mapping[str, str]
    """Why a message has changed nothing."""
    page: Mapping[str, str]
    """What the site says beyond the page of ``nainjaune serve``."""
    instead: Mapping[str, str]
    """Texts that replace the page's texts of the same names; an empty one leaves out its element."""
    guide: Mapping[str, str]
    """What a guided round says, by position."""


TEXTS: Mapping[str, SiteTexts] = read_texts(SiteTexts, Path(__file__).parent, "texts_{language}.toml")


def setup_data(game: GameSpec, networks: Mapping[str, str]) -> dict[str, Any]:
    """Returns the entry of ``serve``'s catalogue, how events are told, and ``networks``: files by setup (``djeco-4``)."""
    (entry,) = [each for each in catalogue() if each["name"] == game.name]
    events = {kind.name: kind._asdict() for kind in _language(game).KINDS.values()}
    return {**entry, "events": events, "networks": dict(networks)}


def text_data(game: GameSpec) -> dict[str, Any]:
    """Returns the game's own texts by language, and under ``advising`` the texts of advice for any game."""
    return {name: {**asdict(texts), "advising": asdict(ADVICE[name])} for name, texts in _language(game).LANGUAGES.items()}


def _language(game: GameSpec) -> Any:
    return importlib.import_module(f"{game.package}.language")
