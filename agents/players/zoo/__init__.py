"""The zoo: trained networks that ship with the package, each with a model card that says how it was made and how strong it is.

A player has a name (``zoo:strong``) and one or more files: for a preset and a number of seats, or for all tables of a game; the
most specific file that fits is used, and where none does, that of the fallback (``zoo:strong-any``). A file
``X.safetensors`` is a checkpoint without the training state, and ``X.json`` beside it is its card.
"""

from __future__ import annotations

from .model_card import HouseRules, ModelCard, Rating, SearchGain, load_card, save_card
from .registry import PREFIX, Player, PlayerRegistry, is_zoo_name, player_registry

__all__ = [
    "PREFIX",
    "HouseRules",
    "ModelCard",
    "Player",
    "PlayerRegistry",
    "Rating",
    "SearchGain",
    "is_zoo_name",
    "load_card",
    "player_registry",
    "save_card",
]
