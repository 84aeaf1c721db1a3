"""Advice: what every legal action of a position comes to, in worlds that the seat to act cannot tell from its own.

Flat Monte Carlo, as in ``search``: all actions of a position are tried in the same worlds, with the same luck, and each round is
played to its end by the agents that stand for the seats, the advised one's among them. What differs is what is asked. A search
wants the best action and spends its worlds on finding it; advice says of every action what to expect of it, and how sure
that is, so worlds are added until the figures that decide are as sharp as is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, Rng
from nainjaune_env.core.errors import ConfigError, DealError, IllegalActionError
from nainjaune_env.core.prng import RowStreams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.table import Stage
from nainjaune_env.engine.batch import legal_actions, loops_of
from nainjaune_env.engine.determinize import determinize, generator_states

from ..stats.intervals import Z_95
from .paired_stats import Sums
from .playouts import Column, Playouts, columns_of

FIRST = 128
"""Worlds of the first wave, after which actions may be given up and it is known how many worlds are needed."""
GROWTH = 4
"""A wave brings at most so many times the worlds that there were."""
PIECE = 2048
"""Tables, a world and an action each, that a thread plays at once, about."""
GROUP = 64
"""Positions that are looked into at once: memory does not grow with their number."""
MOST_DEALS = 50_000
"""Worlds of a position, where an error is asked for that takes more."""
HOPELESS = 4.0
"""Standard errors of the difference that an action may be behind the best one before it is given up."""
COARSE = 4.0
"""How many times as wide as the others' its interval may stay then."""


Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class Advice:
    """What is to be expected of the actions of K positions, for their seats to act.

    Numbers of actions that are not legal are NaN (``deals``: 0). ``C`` are the ``columns``: the payoff from the decision on, the
    chances of what may come about, and the sources that the payoff comes from, which add up to it.
    """

    columns: tuple[Column, ...]
    best: NDArray[np.int64]
    """The action with the largest mean payoff, ``(K,)``."""
    deals: NDArray[np.int64]
    """Worlds that each action was tried in, ``(K, A)``."""
    mean: NDArray[np.float64]
    """``(K, A, C)``."""
    error: NDArray[np.float64]
    """Standard errors of the means."""
    behind: NDArray[np.float64]
    """How much more the best action comes to, in the worlds that both were tried in; 0 for itself."""
    behind_error: NDArray[np.float64]
    """Standard errors of that."""

    def named(self, name: str, values: NDArray[Number]) -> NDArray[Number]:
        """The columns called ``name`` of one of the fields, or of what was made of one, ``(..., parts)``."""
        return values[..., [number for number, column in enumerate(self.columns) if column.name == name]]


class _Wanted(NamedTuple):
    """When there are worlds enough."""

    deals: int
    """There are so many."""
    error: float | None
    """Or the intervals are so narrow; None: never before."""
    every: bool
    """Of all actions alike, none of which is given up."""


class _Position:
    """A position that is being looked into."""

    def __init__(self, table: NDArray[Any], actions: NDArray[np.int64], columns: int) -> None:
        self.table = table
        """Wiped; an array of one."""
        self.actions = actions
        """What is tried, by number, ``(L,)``."""
        self.left = np.arange(len(actions))
        """The places there of what has not been given up."""
        self.sums = Sums(len(actions), columns)

    @property
    def best(self) -> int:
        """The place of the action with the largest mean payoff."""
        return int(self.left[self.sums.mean()[self.left, 0].argmax()])

    def missing(self, wanted: _Wanted) -> int:
        """How many worlds come next, 0 where there are enough. What is behind for good and known well enough is given up."""
        had, best = int(self.sums.count.max()), self.best
        ahead, noise = self.sums.ahead(best)[self.left, 0], self.sums.ahead_error(best)[self.left, 0]
        own = self.sums.error()[self.left, 0]
        hopeless = (ahead > HOPELESS * noise) & (self.left != best) & (not wanted.every)
        if wanted.error is None:
            self.left = self.left[~hopeless]
            return min(wanted.deals - had, GROWTH * had)
        decides = np.where((self.left == best) | wanted.every, np.maximum(own, noise), noise)
        short = Z_95 * np.where(hopeless, own / COARSE, decides) / wanted.error  # how many times too wide the intervals are
        keep = ~hopeless | (short > 1)
        # first what needs fewer worlds, which the rest can use as well
        widest = short[hopeless & keep] if (hopeless & keep).any() else short[~hopeless]
        self.left = self.left[keep]
        deals = min(int(np.ceil(had * widest.max() ** 2)), wanted.deals)
        return max(0, min(deals - had, GROWTH * had))


