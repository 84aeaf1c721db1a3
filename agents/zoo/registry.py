"""Finding the file of a player in the box for a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, CheckpointError, choose_one
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game

from .model_card import Card, load_card

PREFIX = "zoo:"
"""What the names of players in the box begin with."""
HERE = Path(__file__).resolve().parent


def is_zoo_name(name: str) -> bool:
    """Whether ``name`` is meant for a player in the box."""
    return name.startswith(PREFIX)


@dataclass(frozen=True)
class Player:
    """One file of a player, with its card."""

    name: str
    """As agents are called: ``zoo:strong``."""
    path: Path
    card: Card

    @property
    def plays_at(self) -> str:
        """At which tables, in a few words."""
        title = get_game(self.card.game).title
        if self.card.anywhere:
            return f"{title} at any table"
        knobs = "".join(f", {knob} {value}" for knob, value in self.card.knobs.items())
        return f"{title} ({self.card.preset}{knobs}) with {self.card.players} seats"

    def setup(self) -> Setup:
        """The rules it was trained under; of one for any table the game's usual ones."""
        return get_game(self.card.game).setup(self.card.preset, self.card.players, **self.card.knobs)


class Shelf:
    """The players in a folder, ``<name>/<table>.safetensors`` with ``<table>.json``."""

    def __init__(self, folder: Path = HERE) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """All players' names, without the prefix."""
        return sorted({path.parent.name for path in self.folder.glob("*/*.json")})

    def players(self, name: str | None = None) -> Iterator[Player]:
        """All files of the player ``name`` (None: of all), by the names of the files."""
        for path in sorted(self.folder.glob(f"{name or '*'}/*.json")):
            yield Player(PREFIX + path.parent.name, path.with_suffix(".safetensors"), load_card(path))

    def find(self, name: str, setup: Setup) -> Player:
        """The file of ``name`` (``zoo:strong``) for tables with ``setup``.

        One that was trained under these very rules goes before one of this sheet and so many seats under other knobs, and
        that before one for any table; of two such the one with fewer knobs. Raises :class:`AgentError` where there is none,
        or no such player, :class:`CheckpointError` where the file is not the one that its card is about.
        """
        own = name.removeprefix(PREFIX)
        if own not in self.names():
            raise AgentError(choose_one("player in the box", name, [PREFIX + known for known in self.names()]))
        players = list(self.players(own))
        fitting = [(rank, player) for player in players if (rank := _rank(player, setup)) is not None]
        if not fitting:
            where = "; ".join(player.plays_at for player in players)
            asked = f"{setup.game.title} ({setup.preset}) with {setup.players} seats"
            raise AgentError(f"{name} does not play {asked}. It plays: {where}.")
        _, found = min(fitting, key=lambda ranked: (ranked[0], len(ranked[1].card.knobs)))
        if not found.path.is_file() or digest(found.path) != found.card.sha256:
            raise CheckpointError(f"{str(found.path)!r} is not the file that its card is about: it was changed, or cut short.")
        return found


def _rank(player: Player, setup: Setup) -> int | None:
    """How well a player fits, 0 best; None where it cannot play."""
    card = player.card
    if card.game != setup.game.name:
        return None
    if card.anywhere:
        return 2
    if card.preset != setup.preset or card.players != setup.players:
        return None
    return 0 if player.setup().rules == setup.rules else 1


def shelf() -> Shelf:
    """The players that come with the package."""
    return Shelf()
