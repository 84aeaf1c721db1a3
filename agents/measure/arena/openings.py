"""The tables that rounds of duplicate play begin with, by the ``start`` of the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, any_needs_history
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import Batch
from nainjaune_env.engine.replay import Replay

from ...base.task import CARRIED, FRESH, MATCH_ROUNDS, Task
from .play import play_out

CARRIED_ROUNDS = 4 << 32
"""The streams of a seed for carried rounds: the deals of round r are in stream ``CARRIED_ROUNDS + r``, draws in the first."""


def most_chips_at_start(setup: Setup, task: Task) -> int:
    """Returns about the most chips in the pots when a round begins, after the antes: 0 in games without pots.

    Carried rounds begin with at most the antes of :data:`MATCH_ROUNDS` rounds.
    """
    dealt = Batch(setup, 1, skip_forced=False, autoreset=False, observe=False)
    antes = -sum(Replay(setup, dealt.tables[0]).payoffs)
    if isinstance(task.start, str):
        return antes * (MATCH_ROUNDS if task.start == CARRIED else 1)
    given: int = sum(high * setup.game.start_values[name] for name, (_, high) in task.start.items())
    return antes + given


def opening_tables(
    setup: Setup, task: Task, seed: int, first: int, count: int, agents: Sequence[Agent], seating: NDArray[np.int64]
) -> NDArray[Any] | None:
    """Returns the tables ``(D,)`` before any ply of the deals ``first .. first+count-1`` of ``seed``; None for fresh rounds.

    The cards come from ``streams(seed, count, first=first)``, whatever the start. Drawn start values are the same for all agents.
    Where rounds are carried, deal d is round ``1 + d mod MATCH_ROUNDS`` of a table of its own, at which ``agents``, in the seats
    that ``seating (D, n)`` gives them, played the rounds before it; where the rules ended a match on the way, another one began.
    So deals are independent of each other, and depend on the agents only by the chips that these left.
    """
    if task.start == FRESH:
        return None
    seeds = streams(seed, count, first=first)
    if task.draws:
        dealer = Batch(setup, count, start=task.start_values(setup, seeds), skip_forced=False, autoreset=False, observe=False)
        dealer.reset(seeds=seeds)
        return dealer.tables.copy()
    dealer = Batch(setup, count, start=CARRIED, skip_forced=False, autoreset=False, observe=False)
    number = np.arange(first, first + count) % MATCH_ROUNDS
    dealer.reset(seeds=seeds)  # the first round's stay as they are
    later = np.flatnonzero(number)
    if later.size:
        dealer.set_tables(later, _played(setup, seed, first, count, agents, seating, number)[later], trusted=True)
        dealer.reset(later, seeds=seeds[later], carry=True)
    return dealer.tables.copy()


def _played(
    setup: Setup,
    seed: int,
    first: int,
    count: int,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    rounds: NDArray[np.int64],
) -> NDArray[Any]:
    """Returns the tables after ``rounds (D,)`` rounds of matches, as they stood at the end of the last."""
    log = any_needs_history(agents)
    batch = Batch(setup, count, start=CARRIED, autoreset=False, log=log)
    draws = streams(seed, count, CARRIED_ROUNDS, first=first)
    for number in range(int(rounds.max())):
        goes_on = np.flatnonzero(rounds > number)
        deals = streams(seed, count, CARRIED_ROUNDS + 1 + number, first=first)[goes_on]
        batch.reset(goes_on, seeds=deals, carry=number > 0)
        play_out(batch, agents, seating, lambda _, index: RowStreams(draws, index))
    tables: NDArray[Any] = batch.tables
    assert (tables["stage"][rounds > 0] != Stage.PLAYING).all()
    return tables
