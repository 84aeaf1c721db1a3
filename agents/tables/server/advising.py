"""Advice at a table: what each legal move is worth to the seat at turn, from what that seat may know alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup

from ...base.seeds import Stream, generator
from ...study.advice.adviser import Advice
from ...study.advice.decisions import seen_by_seat_at_turn
from ...study.advice.loaded import Advisers
from ...study.advice.playouts import advice_hooks_of
from ...study.advice.reasons import why
from ...study.advice.to_text import basis, behind_text, mark, value_text

ERROR = 0.1
"""A search ends when the intervals of the best move's value and lead are as narrow, in the game's unit."""


def advice_steps(advisers: Advisers, setup: Setup, tables: NDArray[Any], number: int, language: str) -> Iterator[dict[str, Any]]:
    """Yields messages with advice on ``tables``, an array of one, each sharper than the last; ``number`` is that of its last ply.

    The random numbers depend on ``number`` alone, not on the seed of the table, from which its hidden cards follow.
    """
    rows = seen_by_seat_at_turn(setup, tables)
    model, adviser = advisers.get(setup)
    last: dict[str, Any] | None = None
    for advice in adviser.sharpen(rows, generator(0, Stream.ADVICE, number), error=ERROR):
        if last is not None:
            yield last
        last = _message(setup, rows[0], advice, number, model, language)
    assert last is not None
    yield {**last, "done": True}


def _message(setup: Setup, table: Any, advice: Advice, number: int, model: str, language: str) -> dict[str, Any]:
    hooks = advice_hooks_of(setup.game)
    moves = [
        {
            "action": action,
            "name": hooks.named(table, action, language),
            "mark": mark(advice, 0, action, language),
            "value": value_text(advice, 0, action, language),
            "behind": behind_text(advice, 0, action, language),
            "reason": None if action == advice.best[0] else why(setup, table, advice, 0, action, language),
        }
        for action in advice.ranked(0)
    ]
    return {
        "type": "advice",
        "number": number,
        "unit": hooks.UNITS[language],
        "moves": moves,
        "basis": basis(setup, advice, 0, model, language),
        "done": False,
    }
