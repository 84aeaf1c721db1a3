"""Advisers that are loaded once, for a process that asks them for advice at many tables."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from ...base.devices import set_torch_threads
from ...base.seeds import Stream, generator
from .adviser import Adviser
from .models import in_seats, is_advised, players, usual_model

MAX_LOADED = 8
"""Setups whose advisers are kept loaded."""


class Loaded(NamedTuple):
    """An adviser that searches share."""

    model: str
    """The agent that plays rounds to their end."""
    adviser: Adviser


class Advisers:
    """The advisers of a process, each loaded once for all tables with the same rules. Threads may share an object."""

    def __init__(self, threads: int) -> None:
        """``threads`` may use an adviser at once."""
        self._threads = threads
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
                adviser = Adviser(setup, players(setup, in_seats(setup, [model])), threads=self._threads)
                set_torch_threads(1)
                dealt = Batch(setup, 1, skip_forced=False).tables  # in play, even where no seat ever has a decision
                adviser.advise(dealt, generator(0, Stream.ADVICE), deals=2)  # compiled code is loaded
                self.loaded[key] = Loaded(model, adviser)
                if len(self.loaded) > MAX_LOADED:
                    self.loaded.popitem(last=False)
            self.loaded.move_to_end(key)
            return self.loaded[key]
