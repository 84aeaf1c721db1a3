"""Games written as records, and records verified by replay: the game's ``nainjaune_env.core.spec.Transcriber``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nainjaune_env.core.errors import DealError, RecordError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_equal, check_keys, check_list
from nainjaune_env.engine.replay import ActionLog
from nainjaune_env.games.batasaurus.actions import MEMORISE
from nainjaune_env.games.batasaurus.records.narrate import show
from nainjaune_env.games.batasaurus.records.replay import RECORD, Replay, open_record, setup_table
from nainjaune_env.games.batasaurus.rules import rules_of
from nainjaune_env.games.batasaurus.state import TABLE

__all__ = ["BODY", "show", "transcribe", "verify"]

BODY: tuple[str, ...] = ("layouts", "leader", "moves", "piles", "winners")
"""This game's keys of a record, in order."""


def transcribe(setup: Setup, table: Any, actions: Sequence[int]) -> dict[str, Any]:
    """Returns the body of the record of the game that begins with ``table``, before any card is played, and its ``actions``.

    ``actions`` are one for every ply, the memorising steps (B4.2) too, which are no moves of a record. Raises
    :class:`RecordError` where the table is not an opening, and where the actions are too few, too many or illegal.
    """
    layouts, leader = table.layout[: setup.players, : rules_of(setup).dinosaurs].tolist(), int(table.first)
    _check_opening(setup, table, layouts, leader)
    replay = Replay(setup, table)
    moves: list[list[int]] = []
    log = ActionLog(actions)
    for ply in replay.plies(log, complete=True, where=lambda _: f"Move {len(moves) + 1}"):
        if ply.action != MEMORISE:
            moves.append([ply.seat, ply.action])
    log.check_spent()
    return {"layouts": layouts, "leader": leader, "moves": moves, **replay.outcome}


def _check_opening(setup: Setup, table: Any, layouts: list[list[int]], leader: int) -> None:
    """Raises :class:`RecordError` unless ``table``, its generator aside, is as these layouts and this leader set it up."""
    try:
        opening = setup_table(setup, layouts, leader=leader)
    except DealError as error:
        raise RecordError(f"A record begins with a game's opening table. {error}") from None
    if not all(np.array_equal(opening[name], table[name]) for name in TABLE.names or () if name != "rng"):
        raise RecordError(
            f"A record begins with a match's first deal; this table is in trick {int(table.tricks)}, "
            f"{int(table.pile.sum() + table.at_stake)} cards played, seat {int(table.seat)} to act."
        )


def verify(setup: Setup, body: Mapping[str, Any]) -> int:
    """Replays ``body`` (the keys ``BODY`` of a record); returns the number of rounds, which is 1.

    Raises :class:`RecordError` with the move at fault and what was expected.
    """
    check_keys(RECORD, body, BODY)
    replay = open_record(setup, body)
    replay.memorise()
    moves = check_list(RECORD, "moves", body["moves"], list, items=False)
    for number, move in enumerate(moves, 1):
        if replay.round_over:
            raise RecordError(f"Move {number}: expected no more moves, for the game is over; the record has {quoted(move)}.")
        if not (_is_move(move) and move[0] == replay.seat and move[1] in replay.legal):
            raise RecordError(f"Move {number}: {_why_refused(replay, move)}.")
        replay.step(move[1])
    if not replay.round_over:
        expected = f"by seat {replay.seat}, from one of the slots {replay.legal}"
        raise RecordError(f"{RECORD}: expected a move {len(moves) + 1} {expected}, and the moves end.")
    for key, value in replay.outcome.items():
        check_equal("The end", key, body[key], value)
    return 1


def _is_move(move: object) -> bool:
    return isinstance(move, list) and len(move) == 2 and all(type(number) is int for number in move)


def _why_refused(replay: Replay, move: Any) -> str:
    seat = replay.seat
    expected = f"expected [{seat}, one of {replay.legal}], and the move is {quoted(move)}"
    if not _is_move(move):
        return expected
    if move[0] != seat:
        return f"it is seat {seat}'s turn; {expected}"
    if not 0 <= move[1] < replay.rules.dinosaurs:
        return f"there are slots 0 to {replay.rules.dinosaurs - 1}; {expected}"
    return f"slot {move[1]} of seat {seat} is empty; {expected}"
