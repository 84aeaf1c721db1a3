"""Rounds at random, their records, and what was counted in them: what the tests of measures have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.analysis.stat_hook import columns
from nainjaune_env.analysis.stats import tally
from nainjaune_env.core.prng import streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.engine.batch import Batch
from nainjaune_env.records.record import Record, make_record


@dataclass
class Tallied:
    """Some rounds of one setup."""

    setup: Setup
    deals: NDArray[Any]
    """Tables before any ply, (T,)."""
    actions: NDArray[np.int64]
    """Decisions, (P, T)."""
    payoff: NDArray[np.int64]
    """(T, n)."""
    records: list[Record]
    """One a round."""

    def counted(self) -> NDArray[np.int64]:
        """The tally of every seat of every table by itself, (T, n, C)."""
        tables, n = self.payoff.shape
        rows = np.arange(tables * n).reshape(tables, n)
        return tally(self.setup, self.deals, self.actions, rows, tables * n).reshape(tables, n, -1)

    def field(self, name: str, counted: NDArray[np.int64]) -> Any:
        """One field of it: (T, n), or (T, n, k)."""
        assert self.setup.game.measures is not None
        where = columns(self.setup.game.measures.TALLY, name)
        return counted[..., where[0]] if len(where) == 1 else counted[..., where]

    def check(self, by_hand: Callable[[Record], list[dict[str, Any]]], account: str) -> list[dict[str, Any]]:
        """Asserts that every count is what ``by_hand`` makes of the records, and that the ``account`` adds up; returns them."""
        counted, result = self.counted(), []
        for table, record in enumerate(self.records):
            for seat, expected in enumerate(by_hand(record)):
                for name, value in expected.items():
                    assert self.field(name, counted)[table, seat].tolist() == value, (table, seat, name)
                assert sum(expected[account]) == self.payoff[table, seat]
                result.append(expected)
        assert len(result) == self.payoff.size
        return result


def play_rounds(setup: Setup, seed: int, count: int, *, record: bool = True, **options: Any) -> Tallied:
    """``count`` rounds of random play."""
    shown = Batch(setup, count, seed=seed, skip_forced=False, autoreset=False, observe=False, **options)
    batch = Batch(setup, count, seed=seed, autoreset=False, observe=False, log=True, **options)
    assert batch.log is not None
    draws, payoff = streams(seed, count, stream=1), batch.reward.astype(np.int64)
    actions: list[NDArray[np.int64]] = []
    while not batch.done.all():
        actions.append(batch.sample(draws))
        batch.step(actions[-1])
        payoff += batch.reward
    taken = np.array(actions, np.int64).reshape(-1, count)
    plies = [batch.log.episode(table).actions.tolist() for table in range(count)] if record else []
    records = [write(setup, deal, log) for deal, log in zip(shown.tables[: len(plies)], plies, strict=True)]
    return Tallied(setup, shown.tables, taken, payoff, records)


def write(setup: Setup, deal: Any, actions: list[int]) -> Record:
    """The record of one round."""
    single = replace(setup, rules=setup.game.single_round(setup.rules))
    body = setup.game.transcriber.transcribe(single, deal, actions)
    return make_record(single, body, agents=[f"seat{k}" for k in range(setup.players)])
