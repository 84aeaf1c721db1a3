"""Advice at a table: what each legal move is worth to the seat at turn, from what that seat may know alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray

from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from ..advice.adviser import Advice, Adviser
from ..advice.decisions import seen_by_seat_at_turn
from ..advice.models import in_seats, is_advised, players, usual_model
from ..advice.playouts import advice_hooks_of
from ..advice.reasons import why
from ..advice.to_text import basis, behind_text, mark, value_text
from ..loading import use_threads
from ..seeds import Stream, generator
from .searches import QUICK_THREADS

ERROR = 0.1
"""A search ends when the intervals of the best move's value and lead are as narrow, in the game's unit."""
MAX_LOADED = 8
"""Setups whose advisers are kept loaded."""
THREADS = QUICK_THREADS + 1
"""Threads that may use an adviser at once: for quick searches, and one for reviews."""


class Loaded(NamedTuple):
    """An adviser that searches share."""

    model: str
    """The agent that plays rounds to their end."""
    adviser: Adviser


class Advisers:
    """The advisers of a server, each loaded once for all tables with the same rules. Threads may share an object."""

    def __init__(self) -> None:
        self.loaded: OrderedDict[str, Loaded] = OrderedDict()
        """By setup, those used last at the end."""
        self._possible: dict[str, bool] = {}
        self._lock = threading.Lock()

    def possible(self, setup: Setup) -> bool:
        """Returns whether there is advice at tables with ``setup``."""
        key = repr(setup.to_dict())
        if key not in self._possible:
            self._possible[key] = is_advised(setup)
        return self._possible[key]

    def load(self, setup: Setup) -> None:
        """Loads the adviser for tables with ``setup``, if there is advice at them."""
        if self.possible(setup):
            self.get(setup)

    def get(self, setup: Setup) -> Loaded:
        """Returns the adviser for tables with ``setup``; raises as :class:`Adviser` does."""
        key = repr(setup.to_dict())
        with self._lock:
            if key not in self.loaded:
                model = usual_model(setup)
                adviser = Adviser(setup, players(setup, in_seats(setup, [model])), threads=THREADS)
                use_threads(1)
                dealt = Batch(setup, 1, skip_forced=False).tables  # in play, even where no seat ever has a decision
                adviser.advise(dealt, generator(0, Stream.ADVICE), deals=2)  # compiled code is loaded
                self.loaded[key] = Loaded(model, adviser)
                if len(self.loaded) > MAX_LOADED:
                    self.loaded.popitem(last=False)
            self.loaded.move_to_end(key)
            return self.loaded[key]


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
