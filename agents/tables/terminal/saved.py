"""A match that a person has left, as a JSON file from which it goes on."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, structs

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import AgentError, ConfigError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_seed, identical, read_json

from ...base.settings import NonNegativeInt, PositiveInt
from ...measure.distributed.units import convert_with_setup

FORMAT = "nainjaune-left-match"
VERSION = 1


class SavedMatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of the table and the session, and all plies so far, which replay repeats."""

    setup: Setup
    seat: NonNegativeInt
    """The person's."""
    agents: list[str]
    """Names of the agents in the other seats, in seat order."""
    name: str
    """The person's, in records."""
    seed: NonNegativeInt
    rounds: PositiveInt | None
    """The number of single rounds; None: a match."""
    every_ply: bool
    records: str | None
    """The file to which records are appended."""
    plies: Annotated[list[list[NonNegativeInt]], Meta(min_length=1)]
    """The actions of each round, the last one unfinished; a match that begins has none."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if len(self.agents) != self.setup.players - 1:
            raise AgentError(f"{self.setup.players - 1} agents play, not {len(self.agents)}.")


def saved_path() -> Path:
    """Returns the file of the person's last match that was left, in their folder for states of programs (``XDG_STATE_HOME``)."""
    folder = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(folder) / "nainjaune-env" / "play.json"


def make_private_folder(folder: Path) -> None:
    """Makes ``folder`` for its owner alone, if there is none; raises :class:`OSError` if it cannot be written to."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def save_match(path: Path, match: SavedMatch) -> None:
    """Writes ``match`` to ``path`` atomically; an earlier one is replaced.

    Only the person may read the file, which holds the seed and so every hand, and a folder that is made for it.
    """
    make_private_folder(path.parent)
    payload = {"format": FORMAT, "version": VERSION, **structs.asdict(match), "setup": match.setup.to_dict()}
    write_text(path, json.dumps(payload) + "\n", mode=0o600)


def load_match(path: Path) -> SavedMatch:
    """Returns the match at ``path``; raises :class:`ConfigError` if there is none, or the file is none or was damaged."""
    payload = read_json(path, "match that was left", ConfigError)
    head = [payload.pop(key, None) for key in ("format", "version")] if isinstance(payload, dict) else []
    if not identical(head, [FORMAT, VERSION]):
        raise ConfigError(f"{str(path)!r} is not a match that was left, of the format {FORMAT} {VERSION}.")
    return convert_with_setup(SavedMatch, payload, f"{str(path)!r} is a damaged match", ConfigError)
