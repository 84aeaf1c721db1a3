"""A match that a person has left, as a JSON file from which it goes on."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, NainJauneError, as_sentence
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_keys, check_seed, read_json

from ...base.options import has_type
from ...measure.distributed.units import setup_from

FORMAT = "nainjaune-left-match"
VERSION = 1


@dataclass(frozen=True)
class SavedMatch:
    """The arguments of the table and the session, and all plies so far, which replay repeats."""

    setup: Setup
    seat: int
    """The person's."""
    agents: list[str]
    """Names of the agents in the other seats, in seat order."""
    name: str
    """The person's, in records."""
    seed: int
    rounds: int | None
    """The number of single rounds; None: a match."""
    every_ply: bool
    records: str | None
    """The file to which records are appended."""
    plies: list[list[int]]
    """The actions of each round, the last one unfinished."""


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
    payload = {"format": FORMAT, "version": VERSION, **vars(match), "setup": match.setup.to_dict()}
    write_text(path, json.dumps(payload) + "\n", mode=0o600)


def load_match(path: Path) -> SavedMatch:
    """Returns the match at ``path``; raises :class:`ConfigError` if there is none, or the file is none or was damaged."""
    payload = read_json(path, "match that was left", ConfigError)
    hints = get_type_hints(SavedMatch)
    if (
        not isinstance(payload, dict)
        or payload.keys() != {"format", "version", *hints}
        or (payload["format"], payload["version"]) != (FORMAT, VERSION)
    ):
        raise ConfigError(f"{str(path)!r} is not a match that was left, of the format {FORMAT} {VERSION}.")
    values = {name: payload[name] for name in hints if name != "setup"}
    if not all(has_type(value, hints[name]) for name, value in values.items()) or not values["plies"]:
        raise ConfigError(f"{str(path)!r} is a damaged match: a value has the wrong type.")
    try:
        setup = setup_from(check_keys("'setup'", payload["setup"], ("game", "preset", "players", "rules")))
        check_seed(values["seed"])
    except (TypeError, NainJauneError) as error:
        raise ConfigError(f"{str(path)!r} is a damaged match: {as_sentence(error)}") from None
    if values["rounds"] is not None and values["rounds"] < 1:
        raise ConfigError(f"{str(path)!r} is a damaged match: it has {values['rounds']} rounds, and one is the least.")
    if len(values["agents"]) != setup.players - 1:
        raise ConfigError(
            f"{str(path)!r} is a damaged match: {setup.players - 1} agents play, and it names {len(values['agents'])}."
        )
    return SavedMatch(setup, **values)
