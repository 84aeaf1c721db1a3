"""What the worker of the static site must know of a game beyond its module, as JSON values: rules by knob, and texts."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from nainjaune_env.core.spec import GameSpec

from ..serve.settings import catalogue


def setup_data(game: GameSpec) -> dict[str, Any]:
    """Returns the entry of ``serve``'s catalogue, and the default of each knob that records leave out where it has it."""
    (entry,) = [each for each in catalogue() if each["name"] == game.name]
    rules = game.presets[game.default_preset].rules
    return {**entry, "extensions": {f.name: f.default for f in fields(rules) if f.metadata["extension"]}}


def text_data(game: GameSpec) -> dict[str, Any]:
    """Returns the game's own texts by language."""
    languages: Mapping[str, Any] = importlib.import_module(f"{game.package}.language").LANGUAGES
    return {name: asdict(texts) for name, texts in languages.items()}
