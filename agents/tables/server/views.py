"""What one viewer of a table is sent: the scene, the words, the legal moves. Nothing else of a table leaves the server."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.printable import printable
from nainjaune_env.engine.compiled import loops_of, numbers_of

from ...players.foreign import shown_name
from .live_table import LiveTable
from .page_files import DRAWN
from .players import Said


def view(live: LiveTable, seat: int | None, language: str, you: int | None) -> dict[str, Any]:
    """Returns what ``seat`` may see of a table, as JSON values; None is a spectator. ``you`` is the seat of the reader."""
    settings, table = live.settings, live.table
    listener = live.listener(0 if seat is None else seat, language, you)
    mine = seat is not None and live.persons_turn and table.at_turn == seat
    speaker = listener.speaker
    return {
        "type": "view",
        "number": live.number,
        "game": settings.setup.game.title,
        "drawing": settings.setup.game.name,
        "preset": settings.setup.preset,
        "names": list(speaker.names),
        "persons": settings.persons,
        "agents": [None if agent is None else shown_name(agent) for agent in settings.agents],
        "said": [_said(live.said.get(other)) for other in range(settings.setup.players)],
        "seat": seat,
        "advice": settings.advice and seat is not None,
        "turn": None if table.round_over else table.at_turn,
        **_shown(live, seat, language, you),
        "begun": listener.begun,
        "events": live.events(seat, language, you),
        "undo": seat is not None and live.number_to_undo is not None,
        "absent": sorted(live.absent),
        "moves": [[action, speaker.echo(action)] for action in table.legal] if mine else [],
        "settled": speaker.settled() if table.round_over else [],
        "payoffs": _amounts(speaker, table.payoff) if table.round_over else [],
        "totals": _amounts(speaker, live.totals),
        "standings": _places(live.totals) if live.over else [],
        "rounds": live.rounds,
        "round_over": table.round_over,
        "over": live.over,
        "records": live.num_records if live.over else 0,
    }


def _shown(live: LiveTable, seat: int | None, language: str, you: int | None) -> dict[str, Any]:
    """Returns the table as ``seat`` sees it, from what the kernel's ``redact`` leaves: the scene, and which cards may be played.

    When the round is over everybody sees all cards. Until then a spectator sees all cards if only agents play, and else what
    everybody sees. A game that the page does not draw has a picture too.
    """
    setup, table, names = live.settings.setup, live.table, live.settings.names
    pictures = setup.game.pictures
    assert pictures is not None
    viewer = None if table.round_over else seat
    is_public = viewer is None and not table.round_over and bool(live.settings.persons)
    rows = table.position if viewer is None and not is_public else _redacted(live, viewer or 0)
    seen = pictures.seen_by(setup, rows[0], 0 if is_public else viewer, **table.history)
    mine = viewer is not None and live.persons_turn and table.at_turn == viewer
    picture = None
    if setup.game.name not in DRAWN and not is_public:
        picture = pictures.svg(setup, rows[0], viewer, language=language, names=names, you=you, **table.history)
    return {
        "scene": dataclasses.asdict(pictures.public(seen) if is_public else seen),
        "playable": pictures.playable(seen, table.legal) if mine else [],
        "picture": picture,
    }


def _said(said: Said | None) -> dict[str, Any] | None:
    return None if said is None else {**said._asdict(), "comment": None if said.comment is None else printable(said.comment)}


def _redacted(live: LiveTable, seat: int) -> np.ndarray[Any, Any]:
    """Returns the table, an array of one, as the kernel's ``redact`` leaves it for ``seat``."""
    rows, setup = live.table.position, live.settings.setup
    loops_of(setup).redact_tables(rows, numbers_of(setup), np.array([seat]))
    return rows


def _amounts(speaker: Any, payoffs: Sequence[int] | np.ndarray[Any, Any]) -> list[str]:
    return [speaker.amount(int(payoff)).replace("-", "−") for payoff in payoffs]


def _places(totals: np.ndarray[Any, Any]) -> list[int]:
    """Returns each seat's place, from 1; equal totals share one."""
    return [1 + int((totals > total).sum()) for total in totals]


def rules_text(live: LiveTable, seat: int | None, language: str) -> str:
    """Returns a summary of the table's rules."""
    return live.listener(0 if seat is None else seat, language, seat).speaker.rules()
