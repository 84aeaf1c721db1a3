"""Matches of this game as records: written here, checked in ``verify``, told in ``show``.

The module as a whole is the game's ``nainjaune_env.core.spec.Transcriber``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.core.errors import RecordError
from nainjaune_env.core.spec import Setup
from nainjaune_env.games.nain_jaune.records.replay import Replay, final
from nainjaune_env.games.nain_jaune.records.setup_table import ACTIONS
from nainjaune_env.games.nain_jaune.records.show import show
from nainjaune_env.games.nain_jaune.records.verify import BODY, verify

__all__ = ["BODY", "show", "transcribe", "verify"]


def transcribe(
    setup: Setup, table: Any, actions: list[int], rng: np.random.Generator, *, every_ply: bool = False
) -> dict[str, Any]:
    """The match that begins with ``table`` (fresh from its first deal) and goes on with ``actions``.

    The table's own generator deals the later rounds as it did in play. ``actions`` are the decisions, without the plies
    that nobody was asked for, or with ``every_ply`` all plies. ``rng`` draws which of several plain cards of a rank was
    shown (see :class:`~.real_cards.RealCards`). Raises :class:`RecordError` where the table is in the middle of something,
    or the actions are too few, too many, or not legal.
    """
    replay = Replay(setup, table)
    pots = _pots_before_antes(replay)
    log = _Log(actions, every_ply)
    rounds: list[dict[str, Any]] = []
    while True:
        rounds.append(_write_round(replay, pots, log, rng, len(rounds) + 1))
        if replay.match_over:
            break
        pots = replay.pots
        replay.deal()
    log.check_spent()
    return {"rounds": rounds, **final(replay)}


class _Log:
    """The actions taken, handed out one by one."""

    def __init__(self, actions: list[int], every_ply: bool) -> None:
        self.actions = actions
        self.every_ply = every_ply
        self.used = 0

    def next(self, replay: Replay, legal: int, where: str) -> int:
        """The action taken where ``legal`` (a word) was allowed."""
        unasked = None if self.every_ply else replay.unasked(legal)
        if unasked is not None:
            return unasked
        if self.used == len(self.actions):
            raise RecordError(f"{where}: expected another action, and the log ends after {self.used}.")
        action = int(self.actions[self.used])
        if not 0 <= action < len(ACTIONS) or not legal >> action & 1:
            allowed = [number for number in range(len(ACTIONS)) if legal >> number & 1]
            raise RecordError(f"{where}: the log's action number {self.used + 1} is {action}; legal were {allowed}.")
        self.used += 1
        return action

    def check_spent(self) -> None:
        """Raises :class:`RecordError` where actions are left."""
        if self.used != len(self.actions):
            raise RecordError(f"The match was over after {self.used} actions, and the log holds {len(self.actions)}.")


def _write_round(replay: Replay, pots: list[int], log: _Log, rng: np.random.Generator, number: int) -> dict[str, Any]:
    moves: list[list[Any]] = []
    legal_moves: list[list[str]] = []
    written = {
        "dealer": int(replay.table.dealer),
        "stacks": [int(chips) for chips in replay.table.before[: replay.players]],
        "pots": pots,
        "hands": replay.cards.hands(),
        "talon": replay.cards.talon(),
        "moves": moves,
        "legal": legal_moves,
    }
    while not replay.round_over:
        seat, legal = replay.seat, replay.legal()
        action = log.next(replay, legal, f"Round {number}, move {len(moves) + 1}")
        legal_moves.append(replay.cards.moves(seat, legal))
        moves.append([seat, replay.cards.play(seat, action, rng)])
        replay.step(action)
    return {**written, **replay.outcome}


def _pots_before_antes(replay: Replay) -> list[int]:
    """The pots that the match began with, worked back from a table whose first round has just been dealt."""
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
