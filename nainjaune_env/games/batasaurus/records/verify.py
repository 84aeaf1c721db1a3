"""Verification of a record by replay: the first error, in the order of the record, is raised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nainjaune_env.core.errors import DealError, RecordError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_equal, check_keys, check_list
from nainjaune_env.games.batasaurus.records.replay import Replay, final
from nainjaune_env.games.batasaurus.records.setup_table import setup_table
from nainjaune_env.games.batasaurus.rules import rules_of

BODY: tuple[str, ...] = ("layouts", "leader", "moves", "piles", "winners")
"""This game's keys of a record, in order."""
WHERE = "The record"


def verify(setup: Setup, body: Mapping[str, Any]) -> int:
    """Replay ``body`` (the keys ``BODY`` of a record); returns the number of rounds, which is 1.

    Raises :class:`RecordError` with the move at fault and what was expected.
    """
    check_keys(WHERE, body, BODY)
    replay = open_record(setup, body)
    replay.memorise()
    moves = check_list(WHERE, "moves", body["moves"], list, items=False)
    for number, move in enumerate(moves, 1):
        if replay.round_over:
            raise RecordError(f"Move {number}: expected no more moves, for the game is over; the record has {quoted(move)}.")
        slots = replay.legal
        if not (_is_move(move) and move[0] == replay.seat and move[1] in slots):
            raise RecordError(_why_refused(f"Move {number}", replay, slots, move))
        replay.step(move[1])
    if not replay.round_over:
        expected = f"by seat {replay.seat}, from one of the slots {replay.legal}"
        raise RecordError(f"{WHERE}: expected a move {len(moves) + 1} {expected}, and the moves end.")
    for key, value in final(replay).items():
        check_equal("The end", key, body[key], value)
    return 1


def open_record(setup: Setup, body: Mapping[str, Any]) -> Replay:
    """Returns a replay at the opening table of ``body``; raises :class:`RecordError` where ``body`` describes no such table."""
    rows = check_list(WHERE, "layouts", body["layouts"], list, setup.players)
    layouts = [check_list(WHERE, f"layouts[{seat}]", row, int, rules_of(setup).dinosaurs) for seat, row in enumerate(rows)]
    leader = body["leader"]
    if type(leader) is not int:
        raise RecordError(f"{WHERE}: expected 'leader' to be a seat from 0 to {setup.players - 1}, not {quoted(leader)}.")
    try:
        return Replay(setup, setup_table(setup, layouts, leader=leader))
    except DealError as error:
        raise RecordError(f"{WHERE}: {error}") from None


def replay_record(setup: Setup, body: Mapping[str, Any]) -> Replay:
    """Returns a replay at the end of a verified record."""
    replay = open_record(setup, body)
    replay.memorise()
    for _, slot in body["moves"]:
        replay.step(slot)
    return replay


def check_part(part: int | None) -> None:
    """Raises :class:`RecordError` unless ``part`` is None or 1: a game is one round."""
    if part not in (None, 1):
        raise RecordError(f"The record has one round, and no round {quoted(part)}.")


def _is_move(move: object) -> bool:
    return isinstance(move, list) and len(move) == 2 and all(type(number) is int for number in move)


def _why_refused(where: str, replay: Replay, slots: list[int], move: Any) -> str:
    seat = replay.seat
    expected = f"expected [{seat}, one of {slots}], and the move is {quoted(move)}"
    if not _is_move(move):
        return f"{where}: {expected}."
    if move[0] != seat:
        return f"{where}: it is seat {seat}'s turn; {expected}."
    if not 0 <= move[1] < replay.rules.dinosaurs:
        return f"{where}: there are slots 0 to {replay.rules.dinosaurs - 1}; {expected}."
    return f"{where}: slot {move[1]} of seat {seat} is empty; {expected}."
