"""Records verified by replay: the first entry that does not fit is refused, in the order in which it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nainjaune_env.core.cards import DECK
from nainjaune_env.core.errors import DealError, RecordError, quoted
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import check_equal, check_keys, check_list
from nainjaune_env.games.nain_jaune.records.replay import Replay, final, open_recorded
from nainjaune_env.games.nain_jaune.rules import rules_of
from nainjaune_env.games.nain_jaune.state import POTS

BODY: tuple[str, ...] = ("rounds", "stacks", "pots", "winners")
"""This game's keys of a record, in order."""
ROUND = ("dealer", "stacks", "pots", "hands", "talon", "moves")
OUTCOME = ("winner", "grand_opera", "defaults", "stacks_after", "pots_after")


def verify(setup: Setup, body: Mapping[str, Any]) -> int:
    """Replays ``body`` (the keys ``BODY`` of a record) on real cards; returns the number of rounds.

    Any seat may deal first and the first pots may hold chips; all else follows from hands and moves. Raises
    :class:`RecordError` with the round, the move, and what was expected.
    """
    check_keys("The record", body, BODY)
    rounds = check_list("The record", "rounds", body["rounds"], dict)
    replay: Replay | None = None
    for number, given in enumerate(rounds, 1):
        if replay is not None and replay.match_over:
            raise RecordError(f"Round {number}: expected no more rounds, for the match was over after round {number - 1}.")
        replay = _verify_round(setup, replay, given, number)
    if replay is None or not replay.match_over:
        raise RecordError(f"The record: expected a round {len(rounds) + 1}, for the match is not over.")
    for key, expected in final(replay).items():
        check_equal("The end", key, body[key], expected)
    return len(rounds)


def _verify_round(setup: Setup, before: Replay | None, given: object, number: int) -> Replay:
    """Replays round ``number`` after the settled round ``before`` (None: it is the first); returns it settled."""
    where = f"Round {number}"
    written = check_keys(where, given, ROUND + OUTCOME, optional=("legal",))
    _check_start(setup, before, written, where)
    for seat, hand in enumerate(check_list(where, "hands", written["hands"], list)):
        check_list(where, f"hands[{seat}]", hand, str)
    try:
        replay = open_recorded(setup, written, number)
    except DealError as error:
        raise RecordError(f"{where}: {error}") from None
    talon = check_list(where, "talon", written["talon"], str)
    if sorted(talon) != sorted(replay.talon):
        left = replay.talon
        raise RecordError(f"{where}: expected the talon to be the {len(left)} cards left, {left}, not {quoted(talon)}.")
    _verify_moves(replay, written, where)
    for key, value in replay.outcome.items():
        check_equal(where, key, written[key], value)
    return replay


def _check_start(setup: Setup, before: Replay | None, written: Mapping[str, Any], where: str) -> None:
    """Checks dealer, stacks and pots: as a new match begins in the first round, then carried over (N4.4)."""
    n, rules = setup.players, rules_of(setup)
    if before is None:
        if type(written["dealer"]) is not int:
            raise RecordError(f"{where}: expected 'dealer' to be a seat from 0 to {n - 1}, not {quoted(written['dealer'])}.")
        check_equal(where, "stacks", written["stacks"], [rules.starting_stack] * n)
        check_list(where, "pots", written["pots"], int, POTS)
    else:
        check_equal(where, "dealer", written["dealer"], (int(before.table.dealer) + 1) % n)
        check_equal(where, "stacks", written["stacks"], before.stacks)
        check_equal(where, "pots", written["pots"], before.pots)


def _verify_moves(replay: Replay, written: Mapping[str, Any], where: str) -> None:
    moves = check_list(where, "moves", written["moves"], list, items=False)
    choices = check_list(where, "legal", written["legal"], list, len(moves), items=False) if "legal" in written else None
    for k, move in enumerate(moves):
        at = f"{where}, move {k + 1}"
        if replay.round_over:
            gone = f"expected no more moves, for seat {replay.seat} has gone out"
            raise RecordError(f"{at}: {gone}; the record has {quoted(move)}.")
        legal = replay.legal_moves()
        if not (_is_move(move) and move[0] == replay.seat and move[1] in legal):
            raise RecordError(f"{at}: {_why_refused(replay, legal, move)}.")
        # the optional `legal` of a move: exactly the legal real moves, in any order, each once
        if choices is not None and sorted(check_list(at, "legal", choices[k], str)) != sorted(legal):
            raise RecordError(f"{at}: expected 'legal' to hold exactly {legal}, and it holds {quoted(choices[k])}.")
        replay.play(move[1])
    if not replay.round_over:
        expected = f"expected a move {len(moves) + 1} by seat {replay.seat}, one of {replay.legal_moves()}"
        raise RecordError(f"{where}: {expected}, and the moves end.")


def _is_move(move: object) -> bool:
    return isinstance(move, list) and len(move) == 2 and type(move[0]) is int and type(move[1]) is str


def _why_refused(replay: Replay, legal: list[str], move: Any) -> str:
    seat = replay.seat
    expected = f"expected [{seat}, one of {legal}], and the move is {quoted(move)}"
    if not _is_move(move):
        return expected
    if move[0] != seat:
        return f"it is seat {seat}'s turn; {expected}"
    card = move[1][:2]
    if card in DECK and card not in replay.hands[seat]:
        return f"seat {seat} does not hold {card}; {expected}"
    return f"not legal; {expected}"
