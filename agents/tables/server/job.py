"""Work on a record that takes seconds, done in a process of its own: `python -m nainjaune_agents.tables.server.job`.

A request is a JSON object on standard input; the result is bytes on standard output. The exit status is 2, with a sentence on
standard error, where the record is not right.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from nainjaune_env.core.errors import NainJauneError, RecordError
from nainjaune_env.records.record import Record, parse_record, setup_of, shown_names, verify_record
from nainjaune_env.render.replay_page import replay_data

from .page_files import DRAWN
from .protocol import error_text

REFUSED = 2
"""The exit status for a record that is not right, or a film that cannot be made."""
SCALE = 0.5
"""Of the pictures of a film."""


def work(request: dict[str, Any]) -> bytes:
    """Returns the result of a request: with ``kind`` "film" a GIF of one round, with "replay" what ``replay_data`` returns.

    A replay has scenes if the page draws the game, and else pictures.
    Raises :class:`RecordError` for a record that is not right.
    """
    record, language = parse_record(request["record"]), request["language"]
    if request["kind"] == "replay":
        return replay_data(record, language, scenes=setup_of(record).game.name in DRAWN)
    return _film(record, language, request["round"], request["view"])


def _film(record: Record, language: str, part: int, view: int) -> bytes:
    """Returns the film of the round ``part``, from 1, with all cards (``view`` 0) or as the seat ``view - 1`` sees it."""
    from nainjaune_env.render.film import write_gif

    verify_record(record)
    setup = setup_of(record)
    if view > setup.players:
        raise RecordError(f"The viewpoint is a number from 0 to {setup.players}, not {view}.")
    assert setup.game.pictures is not None  # only games with pictures have replays
    seat, names = (view - 1 if view else None), shown_names(record)
    pictures = list(setup.game.pictures.film(setup, record, seat, part=part, language=language, names=names))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.gif"
        write_gif(pictures, path, scale=SCALE)
        return path.read_bytes()


def main() -> int:
    """Answers the request on standard input; returns the exit status."""
    if hasattr(os, "nice"):
        os.nice(10)  # tables that are played go first
    try:
        result = work(json.loads(sys.stdin.buffer.read()))
    except NainJauneError as error:
        sys.stderr.write(error_text(error))
        return REFUSED
    sys.stdout.buffer.write(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
