"""``LearnerTables``: tables where one seat learns and agents hold the others. Every single-agent adaptor is built on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, SeatAssignment
from nainjaune_env.core.errors import AgentError, DealError, IllegalActionError, RecordError, RulesError, quoted
from nainjaune_env.core.prng import RowStreams, entropy, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import whole
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.envs._shared.opponents import Opponent, opponent_agent
from nainjaune_env.envs._shared.reset_options import Opener, Start, check_deals, options_of
from nainjaune_env.records.record import Record
from nainjaune_env.records.recorder import Recorder
from nainjaune_env.render.renderer import Renderer


@dataclass(frozen=True)
class Pool:
    """Opponents to draw from: one for each seat when an episode begins, by the table's own generator."""

    agents: Sequence[Opponent]
    weights: Sequence[float] = ()
    """Relative frequencies of the agents; empty: all equal."""

    def __post_init__(self) -> None:
        if not len(self.agents):
            raise AgentError("A pool has at least one opponent, and this one is empty.")
        given, wanted = self._frequencies(), len(self.agents)
        if given.shape != (wanted,) or not (np.isfinite(given).all() and given.min() >= 0 < given.max()):
            raise AgentError(f"A pool's weights are {wanted} numbers, none below 0 and not all 0, not {quoted(self.weights)}.")

    def _frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.weights, np.float64) if len(self.weights) else np.ones(len(self.agents))

    def draw(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the indices of the opponents that ``uniforms``, numbers in [0, 1), select; same shape."""
        ends = np.cumsum(self._frequencies())
        return np.searchsorted(ends / ends[-1], uniforms, side="right")


Opponents = Opponent | Sequence[Opponent] | Pool
LearnerSeat = int | str

SEATINGS = ("rotate", "random")
"""How the learner's seat can change from one episode to the next; a number is a fixed seat."""

ILLEGAL_HINT = """info["action_mask"] has the legal actions; with a number as illegal_reward an illegal one ends the episode."""

OPPONENT_STREAM, SEAT_STREAM, POOL_STREAM = 1, 2, 3
"""The streams of a seed that draw the opponents' actions, the learner's seat and the opponents' seats; the deal has stream 0."""


class LearnerTables:
    """B tables, each of which waits for the learner's action or has finished its episode.

    The opponents play in between, at all tables at once, and every table has its own generators: what happens at a table
    depends on its seed and on the actions taken there, not on the number of tables. The arrays are those of ``Batch``:
    ``observation (B, size)`` and ``mask (B, A)`` are the learner's where ``done (B,)`` is False.

    An episode in which the learner has no decision is played to its end, and another one is dealt, so that an environment
    always begins with a decision.
    """

    def __init__(
        self,
        setup: Setup,
        num_tables: int,
        opponents: Opponents,
        *,
        seat: LearnerSeat = "rotate",
        episode: Episode = "round",
        start: Start = "fresh",
        skip_forced: bool = True,
        illegal_reward: float | None = None,
        record: bool = False,
    ) -> None:
        """Make the tables; call :meth:`reset` before the first step.

        ``opponents`` is one agent, the name of one, a function or a model (``_shared.opponents``) for all other seats; or a list
        with one for each, from the seat after the learner's; or a :class:`Pool` to draw them from. ``seat`` is the learner's: a
        number, ``"random"``, or ``"rotate"``, which moves to the next seat at each reset of a table, from a first one that the
        seed draws. ``illegal_reward`` None refuses an illegal action; a number ends the learner's episode there with this reward,
        as PettingZoo's ``TerminateIllegalWrapper`` does, for tools that try actions blindly. ``record`` keeps what pictures and
        records need. The rest is as in :class:`~nainjaune_env.engine.batch.Batch`. Raises :class:`RulesError` for a seat that
        does not exist and :class:`AgentError` for opponents that do not fit.
        """
        n = setup.players
        if seat not in SEATINGS and (whole(seat) is None or not 0 <= int(seat) < n):
            raise RulesError(f"The learner's seat is a number from 0 to {n - 1}, 'rotate' or 'random', not {quoted(seat)}.")
        self.setup = setup
        self.batch = Batch(setup, num_tables, episode=episode, skip_forced=skip_forced, autoreset=False)
        self._opener = Opener(setup, episode, start, num_tables)
        self._seat = seat
        self._illegal_reward = illegal_reward
        self.learner: NDArray[np.int64] = np.full(num_tables, -1)
        """The learner's seat at each table, shape ``(B,)``; -1 before the first reset."""
        self._pool = opponents if isinstance(opponents, Pool) else None
        drawing = (OPPONENT_STREAM, SEAT_STREAM, POOL_STREAM)
        self._streams = {stream: np.zeros(num_tables, np.uint64) for stream in drawing}
        self._unpaid = np.zeros(num_tables, np.int64)
        self.redealt: NDArray[np.bool_] = np.zeros(num_tables, np.bool_)
        """Shape ``(B,)``: whether the last reset dealt an episode without a decision of the learner, so that a later one runs,
        which is not the one that the seed deals."""
        agents = find_opponents(opponents, setup)
        self._seating = SeatAssignment(self.batch, agents, np.full((num_tables, n), -1), self._streams_of)
        self.recorder = Recorder(self.batch) if record else None
        """Keeps what pictures and records need; None without ``record``."""

    def _streams_of(self, _: int, index: NDArray[np.int64]) -> RowStreams:
        return RowStreams(self._streams[OPPONENT_STREAM], index)

    @property
    def opponents(self) -> Sequence[Agent]:
        """The agents in the other seats: one for all, or one for each from the seat after the learner's, or those of the pool."""
        return self._seating.agents

    def reset(self, which: NDArray[np.int64], seeds: Sequence[int | None], options: Mapping[str, Any] | None = None) -> None:
        """Begin episodes at the tables ``which (K,)``, each from its seed; None continues the table's generators.

        Seed s deals the table of ``Batch(setup, 1, seed=s)``. ``options`` and errors are those of ``Opener.deal``; after an
        error nothing has changed. Raises :class:`RulesError` after ``MOST_DEALS`` deals without a decision of the learner.
        """
        openings = self._opener.deal(self.batch.tables, which, seeds, options_of(options))
        anew = np.array([seed is not None for seed in seeds], np.bool_) | (self.learner[which] < 0)
        for k in np.flatnonzero(anew):
            seed = seeds[int(k)]
            for stream, states in self._streams.items():
                states[which[k]] = streams(entropy() if seed is None else seed, 1, stream)[0]
        self._take_seats(which, anew)
        self._enter(which, openings)
        self.redealt[which] = self.batch.done[which]
        deals = 1
        while (over := which[self.batch.done[which]]).size:
            check_deals(self.setup, deals)
            self._enter(over, self._opener.deal(self.batch.tables, over, [None] * len(over), {}))
            deals += 1

    def _take_seats(self, which: NDArray[np.int64], anew: NDArray[np.bool_]) -> None:
        n = self.setup.players
        if self._seat in SEATINGS:
            drawn = which[anew] if self._seat == "rotate" else which
            self.learner[which] = (self.learner[which] + 1) % n
            self.learner[drawn] = (RowStreams(self._streams[SEAT_STREAM], drawn).random(len(drawn)) * n).astype(np.int64)
        else:
            self.learner[which] = int(self._seat)
        relative = (np.arange(n) - self.learner[which, None]) % n - 1  # -1 is the learner
        if self._pool is not None:
            uniforms = RowStreams(self._streams[POOL_STREAM], which).random((len(which), n - 1))
            drawn_for = np.take_along_axis(self._pool.draw(uniforms), np.maximum(relative, 0), axis=1)
            self._seating.seats[which] = np.where(relative < 0, -1, drawn_for)
        elif len(self._seating.agents) == 1:
            self._seating.seats[which] = np.minimum(relative, 0)
        else:
            self._seating.seats[which] = relative

    def _enter(self, which: NDArray[np.int64], openings: NDArray[Any]) -> None:
        self.batch.set_tables(which, openings, trusted=True)
        self._seating.stepped()
        if self.recorder is not None:
            self.recorder.began(which, openings)
        self._unpaid[which] = self.batch.reward[which, self.learner[which]]
        self._play_on(which)

    def step(self, actions: NDArray[Any], which: NDArray[np.int64]) -> NDArray[np.float64]:
        """Take the learner's ``actions (K,)`` at the tables ``which (K,)`` and play on to its next decision or the end.

        Returns what the learner has gained since its last action, shape ``(K,)``. Raises :class:`IllegalActionError` where an
        episode is over or, without ``illegal_reward``, an action is illegal; then nothing has changed.
        """
        over = which[self.batch.done[which] | (self.learner[which] < 0)]
        if over.size:
            raise IllegalActionError(f"No episode is running at table {over[0]}: call reset() first.")
        legal = np.ones(len(which), np.bool_) if self._illegal_reward is None else self._legal(actions, which)
        try:
            self._step(actions[legal], which[legal])
        except IllegalActionError as error:
            raise IllegalActionError(f"{error} {ILLEGAL_HINT}") from None
        self._play_on(which[legal])
        gained = self._unpaid[which].astype(np.float64)
        self._unpaid[which] = 0
        if self._illegal_reward is not None:
            gained[~legal] = self._illegal_reward
            self.batch.done[which[~legal]] = True
        return gained

    def _legal(self, actions: NDArray[Any], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        if actions.dtype.kind not in "iu":
            raise IllegalActionError(f"Actions are whole numbers, not an array of {actions.dtype}.")
        inside: NDArray[np.bool_] = (actions >= 0) & (actions < self.batch.num_actions)
        inside &= self.batch.legal[which] >> np.where(inside, actions, 0).astype(np.int64) & 1 == 1
        return inside

    def _step(self, actions: NDArray[Any], which: NDArray[np.int64]) -> None:
        self.batch.step(actions, which)
        self._seating.stepped()
        if self.recorder is not None:
            self.recorder.note(actions, which)
        self._unpaid[which] += self.batch.reward[which, self.learner[which]]

    def _play_on(self, which: NDArray[np.int64]) -> None:
        """Let the opponents play until each of these tables waits for the learner or has finished."""
        batch = self.batch
        while (waiting := which[~batch.done[which] & (batch.seat[which] != self.learner[which])]).size:
            self._step(self._seating.actions(waiting), waiting)

    def observation(self, which: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the learner's observations at the tables ``which``, finished or not, shape ``(K, size)``; a copy."""
        return self.batch.observe(self.learner[which], which)

    def mask(self, which: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the learner's legal actions at the tables ``which``, shape ``(K, A)``; all 0 where the episode is over."""
        return np.where(self.batch.done[which, None], False, self.batch.mask[which]).astype(np.int8)

    def render(self, i: int, renderer: Renderer) -> str | NDArray[np.uint8] | None:
        """Render table ``i`` as its learner sees it; None where ``renderer`` has no mode.

        Raises :class:`DealError` before the first reset.
        """
        if renderer.mode is None:
            return None
        if self.recorder is None or self.learner[i] < 0:
            raise DealError("There is no table yet: call reset() first.")
        renderer.viewpoint = int(self.learner[i])
        return renderer.render(self.batch.tables[i], self.recorder.history(i))

    def names(self, i: int, learner: str) -> list[str]:
        """Return the names of table ``i``'s players in seat order, with the learner under the name ``learner``."""
        agents = self._seating.agents
        return [learner if who < 0 else agents[who].name for who in self._seating.seats[i]]

    def record(self, i: int, learner: str, seed: int | None) -> Record:
        """Return the record of the finished episode at table ``i``, with the learner under the name ``learner``.

        Raises :class:`RecordError` as ``Recorder.record`` does, and before the first reset.
        """
        if self.recorder is None or self.learner[i] < 0:
            raise RecordError("A record is of a finished episode, and none has begun: call reset() first.")
        return self.recorder.record(i, agents=self.names(i, learner), seed=seed)


def find_opponents(opponents: Opponents, setup: Setup) -> list[Agent]:
    """Return the agents that ``opponents`` names: one for all other seats, one for each, or all of a pool.

    Raises :class:`AgentError` where their number does not fit, or one is none of what ``opponent_agent`` takes.
    """
    given: list[object]
    if isinstance(opponents, Pool):
        given = [*opponents.agents]
    else:
        given = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else [*opponents]
    others = setup.players - 1
    if len(given) not in (1, others) and not isinstance(opponents, Pool):
        raise AgentError(f"Expected one opponent for all seats or {others}, one for each of the others, not {len(given)}.")
    return [opponent_agent(one, setup) for one in given]
