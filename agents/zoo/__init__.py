"""Players in the box: trained networks that come with the package, each with a card that says what it is and what it is worth.

A player has a name (``zoo:strong``) and a file for each kind of table it plays at: one for a sheet and a number of seats, one
for all tables of a game, or both, of which the first is taken where it fits. A file ``X.safetensors`` is a checkpoint without
what only training needs, and beside it lies its card, ``X.json``.
"""

from __future__ import annotations

from .model_card import Card, Rating, load_card, save_card
from .registry import PREFIX, Player, Shelf, is_zoo_name, shelf

__all__ = ["PREFIX", "Card", "Player", "Rating", "Shelf", "is_zoo_name", "load_card", "save_card", "shelf"]
