"""Advice: the expected outcome of every legal action of a position, over determinizations for the seat to act.

Flat Monte Carlo, as in ``search``: all actions of a position are tried in the same determinizations with the same random numbers,
and the agents in the seats play each round to its end. A search wants the best action and spends its determinizations on
finding it. Advice gives every action an estimate with an interval, so determinizations are added until the intervals of the
relevant actions are as narrow as requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng
from nainjaune_env.core.errors import ConfigError, DealError, IllegalActionError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import whole
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.determinize import determinize, generator_states

from ...measure.stats.intervals import Z_95
from ...players.search.values import PairedStats, Trial, as_rows, waves
from .decisions import seen_by_seat_at_turn
from .playouts import Column, Playouts, columns_of

FIRST = 128
"""Determinizations of the first wave, from which the number needed is estimated."""
GROWTH = 4
"""A wave has at most this many times the determinizations so far."""
PIECE = 2048
"""Approximate number of tables, one for each determinization and action, that a thread plays at once."""
GROUP = 64
"""Positions evaluated at once; memory does not grow with the number of positions."""
FIRST_SHOWN = 32
"""Determinizations of the first wave where somebody looks on."""
MAX_DEALS = 50_000
"""Maximum number of determinizations of a position."""
HOPELESS = 4.0
"""An action is dropped when it is more than this many standard errors behind the best one."""
COARSE = 4.0
"""The interval of a dropped action may be this many times as wide as requested."""


Number = TypeVar("Number", bound=np.generic)
Map = Callable[..., Iterable[NDArray[np.float64]]]
"""``map``, or an executor's ``map``."""


@dataclass(frozen=True)
class Advice:
    """The expected outcomes of the actions of K positions, for their seats to act.

    Entries of illegal actions are NaN (``deals``: 0). The C ``columns`` are the payoff from the decision on, the probabilities of
    events, and the sources of the payoff, which add up to it.
    """

    columns: tuple[Column, ...]
    best: NDArray[np.int64]
    """The action with the largest mean payoff, ``(K,)``."""
    deals: NDArray[np.int64]
    """Determinizations each action was tried in, ``(K, A)``."""
    mean: NDArray[np.float64]
    """``(K, A, C)``."""
    error: NDArray[np.float64]
    """Standard errors of the means."""
    behind: NDArray[np.float64]
    """Mean of the best action minus the mean of each action, over the determinizations of both; 0 for the best action."""
    behind_error: NDArray[np.float64]
    """Standard errors of ``behind``."""

    def named(self, name: str, values: NDArray[Number]) -> NDArray[Number]:
        """Returns the columns called ``name`` of ``values (..., C)``, shape ``(..., parts)``."""
        return values[..., [number for number, column in enumerate(self.columns) if column.name == name]]

    def ranked(self, k: int) -> list[int]:
        """Returns the actions tried at position ``k``, from the best to the worst."""
        tried = map(int, np.flatnonzero(self.deals[k]))
        return sorted(tried, key=lambda action: (action != self.best[k], -self.mean[k, action, 0]))


ARRAYS = tuple(field.name for field in fields(Advice) if field.name != "columns")
"""The fields of :class:`Advice` that have a row for each position."""


