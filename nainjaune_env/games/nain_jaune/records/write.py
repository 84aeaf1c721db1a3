"""Matches of this game written as records.

This module, with what it imports, is the game's ``nainjaune_env.core.spec.Transcriber``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.replay import ActionLog
from nainjaune_env.games.nain_jaune.records.narrate import show
from nainjaune_env.games.nain_jaune.records.replay import Replay, final
from nainjaune_env.games.nain_jaune.records.verify import BODY, verify

__all__ = ["BODY", "show", "transcribe", "verify"]


def transcribe(setup: Setup, table: Any, actions: Sequence[int]) -> dict[str, Any]:
    """Returns the body of the record of the match that begins with ``table``, just dealt, and goes on with ``actions``.

    ``actions`` are one for every ply. Raises :class:`RecordError` for a table that has not just been dealt, and for actions that
    are too few, too many or illegal.
    """
    replay = Replay(setup, table)
    pots = _pots_before_antes(replay)
    log = ActionLog(actions)
    rounds: list[dict[str, Any]] = []
    while True:
        rounds.append(_write_round(replay, pots, log, len(rounds) + 1))
        if replay.match_over:
            break
        pots = replay.pots
        replay.deal()
    log.check_spent()
    return {"rounds": rounds, **final(replay)}


def _write_round(replay: Replay, pots: list[int], log: ActionLog, number: int) -> dict[str, Any]:
    begun = {
        "dealer": int(replay.table.dealer),
        "stacks": [int(chips) for chips in replay.table.before[: replay.players]],
        "pots": pots,
        "hands": [list(hand) for hand in replay.hands],
        "talon": replay.talon,
    }
    plies = replay.plies(log, complete=True, where=f"Round {number}, move {{}}".format)
    legal = [replay.legal_moves(legal_bits) for _, legal_bits, _ in plies]
    return {**begun, "moves": [list(move) for move in replay.moves], "legal": legal, **replay.outcome}


def _pots_before_antes(replay: Replay) -> list[int]:
    """Returns the pots with which the match began, calculated from a table whose first round has just been dealt."""
    table, n = replay.table, replay.players
    played = sum(int(cards).bit_count() for cards in table.played)
    if table.rounds != 1 or played or replay.round_over:
        raise RecordError(
            f"A record begins with a match's first deal; this table is in round {int(table.rounds)}, {played} cards played."
        )
    expected = [int(replay.rules.starting_stack)] * n
    begun = [int(chips) for chips in table.before[:n]]
    if begun != expected:
        raise RecordError(f"A record's first round starts with the rules' stacks, {expected}; this table started with {begun}.")
    antes = [n * ante * replay.rules.stake for ante in replay.rules.antes]
    if sum(begun) - sum(replay.stacks) != sum(antes):
        raise RecordError("A pot was too full to take every ante (N4.7), so what it held before cannot be told.")
    return [chips - ante for chips, ante in zip(replay.pots, antes, strict=True)]