class _Job(NamedTuple):
    """Worlds to try what is left of a position in."""

    position: _Position
    left: NDArray[np.int64]
    worlds: int
    state: np.uint64
    """Of the generator that they are drawn from."""


class Adviser:
    """Gives advice at tables of one setup. It looks at no table but as the seat to act may see it."""

    def __init__(self, setup: Setup, model: Callable[[], Sequence[Agent]], *, threads: int = 1) -> None:
        """``model()`` gives the agents that stand for the seats, ``(n,)``; it is called for each of so many ``threads``.

        Raises :class:`~nainjaune_env.core.errors.AgentError` for agents that remember, or not one a seat, and
        :class:`~nainjaune_env.core.errors.RulesError` for a game that tells an adviser nothing.
        """
        if threads < 1:
            raise ConfigError(f"Advice takes at least 1 thread, not {threads}.")
        self.setup = setup
        self.columns = columns_of(setup.game)
        self._playouts = [Playouts(setup, model()) for _ in range(threads)]

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
        """Advice on ``tables (K,)``, whose rounds are being played; first of all, what their seats to act may not know is wiped.

        Actions are tried in ``deals`` worlds, or in as many as it takes for the 95 % intervals of the best one's payoff, and of
        how far it is ahead of those that may be as good, to be ``error`` to either side (at most ``MOST_DEALS``). Those that
        fall behind for good are tried in no more; with ``every`` all are, until what is said of each is as sharp. ``tried (K,)``
        are the actions to try, as words (None: all legal ones). What is found at a position depends on its own number from
        ``rng`` alone; a network may round otherwise among others. ``progress`` is told of positions done.

        Raises :class:`DealError` where a round is over, :class:`IllegalActionError` where what is to be tried is not legal,
        :class:`ConfigError` for numbers that make no sense.
        """
        if (deals is None) == (error is None) or (deals is not None and deals < 2) or (error is not None and not error > 0):
            raise ConfigError(f"Advice takes either deals, at least 2, or an error above 0, not {deals!r} and {error!r}.")
        wanted = _Wanted(MOST_DEALS if deals is None else deals, error, every)
        wiped, words = self._wiped(tables, tried)
        states = generator_states(rng.random(len(wiped)))
        advice = self._empty(len(wiped))
        with ThreadPoolExecutor(len(self._playouts)) as workers:
            for at in range(0, len(wiped), GROUP):
                part = slice(at, at + GROUP)
                group = [self._position(table, int(word)) for table, word in zip(wiped[part], words[part], strict=True)]
                self._look_into(group, states[part], wanted, workers)
                for k, position in enumerate(group, at):
                    _write(position, advice, k)
                if progress is not None:
                    progress(len(group))
        return advice

    def _wiped(self, tables: NDArray[Any], tried: NDArray[np.int64] | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The tables as their seats to act see them, and what is tried there, as words."""
        setup, loops = self.setup, loops_of(self.setup.game)
        if tables.dtype != setup.game.table or tables.ndim != 1:
            raise DealError(f"Advice is given on a row of {setup.game.title} tables, not on an array of shape {tables.shape}.")
        if (tables["stage"] != Stage.PLAYING).any():
            raise DealError("Advice is given where a round is being played, and at one of the tables it is over.")
        wiped = tables.copy()
        loops.redact_tables(wiped, setup.kernel_rules, wiped["seat"].astype(np.int64))
        legal = np.array([loops.legal_word(wiped, setup.kernel_rules, i) for i in range(len(wiped))], np.int64)
        words = legal if tried is None else np.asarray(tried, np.int64)
        if words.shape != legal.shape or (words & ~legal).any() or not words.all():
            raise IllegalActionError("What is to be tried are legal actions, at least one at each table.")
        return wiped, words

    def _position(self, table: Any, word: int) -> _Position:
        return _Position(np.array([table]), np.array(legal_actions(word)), len(self.columns))

    def _look_into(
        self, positions: list[_Position], states: NDArray[np.uint64], wanted: _Wanted, workers: ThreadPoolExecutor
    ) -> None:
        """Fill the sums of ``positions (K,)``, wave by wave; each draws from its own of ``states (K,)``."""
        more = np.full(len(positions), min(wanted.deals, FIRST))
        while more.any():
            pieces = list(_pieces(self._jobs(positions, states, more)))
            for jobs, outcomes in zip(pieces, workers.map(self._try, pieces), strict=True):
                at = 0
                for job in jobs:
                    rows = job.worlds * len(job.left)
                    came = outcomes[at : at + rows].reshape(job.worlds, len(job.left), -1)
                    job.position.sums.add(came, job.left)
                    at += rows
            for number in np.flatnonzero(more):
                more[number] = positions[number].missing(wanted)

    def _jobs(self, positions: list[_Position], states: NDArray[np.uint64], more: NDArray[np.int64]) -> Iterator[_Job]:
        """``more (K,)`` worlds of each position, in portions of at most a piece."""
        for number in np.flatnonzero(more):
            position, worlds = positions[number], int(more[number])
            own = RowStreams(states, np.array([number]))
            most = max(PIECE // len(position.left), 1)
            while worlds:
                now = min(worlds, most)
                yield _Job(position, position.left, now, generator_states(own.random(1))[0])
                worlds -= now

    def _try(self, jobs: list[_Job]) -> NDArray[np.float64]:
        """What comes of them: for each in turn, for each world, for each action left, a row."""
        tables = np.concatenate([job.position.table for job in jobs])
        owner = np.repeat(np.arange(len(jobs)), [job.worlds for job in jobs])
        worlds = determinize(self.setup, tables, owner, np.array([job.state for job in jobs]))
        number = np.array([len(job.left) for job in jobs])[owner]
        actions = np.concatenate([np.tile(job.position.actions[job.left], job.worlds) for job in jobs])
        playouts = self._playouts.pop()
        try:
            return playouts.outcomes(np.repeat(worlds, number), actions)
        finally:
            self._playouts.append(playouts)

    def _empty(self, positions: int) -> Advice:
        """Advice on so many positions that has yet to be written."""
        shape = (positions, len(self.setup.game.actions))
        figures = (np.full((*shape, len(self.columns)), np.nan) for _ in range(4))
        return Advice(self.columns, np.zeros(positions, np.int64), np.zeros(shape, np.int64), *figures)


def _write(position: _Position, advice: Advice, k: int) -> None:
    """What was found out about a position, as number ``k``."""
    sums, best, where = position.sums, position.best, (k, position.actions)
    advice.best[k] = position.actions[best]
    advice.deals[where] = sums.count
    advice.mean[where], advice.error[where] = sums.mean(), sums.error()
    advice.behind[where], advice.behind_error[where] = sums.ahead(best), sums.ahead_error(best)


def _pieces(jobs: Iterator[_Job]) -> Iterator[list[_Job]]:
    """Jobs together, about as many as make a piece."""
    piece: list[_Job] = []
    rows = 0
    for job in jobs:
        more = job.worlds * len(job.left)
        if piece and rows + more > PIECE:
            yield piece
            piece, rows = [], 0
        piece.append(job)
        rows += more
    if piece:
        yield piece
