"""The registry of zoo players, which finds the file of a player for a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nainjaune_env.core.atomic_files import digest
from nainjaune_env.core.errors import AgentError, CheckpointError, quoted, unknown_name_message
from nainjaune_env.core.spec import Setup
from nainjaune_env.registry import get_game

from .model_card import ModelCard, load_card

PREFIX = "zoo:"
"""Prefix of the names of zoo players."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
FALLBACK = "-any"
"""End of the name of the player that plays where no file of the player with the name before it is known to play well."""
FOLDER = Path(__file__).resolve().parent


def check_player_name(name: str) -> None:
    """Raises :class:`AgentError` unless ``name``, without the prefix, can name a new player's folder."""
    if not _NAME.fullmatch(name):
        raise AgentError(
            f"A zoo player's name has at most 64 letters, digits, - and _, and starts with a letter or digit; not {quoted(name)}."
        )


def is_zoo_name(name: str) -> bool:
    """Returns whether ``name`` has the prefix of zoo players."""
    return name.startswith(PREFIX)


@dataclass(frozen=True)
class Player:
    """One file of a player, with its card."""

    name: str
    """With the prefix: ``zoo:strong``."""
    path: Path
    card: ModelCard

    @property
    def plays_at(self) -> str:
        """The tables it plays at, in words."""
        if not self.card.anywhere:
            return table_text(self.card.setup())
        return f"{get_game(self.card.game).title} at any table" + (", under any rules" if self.card.fallback else "")

    def check(self) -> None:
        """Raises :class:`CheckpointError` if the file is missing, or does not match the hash on its card."""
        if not self.path.is_file():
            raise CheckpointError(
                f"The network of {self.name} is not there: {str(self.path)!r}. Source distributions have no networks; "
                "`pip install --force-reinstall --only-binary :all: nainjaune-env` installs a wheel, which has them."
            )
        if digest(self.path) != self.card.sha256:
            raise CheckpointError(f"{str(self.path)!r} does not match the hash on its card: it was changed, or is incomplete.")


def table_text(setup: Setup) -> str:
    """Returns a game, its preset, the knobs that differ from it, and the seats, in words."""
    knobs = "".join(f", {knob} {value}" for knob, value in setup.knobs.items())
    return f"{setup.game.title} ({setup.preset}{knobs}) with {setup.players} seats"


class PlayerRegistry:
    """The players in a folder, ``<name>/<table>.safetensors`` with ``<table>.json``; the default is the package's own."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Returns the names of all players, without the prefix."""
        return sorted({path.parent.name for path in self.folder.glob("*/*.json")})

    def players(self, name: str | None = None) -> Iterator[Player]:
        """Yields the files of the player ``name`` (None: of all), ordered by file name."""
        for path in sorted(self.folder.glob(f"{name or '*'}/*.json")):
            yield Player(PREFIX + path.parent.name, path.with_suffix(".safetensors"), load_card(path))

    def find(self, name: str, setup: Setup, *, anywhere: bool = False, any_rules: bool = False) -> Player:
        """Returns the file of ``name`` (``zoo:strong``) for tables with ``setup``, with ``anywhere`` its file for all tables.

        Prefers a file trained under the same rules of a round, then one for another table whose card has the house rules, then
        one for any table (``ModelCard.serves``). With ``any_rules``, as for further training, files that are not known to play
        well there follow: of the same preset and number of seats, then for any table. Among equals it prefers the file with
        fewer knobs. Where none fits, the file of the fallback is returned (``zoo:strong-any``), if there is one that fits.
        Raises :class:`AgentError` if there is no such player or no file that fits, and :class:`CheckpointError` if the file is
        missing or does not match the hash on its card.
        """
        base_name = name.removeprefix(PREFIX)
        if base_name not in self.names():
            raise AgentError(unknown_name_message("zoo player", name, [PREFIX + known for known in self.names()]))
        players = [player for player in self.players(base_name) if player.card.anywhere or not anywhere]
        fitting = _fitting(players, setup, any_rules)
        if not fitting and not anywhere:
            fitting = _fitting(self.players(base_name + FALLBACK), setup, any_rules)
        if not fitting:
            where = "; ".join(player.plays_at for player in self.players(base_name))
            if any(player.card.house_rules for player in self.players(base_name)):
                where += f", under the house rules that `nainjaune zoo {base_name}` lists"
            table = f"{setup.game.title} at any table" if anywhere else table_text(setup)
            raise AgentError(f"{name} does not play {table}. It plays: {where}.")
        _, player = min(fitting, key=lambda ranked: (ranked[0], len(ranked[1].card.knobs)))
        player.check()
        return player


def _fitting(players: Iterable[Player], setup: Setup, any_rules: bool) -> list[tuple[int, Player]]:
    """Returns the ``players`` that play at tables with ``setup``, each with its :func:`_rank`."""
    return [(rank, player) for player in players if (rank := _rank(player, setup, any_rules)) is not None]


def _rank(player: Player, setup: Setup, any_rules: bool) -> int | None:
    """Returns how well a player fits, 0 best; None if it does not. ``any_rules``: also players not known to play well there."""
    card = player.card
    if card.serves(setup):
        return 2 if card.anywhere else 0 if card.setup().same_round(setup) else 1
    if not any_rules or card.game != setup.game.name:
        return None
    if card.anywhere:
        return 4
    return 3 if (card.preset, card.players) == (setup.preset, setup.players) else None


def player_registry() -> PlayerRegistry:
    """Returns the registry of the players that ship with the package."""
    return PlayerRegistry()
