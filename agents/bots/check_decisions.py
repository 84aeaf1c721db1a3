"""Decisions for the check of a bot: positions in the middle of rounds, as they are sent."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import DecisionBatch
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch

from . import messages
from .messages import PLIES, Question, Ready
from .rows import Rows

PLIES_BEFORE = 8
"""Random decisions at each table before those that are asked."""


@dataclass(frozen=True)
class SentDecisions:
    """Decisions of different tables, as they are sent."""

    rows: list[bytes]
    table: NDArray[np.int64]
    seat: NDArray[np.int64]
    legal: NDArray[np.int64]

    @staticmethod
    def some(setup: Setup, ready: Ready, count: int) -> SentDecisions:
        """Returns ``count`` decisions in the middle of rounds, as the bot wants them."""
        history = PLIES in ready.wants
        batch = Batch(setup, count, seed=1, log=history)
        random_streams = streams(2, count)
        for _ in range(PLIES_BEFORE):
            batch.step(batch.sample(random_streams))
        decisions = DecisionBatch(batch, np.arange(count), None, history)
        seeds = None if ready.deterministic else np.random.default_rng(3).integers(0, 1 << 53, count)
        rows = Rows(setup, ready.wants).encode(decisions, decisions.index, seeds)
        return SentDecisions(rows, decisions.index, decisions.seat, decisions.legal)

    def taken(self, which: slice) -> SentDecisions:
        return SentDecisions(self.rows[which], self.table[which], self.seat[which], self.legal[which])

    def without_seeds(self) -> SentDecisions:
        rows = [{key: value for key, value in json.loads(row).items() if key != "seed"} for row in self.rows]
        return SentDecisions([messages.dumps(row) for row in rows], self.table, self.seat, self.legal)

    def question(self, answer: str) -> Question:
        return Question(answer, self.table, self.seat, self.legal)
