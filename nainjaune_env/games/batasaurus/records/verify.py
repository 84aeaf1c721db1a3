"""Checking a record by playing it over: the first thing that does not fit is refused, in the order it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from nainjaune_env.core.errors import DealError, RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_equal, check_keys, check_list
from nainjaune_env.games.batasaurus.records.replay import Replay, final
from nainjaune_env.games.batasaurus.records.setup_table import setup_table
from nainjaune_env.games.batasaurus.rules import KernelRules

BODY: tuple[str, ...] = ("layouts", "leader", "moves", "piles", "winners")
"""This game's keys of a record, in order."""
WHERE = "The record"


def verify(setup: Setup, body: Mapping[str, Any]) -> int:
    """Replay ``body`` (the keys ``BODY`` of a record); gives the number of rounds, which is 1.

    Raises :class:`RecordError` naming the move, and what was expected.
    """
    check_keys(WHERE, body, BODY)
    replay = opening(setup, body)
    replay.memorise()
    moves = check_list(WHERE, "moves", body["moves"], list)
    for number, move in enumerate(moves, 1):
        if replay.over:
            raise RecordError(f"Move {number}: expected no more moves, for the game is over; the record has {move!r}.")
        slots = replay.slots()
        if not (_is_move(move) and move[0] == replay.seat and move[1] in slots):
            raise RecordError(_why_refused(f"Move {number}", replay, slots, move))
        replay.step(move[1])
    if not replay.over:
        expected = f"by seat {replay.seat}, from one of the slots {replay.slots()}"
        raise RecordError(f"{WHERE}: expected a move {len(moves) + 1} {expected}, and the moves end.")
    for key, value in final(replay).items():
        check_equal("The end", key, body[key], value)
    return 1


def opening(setup: Setup, body: Mapping[str, Any]) -> Replay:
    """The table that ``body`` begins with, to be played on; raises :class:`RecordError` where it is none."""
    dinosaurs = cast(KernelRules, setup.kernel_rules).dinosaurs
    rows = check_list(WHERE, "layouts", body["layouts"], list, setup.players)
    layouts = [check_list(WHERE, f"layouts[{seat}]", row, int, dinosaurs) for seat, row in enumerate(rows)]
    leader = body["leader"]
    if type(leader) is not int:
        raise RecordError(f"{WHERE}: expected 'leader' to be a seat from 0 to {setup.players - 1}, not {leader!r}.")
    try:
        return Replay(setup, setup_table(setup, layouts, leader=leader))
    except DealError as error:
        raise RecordError(f"{WHERE}: {error}") from None


def _is_move(move: list[Any]) -> bool:
    return len(move) == 2 and all(type(number) is int for number in move)


def _why_refused(where: str, replay: Replay, slots: list[int], move: list[Any]) -> str:
    seat = replay.seat
    expected = f"expected [{seat}, one of {slots}], and the move is {move!r}"
    if not _is_move(move):
        return f"{where}: {expected}."
    if move[0] != seat:
        return f"{where}: it is seat {seat}'s turn; {expected}."
    if not 0 <= move[1] < replay.rules.dinosaurs:
        return f"{where}: there are slots 0 to {replay.rules.dinosaurs - 1}; {expected}."
    return f"{where}: slot {move[1]} of seat {seat} is empty; {expected}."