class Precision:
    """An ``Allocation`` that adds determinizations until the intervals of the relevant actions are narrow enough."""

    def __init__(self, decisions: int, deals: int, error: float | None, *, every: bool = False, first: int = FIRST) -> None:
        """``deals`` is the largest number of determinizations, and ``error`` the half-width of the intervals that is enough.

        Without an ``error`` all ``deals`` are used. With ``every``, no action is dropped. ``first`` is the
        number of determinizations of the first wave.
        """
        self._deals = deals
        self._error = error
        self._every = every
        self._more = np.full(decisions, min(deals, first))

    def __call__(self, stats: PairedStats, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns the determinizations of the next wave, ``(K,)``, 0 for none; drops hopeless actions known well enough."""
        if stats.count.any():
            open_ = np.flatnonzero(self._more)
            more, remaining = self._missing(stats, left)
            self._more = np.zeros_like(self._more)
            self._more[open_], left[open_] = more[open_], remaining[open_]
        return self._more

    def _missing(self, stats: PairedStats, left: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        had, best = stats.count.max(axis=1), best_of(stats, left)
        ahead, noise, value_error = stats.ahead(best)[..., 0], stats.ahead_error(best)[..., 0], stats.error()[..., 0]
        is_best = np.arange(left.shape[1]) == best[:, None]
        hopeless = left & (ahead > HOPELESS * noise) & ~is_best & (not self._every)
        if self._error is None:
            return np.minimum(self._deals - had, GROWTH * had), left & ~hopeless
        decides = np.where(is_best | self._every, np.maximum(value_error, noise), noise)
        # ratio of the intervals to the requested ones
        short = np.where(left, Z_95 * np.where(hopeless, value_error / COARSE, decides) / self._error, -np.inf)
        remaining = left & (~hopeless | (short > 1))
        # positions that need fewer determinizations come first; these count for the others too
        coarse = hopeless & remaining
        widest = np.where(np.where(coarse.any(axis=1, keepdims=True), coarse, ~hopeless), short, -np.inf).max(axis=1)
        deals = np.minimum(np.ceil(had * widest**2), self._deals).astype(np.int64)
        return np.maximum(0, np.minimum(deals - had, GROWTH * had)), remaining


class StepByStep(Precision):
    """Adds few determinizations at a time, so that somebody who looks on sees the result become sharper."""

    def __init__(self, error: float) -> None:
        super().__init__(1, MAX_DEALS, error, first=FIRST_SHOWN)

    def __call__(self, stats: PairedStats, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """See :class:`Precision`."""
        more = super().__call__(stats, left)
        if stats.count.any():
            more = np.maximum(more, FIRST - stats.count.max())
        self._more = np.minimum(more, max(PIECE // int(left.sum()), 1))
        return self._more


def best_of(stats: PairedStats, left: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns the action left with the largest mean payoff, ``(K,)``."""
    best: NDArray[np.int64] = np.where(left, stats.mean()[..., 0], -np.inf).argmax(axis=1)
    return best


class _Job(NamedTuple):
    """Determinizations in which to try the remaining actions of a position."""

    position: int
    actions: NDArray[np.int64]
    deals: int
    state: np.uint64
    """Of the generator they are drawn from."""


class Adviser:
    """Gives advice at tables of one setup. It first redacts them for the seat to act.

    Several threads may use an object; they wait for one another where they are more than its ``threads``.
    """

    def __init__(self, setup: Setup, model: Callable[[], Sequence[Agent]], *, threads: int = 1) -> None:
        """``model()`` returns the agents in the seats, ``(n,)``; it is called once for each of the ``threads``.

        Raises :class:`~nainjaune_env.core.errors.AgentError` for an agent that remembers or another number of agents, and
        :class:`~nainjaune_env.core.errors.RulesError` for a game without advice hooks.
        """
        if threads < 1:
            raise ConfigError(f"Advice takes at least 1 thread, not {threads}.")
        self.setup = setup
        self.columns = columns_of(setup.game)
        self._threads = threads
        self._playouts: SimpleQueue[Playouts] = SimpleQueue()
        """Those that no thread uses."""
        for _ in range(threads):
            self._playouts.put(Playouts(setup, model()))

    def advise(
        self,
        tables: NDArray[Any],
        rng: Rng,
        *,
        deals: int | None = None,
        error: float | None = None,
        every: bool = False,
        tried: NDArray[np.int64] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Advice:
        """Returns advice on ``tables (K,)`` in play, after redacting them for their seats to act.

        Actions are tried in ``deals`` determinizations, or in as many as it takes to make ``error`` the half-width of two 95 %
        intervals (at most ``MAX_DEALS``): of the best action's payoff, and of its lead over actions that may be as good. Actions
        far behind are dropped early; with ``every`` none is, and all intervals get as narrow. ``tried (K,)`` are the actions to
        try, as bit sets (None: all legal ones). The result for a position depends on its own draw from ``rng`` alone, except for
        rounding in networks. ``progress`` is called with the number of positions done.

        Raises :class:`DealError` if a round is over, :class:`IllegalActionError` if an action in ``tried`` is illegal, and
        :class:`ConfigError` unless exactly one of ``deals`` >= 2 and ``error`` > 0 is given.
        """
        fits = error > 0 if deals is None and error is not None else error is None and (whole(deals) or 0) >= 2
        if not fits:
            raise ConfigError(
                f"Expected either deals, a whole number, at least 2, or an error above 0, not {deals!r} and {error!r}."
            )
        redacted, legal = self._redacted(tables, tried)
        states = generator_states(rng.random(len(redacted)))
        groups = [self._advice(PairedStats(0, legal.shape[1], len(self.columns)), legal[:0])]
        with ThreadPoolExecutor(self._threads) as workers:
            for at in range(0, len(redacted), GROUP):
                part = slice(at, at + GROUP)
                allocation = Precision(len(redacted[part]), MAX_DEALS if deals is None else deals, error, every=every)
                *_, advice = self._waves(redacted[part], legal[part], states[part], allocation, workers.map)
                groups.append(advice)
                if progress is not None:
                    progress(len(redacted[part]))
        return Advice(self.columns, *(np.concatenate([getattr(advice, name) for advice in groups]) for name in ARRAYS))

    def sharpen(self, table: NDArray[Any], rng: Rng, *, error: float) -> Iterator[Advice]:
        """Yields advice on a ``table``, an array of one, with ever more determinizations, until :meth:`advise` would end.

        Each step plays about ``PIECE`` tables in the calling thread, so that whoever takes no further step soon has it back.
        Raises as :meth:`advise` does.
        """
        if not error > 0:
            raise ConfigError(f"Expected an error above 0, not {error!r}.")
        redacted, legal = self._redacted(table, None)
        yield from self._waves(redacted, legal, generator_states(rng.random(1)), StepByStep(error), map)

    def _waves(
        self, tables: NDArray[Any], left: NDArray[np.bool_], states: NDArray[np.uint64], allocation: Precision, run: Map
    ) -> Iterator[Advice]:
        """Yields advice on the redacted ``tables (K,)`` after each wave; a position draws from its own of ``states (K,)``."""

        def play(more: NDArray[np.int64], left: NDArray[np.bool_]) -> Iterator[Trial]:
            pieces = list(_pieces(_jobs(more, left, states)))
            for jobs, outcomes in zip(pieces, run(partial(self._try, tables), pieces), strict=True):
                at = 0
                for job in jobs:
                    rows = job.deals * len(job.actions)
                    part = outcomes[at : at + rows].reshape(job.deals, len(job.actions), -1)
                    yield Trial(np.array([job.position]), job.actions, np.array([job.deals]), part)
                    at += rows

        stats = PairedStats(len(left), left.shape[1], len(self.columns))
        for _ in waves(stats, left, allocation, play):
            yield self._advice(stats, left)

    def _advice(self, stats: PairedStats, left: NDArray[np.bool_]) -> Advice:
        best = best_of(stats, left)
        estimates = (stats.mean(), stats.error(), stats.ahead(best), stats.ahead_error(best))
        return Advice(self.columns, best, stats.count.copy(), *estimates)

    def _redacted(self, tables: NDArray[Any], tried: NDArray[np.int64] | None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Returns the tables redacted for their seats to act, and the actions to try, ``(K, A)``."""
        setup = self.setup
        if tables.dtype != setup.game.table or tables.ndim != 1:
            raise DealError(
                f"Expected a row of {setup.game.title} tables, not an array of shape {tables.shape} or of other records."
            )
        if (tables["stage"] != Stage.PLAYING).any():
            raise DealError("Expected tables with a round in play, but at one of them the round is over.")
        redacted, legal = seen_by_seat_at_turn(setup, tables), np.zeros(len(tables), np.int64)
        loops_of(setup).legal_of_tables(redacted, numbers_of(setup), legal)
        bits = legal if tried is None else np.asarray(tried, np.int64)
        if bits.shape != legal.shape or (bits & ~legal).any() or not bits.all():
            raise IllegalActionError("Expected at least one action to try at each table, and only legal ones.")
        return redacted, as_rows(bits, len(setup.game.actions))

    def _try(self, tables: NDArray[Any], jobs: list[_Job]) -> NDArray[np.float64]:
        """Returns a row of outcomes for each job, determinization and action, in this order."""
        owner = np.repeat(np.arange(len(jobs)), [job.deals for job in jobs])
        positions, states = np.array([job.position for job in jobs]), np.array([job.state for job in jobs])
        deals = determinize(self.setup, tables[positions], owner, states)
        number = np.array([len(job.actions) for job in jobs])[owner]
        actions = np.concatenate([np.tile(job.actions, job.deals) for job in jobs])
        playouts = self._playouts.get()
        try:
            return playouts.outcomes(np.repeat(deals, number), actions)
        finally:
            self._playouts.put(playouts)


def _jobs(more: NDArray[np.int64], left: NDArray[np.bool_], states: NDArray[np.uint64]) -> Iterator[_Job]:
    """Yields jobs for ``more (K,)`` determinizations of each position, none larger than a piece."""
    for position in np.flatnonzero(more):
        actions, missing = np.flatnonzero(left[position]), int(more[position])
        stream = RowStreams(states, np.array([position]))
        while missing:
            now = min(missing, max(PIECE // len(actions), 1))
            yield _Job(int(position), actions, now, generator_states(stream.random(1))[0])
            missing -= now


def _pieces(jobs: Iterator[_Job]) -> Iterator[list[_Job]]:
    """Yields groups of jobs of about the size of a piece."""
    piece: list[_Job] = []
    rows = 0
    for job in jobs:
        more = job.deals * len(job.actions)
        if piece and rows + more > PIECE:
            yield piece
            piece, rows = [], 0
        piece.append(job)
        rows += more
    if piece:
        yield piece
