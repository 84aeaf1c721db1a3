"""What a seat is shown once in a round, for models that begin each decision anew: the state of a seat has its tables.

A decision with one legal move is one at which a seat is shown something (``needs_decision`` of kernels), such as where its cards
lie before it must remember them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core import bits
from nainjaune_env.core.spec import Setup
from nainjaune_env.text.seat import Prompt, TextSeat

from ..heuristics import heuristics_module

MAX_SHOWN = 4
"""How many such decisions of a round are remembered: the last ones."""


def memory_fields(setup: Setup) -> list[tuple[Any, ...]]:
    """Returns the fields of the state of a seat: how many tables it was shown, and the tables, redacted.

    There are none where a seat is never shown anything: where the game's heuristics say so (``remembers``), or they do not say,
    and a decision is a choice (``needs_decision`` by default).
    """
    remembers = getattr(heuristics_module(setup.game.name), "remembers", None)
    if remembers is None:
        shows = setup.game.kernel.needs_decision is not bits.needs_decision
    else:
        shows = remembers(setup.kernel_rules)
    return [("count", np.int64), ("shown", setup.game.table, (MAX_SHOWN,))] if shows else []


def remember(decisions: DecisionBatch) -> None:
    """Adds to the state what the seats are shown now, where they have one legal move."""
    if not memory_fields(decisions.setup):
        return
    for k in np.flatnonzero(decisions.legal & (decisions.legal - 1) == 0):
        state = decisions.state[k : k + 1]
        state["shown"][0] = np.roll(state["shown"][0], 1)
        state["shown"][0, 0] = decisions.tables[k]
        state["count"] += 1


def remembered(seat: TextSeat, decisions: DecisionBatch) -> list[tuple[Prompt, ...]]:
    """Returns what the seat to act was shown before, for each decision: prompts, the first one first."""
    if not memory_fields(decisions.setup):
        return [()] * len(decisions.index)
    counts = np.minimum(decisions.state["count"], MAX_SHOWN).tolist()
    rows = zip(decisions.state["shown"], counts, strict=True)
    return [tuple(seat.prompt(table) for table in tables[:count][::-1]) for tables, count in rows]
