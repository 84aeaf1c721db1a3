"""What one viewer of a table is sent: the picture, the words, the legal moves. Nothing else of a table leaves the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nainjaune_env.engine.compiled import loops_of, numbers_of

from .live_table import LiveTable


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
        "preset": settings.setup.preset,
        "names": list(speaker.names),
        "persons": settings.persons,
        "seat": seat,
        "advice": settings.advice and seat is not None,
        "turn": None if table.round_over else table.at_turn,
        "picture": picture(live, seat, language, you),
        "begun": listener.begun,
        "events": live.events(seat, language, you),
        "moves": [[action, speaker.echo(action)] for action in table.legal] if mine else [],
        "cards": _cards(live, seat) if mine and seat is not None else [],
        "settled": speaker.settled() if table.round_over else [],
        "payoffs": _amounts(speaker, table.payoff) if table.round_over else [],
        "totals": _amounts(speaker, live.totals),
        "standings": _places(live.totals) if live.over else [],
        "rounds": live.rounds,
        "round_over": table.round_over,
        "over": live.over,
        "records": live.num_records if live.over else 0,
    }


def _cards(live: LiveTable, seat: int) -> list[list[float]]:
    """Returns the cards of the picture that ``seat`` may play, each as the values of an ``OwnCard``."""
    setup, table = live.settings.setup, live.table
    assert setup.game.pictures is not None
    cards = setup.game.pictures.own_cards(setup, _redacted(live, seat)[0], seat, **table.history)
    return [[round(value, 1) for value in card] for card in cards if card.action in table.legal]


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


def picture(live: LiveTable, seat: int | None, language: str, you: int | None) -> str | None:
    """Returns the table as the game's painter draws it for ``seat``, from what the kernel's ``redact`` leaves.

    When the round is over everybody sees all cards. Until then a spectator sees all cards if only agents play, and else none.
    """
    setup, table = live.settings.setup, live.table
    viewer = None if table.round_over else seat
    if viewer is None and not table.round_over and live.settings.persons:
        return None
    rows = table.position if viewer is None else _redacted(live, viewer)
    assert setup.game.pictures is not None
    names = live.settings.names
    return setup.game.pictures.svg(setup, rows[0], viewer, language=language, names=names, you=you, **table.history)


def rules_text(live: LiveTable, seat: int | None, language: str) -> str:
    """Returns a summary of the table's rules."""
    return live.listener(0 if seat is None else seat, language, seat).speaker.rules()
