"""Cards: what a trained network is, how it was made, and what it was measured to be worth. JSON beside the network's file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import CheckpointError

FORMAT = "nainjaune-zoo-card"
VERSION = 1


@dataclass(frozen=True)
class Rating:
    """An edge, measured by duplicate play on deals of its own."""

    field: str
    """Whose field it was."""
    preset: str
    players: int
    knobs: dict[str, Any]
    """Knobs over the preset."""
    mean: float
    """In the game's unit (chips, cards) a round."""
    ci95: float
    """Half-width of the 95 % interval."""
    deals: int
    seed: int


@dataclass(frozen=True)
class Card:
    """What stands on a card."""

    game: str
    preset: str | None
    """The sheet that it was trained on; None: it plays at any table of the game."""
    players: int | None
    """Seats, likewise."""
    knobs: dict[str, Any]
    """Knobs over the preset that it was trained under."""
    sha256: str
    """Of the network's file, as 64 hexadecimal digits."""
    note: str
    """What it is, in a sentence."""
    algorithm: str
    made_by: list[str]
    """The commands that make it again, from a checkout, in order."""
    commit: str | None
    """Of the checkout that made it."""
    seconds: float
    """What training took in all."""
    decisions: float
    """How many decisions that were (or labels), in all."""
    machine: str
    ratings: list[Rating]

    @property
    def anywhere(self) -> bool:
        """Whether it plays at any table of its game."""
        return self.preset is None


def save_card(path: Path, card: Card) -> None:
    """Write ``card`` to ``path``, whole or not at all."""
    write_text(path, json.dumps({"format": FORMAT, "version": VERSION, **asdict(card)}, indent=2, ensure_ascii=False) + "\n")


def load_card(path: Path) -> Card:
    """Read a card; raises :class:`CheckpointError` where it is missing, cut short or something else."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"There is no card at {str(path)!r}.") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{str(path)!r} is no whole card (cut short?): {error}.") from None
    if not isinstance(held, dict) or held.pop("format", None) != FORMAT or held.pop("version", None) != VERSION:
        raise CheckpointError(f"{str(path)!r} is not a {FORMAT} of version {VERSION}.")
    expected = {f.name for f in fields(Card)}
    if held.keys() != expected or not isinstance(held["ratings"], list):
        raise CheckpointError(f"The card at {str(path)!r} holds {', '.join(held)}, and not {', '.join(sorted(expected))}.")
    try:
        return Card(**{**held, "ratings": [Rating(**rating) for rating in held["ratings"]]})
    except TypeError as error:
        raise CheckpointError(f"A rating on the card at {str(path)!r} does not say what one says: {error}.") from None
