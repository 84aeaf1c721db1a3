"""Advice: the expected outcome of every legal action of a position, over determinizations for the seat to act.

Flat Monte Carlo, as in ``search``: all actions of a position are tried in the same determinizations with the same random numbers,
and the agents in the seats play each round to its end. A search wants the best action and spends its determinizations on
finding it. Advice gives every action an estimate with an interval, so determinizations are added until the intervals of the
relevant actions are as narrow as requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng
from nainjaune_env.core.bits import legal_actions
from nainjaune_env.core.errors import ConfigError, DealError, IllegalActionError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.compiled import loops_of, numbers_of
from nainjaune_env.engine.determinize import determinize, generator_states

from ..stats.intervals import Z_95
from .decisions import seen_by_seat_at_turn
from .paired_stats import PairedStats
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
MOST_DEALS = 50_000
"""Most determinizations of a position, whatever the requested error."""
HOPELESS = 4.0
"""An action is dropped when it is more than this many standard errors behind the best one."""
COARSE = 4.0
"""The interval of a dropped action may be this many times as wide as requested."""


Number = TypeVar("Number", bound=np.generic)
Map = Callable[..., Iterable[NDArray[np.float64]]]
"""``map``, or that of an executor."""


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
    """Mean of the best action minus that of each action, over the determinizations of both; 0 for the best action."""
    behind_error: NDArray[np.float64]
    """Standard errors of ``behind``."""

    def named(self, name: str, values: NDArray[Number]) -> NDArray[Number]:
        """Returns the columns called ``name`` of ``values (..., C)``, shape ``(..., parts)``."""
        return values[..., [number for number, column in enumerate(self.columns) if column.name == name]]

    def ranked(self, k: int) -> list[int]:
        """Returns the actions tried at position ``k``, from the best to the worst."""
        tried = map(int, np.flatnonzero(self.deals[k]))
        return sorted(tried, key=lambda action: (action != self.best[k], -self.mean[k, action, 0]))


class _StopRule(NamedTuple):
    """When a position has enough determinizations."""

    deals: int
    """The largest number of them."""
    error: float | None
    """The half-width of the intervals that is narrow enough; None: always use all ``deals``."""
    every: bool
    """Applies to all actions, of which none is dropped."""


class _Position:
    """A position under evaluation."""

    def __init__(self, table: NDArray[Any], actions: NDArray[np.int64], columns: int) -> None:
        self.table = table
        """Redacted; an array of one."""
        self.actions = actions
        """The actions tried, ``(L,)``."""
        self.left = np.arange(len(actions))
        """Indices of the actions that have not been dropped."""
        self.stats = PairedStats(len(actions), columns)

    @property
    def best(self) -> int:
        """Index of the action with the largest mean payoff."""
        return int(self.left[self.stats.mean()[self.left, 0].argmax()])

    def missing(self, rule: _StopRule) -> int:
        """Returns the number of determinizations of the next wave, 0 for none; drops hopeless actions known well enough."""
        had, best = int(self.stats.count.max()), self.best
        ahead, noise = self.stats.ahead(best)[self.left, 0], self.stats.ahead_error(best)[self.left, 0]
        own = self.stats.error()[self.left, 0]
        hopeless = (ahead > HOPELESS * noise) & (self.left != best) & (not rule.every)
        if rule.error is None:
            self.left = self.left[~hopeless]
            return min(rule.deals - had, GROWTH * had)
        decides = np.where((self.left == best) | rule.every, np.maximum(own, noise), noise)
        short = Z_95 * np.where(hopeless, own / COARSE, decides) / rule.error  # ratio of the intervals to the requested ones
        keep = ~hopeless | (short > 1)
        # first those that need fewer determinizations, which count for the others too
        widest = short[hopeless & keep] if (hopeless & keep).any() else short[~hopeless]
        self.left = self.left[keep]
        deals = min(int(np.ceil(had * widest.max() ** 2)), rule.deals)
        return max(0, min(deals - had, GROWTH * had))


class _Job(NamedTuple):
    """Determinizations in which to try the remaining actions of a position."""

    position: _Position
    left: NDArray[np.int64]
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
        intervals (at most ``MOST_DEALS``): of the best action's payoff, and of its lead over actions that may be as good. Actions
        far behind are dropped early; with ``every`` none is, and all intervals get as narrow. ``tried (K,)`` are the actions to
        try, as bit sets (None: all legal ones). The result for a position depends on its own draw from ``rng`` alone, except for
        rounding in networks. ``progress`` is called with the number of positions done.

        Raises :class:`DealError` if a round is over, :class:`IllegalActionError` if an action in ``tried`` is illegal, and
        :class:`ConfigError` unless exactly one of ``deals`` >= 2 and ``error`` > 0 is given.
        """
        if (deals is None) == (error is None) or (deals is not None and deals < 2) or (error is not None and not error > 0):
            raise ConfigError(f"Expected either deals, at least 2, or an error above 0, not {deals!r} and {error!r}.")
        rule = _StopRule(MOST_DEALS if deals is None else deals, error, every)
        redacted, bits = self._redacted(tables, tried)
        states = generator_states(rng.random(len(redacted)))
        advice = self._empty(len(redacted))
        with ThreadPoolExecutor(self._threads) as workers:
            for at in range(0, len(redacted), GROUP):
                part = slice(at, at + GROUP)
                group = [self._position(table, int(own)) for table, own in zip(redacted[part], bits[part], strict=True)]
                more = np.full(len(group), min(rule.deals, FIRST))
                while more.any():
                    more = self._wave(group, states[part], rule, more, workers.map)
                for k, position in enumerate(group, at):
                    _write(position, advice, k)
                if progress is not None:
                    progress(len(group))
        return advice

    def sharpen(self, table: NDArray[Any], rng: Rng, *, error: float) -> Iterator[Advice]:
        """Yields advice on a ``table``, an array of one, with ever more determinizations, until :meth:`advise` would end.

        Each step plays about ``PIECE`` tables in the calling thread, so that whoever takes no further step soon has it back.
        Raises as :meth:`advise` does.
        """
        if not error > 0:
            raise ConfigError(f"Expected an error above 0, not {error!r}.")
        redacted, bits = self._redacted(table, None)
        rule, states = _StopRule(MOST_DEALS, error, False), generator_states(rng.random(1))
        position = self._position(redacted[0], int(bits[0]))
        more = np.array([FIRST_SHOWN])
        while more.any():
            more = self._wave([position], states, rule, np.minimum(more, max(PIECE // len(position.left), 1)), map)
            more = np.maximum(more, FIRST - position.stats.count.max())
            advice = self._empty(1)
            _write(position, advice, 0)
            yield advice

    def _redacted(self, tables: NDArray[Any], tried: NDArray[np.int64] | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Returns the tables redacted for their seats to act, and the actions to try as bit sets."""
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
        return redacted, bits

    def _position(self, table: Any, tried: int) -> _Position:
        return _Position(np.array([table]), np.array(legal_actions(tried)), len(self.columns))

    def _wave(
        self, positions: list[_Position], states: NDArray[np.uint64], rule: _StopRule, more: NDArray[np.int64], run: Map
    ) -> NDArray[np.int64]:
        """Tries the remaining actions of ``positions (K,)`` in ``more (K,)`` further determinizations.

        Each position draws from its own of ``states (K,)``. Returns the determinizations that are missing then, ``(K,)``.
        """
        pieces = list(_pieces(self._jobs(positions, states, more)))
        for jobs, outcomes in zip(pieces, run(self._try, pieces), strict=True):
            at = 0
            for job in jobs:
                rows = job.deals * len(job.left)
                part = outcomes[at : at + rows].reshape(job.deals, len(job.left), -1)
                job.position.stats.add(part, job.left)
                at += rows
        return np.array([position.missing(rule) if now else 0 for position, now in zip(positions, more, strict=True)])

    def _jobs(self, positions: list[_Position], states: NDArray[np.uint64], more: NDArray[np.int64]) -> Iterator[_Job]:
        """Yields jobs for ``more (K,)`` determinizations of each position, none larger than a piece."""
        for number in np.flatnonzero(more):
            position, missing = positions[number], int(more[number])
            own = RowStreams(states, np.array([number]))
            most = max(PIECE // len(position.left), 1)
            while missing:
                now = min(missing, most)
                yield _Job(position, position.left, now, generator_states(own.random(1))[0])
                missing -= now

    def _try(self, jobs: list[_Job]) -> NDArray[np.float64]:
        """Returns a row of outcomes for each job, determinization and remaining action, in this order."""
        tables = np.concatenate([job.position.table for job in jobs])
        owner = np.repeat(np.arange(len(jobs)), [job.deals for job in jobs])
        drawn = determinize(self.setup, tables, owner, np.array([job.state for job in jobs]))
        number = np.array([len(job.left) for job in jobs])[owner]
        actions = np.concatenate([np.tile(job.position.actions[job.left], job.deals) for job in jobs])
        playouts = self._playouts.get()
        try:
            return playouts.outcomes(np.repeat(drawn, number), actions)
        finally:
            self._playouts.put(playouts)

    def _empty(self, positions: int) -> Advice:
        """Returns advice on ``positions`` positions to be filled in."""
        shape = (positions, len(self.setup.game.actions))
        values = (np.full((*shape, len(self.columns)), np.nan) for _ in range(4))
        return Advice(self.columns, np.zeros(positions, np.int64), np.zeros(shape, np.int64), *values)


def _write(position: _Position, advice: Advice, k: int) -> None:
    """Writes the results of a position to row ``k``."""
    stats, best, where = position.stats, position.best, (k, position.actions)
    advice.best[k] = position.actions[best]
    advice.deals[where] = stats.count
    advice.mean[where], advice.error[where] = stats.mean(), stats.error()
    advice.behind[where], advice.behind_error[where] = stats.ahead(best), stats.ahead_error(best)


def _pieces(jobs: Iterator[_Job]) -> Iterator[list[_Job]]:
    """Yields groups of jobs of about the size of a piece."""
    piece: list[_Job] = []
    rows = 0
    for job in jobs:
        more = job.deals * len(job.left)
        if piece and rows + more > PIECE:
            yield piece
            piece, rows = [], 0
        piece.append(job)
        rows += more
    if piece:
        yield piece
