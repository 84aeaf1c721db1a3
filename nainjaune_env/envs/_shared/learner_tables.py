"""Tables at which one seat learns and agents hold the others: what every adaptor with a single learner is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, SeatAssignment, find_agent
from nainjaune_env.core.errors import AgentError, IllegalActionError, RulesError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup
from nainjaune_env.core.validation import whole
from nainjaune_env.engine.batch import Batch, Episode
from nainjaune_env.envs._shared.histories import Histories
from nainjaune_env.envs._shared.reset_options import Opener, Start, entropy


@dataclass(frozen=True)
class Pool:
    """Opponents of whom one is drawn for each seat when an episode begins, by the table's own generator."""

    agents: Sequence[str | Agent]
    weights: Sequence[float] = ()
    """How often each is drawn, beside the others; none given: all alike."""

    def __post_init__(self) -> None:
        if not len(self.agents):
            raise AgentError("A pool has at least one opponent, and this one is empty.")
        given, wanted = self._odds(), len(self.agents)
        if given.shape != (wanted,) or not (np.isfinite(given).all() and given.min() >= 0 < given.max()):
            raise AgentError(f"A pool's weights are {wanted} numbers, none below 0 and not all 0, not {self.weights!r}.")

    def _odds(self) -> NDArray[np.float64]:
        return np.asarray(self.weights, np.float64) if len(self.weights) else np.ones(len(self.agents))

    def draw(self, tickets: NDArray[np.float64]) -> NDArray[np.int64]:
        """The opponents, by number, that ``tickets`` in [0, 1) stand for; the same shape."""
        ends = np.cumsum(self._odds())
        return np.searchsorted(ends / ends[-1], tickets, side="right")


Opponents = str | Agent | Sequence[str | Agent] | Pool
LearnerSeat = int | str

SEATINGS = ("rotate", "random")
"""How the learner's seat may change from episode to episode; a number is a fixed seat."""

OPPONENT_STREAM, SEAT_STREAM, POOL_STREAM = 1, 2, 3
"""Which of a seed's streams the opponents draw from, the learner's seat, and who sits where; the cards have stream 0."""


class LearnerTables:
    """B tables that stand wherever it is the learner's turn, or where an episode is over.

    The opponents play in between, all tables at once, each table by its own generator: what happens at a table depends on its
    seed and on what is done there, and not on how many tables there are. The arrays are the batch's own, see ``Batch``:
    ``observation (B, size)`` and ``mask (B, A)`` are the learner's where ``done (B,)`` is False.

    An episode in which the learner has no decision to make is played to its end and another is begun: an environment begins with
    something to decide.
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
        histories: bool = False,
    ) -> None:
        """``opponents``: one agent, or a name, for all other seats; or one for each, from the learner's next on; or a
        :class:`Pool` to draw them from.

        ``seat`` is the learner's: a number, ``"random"``, or ``"rotate"``: the next one at each reset of a table, from one on
        that its seed says. ``illegal_reward``: None refuses an action that is not legal; a number ends the learner's episode
        there with this reward, as PettingZoo's ``TerminateIllegalWrapper`` does, for tools that try actions blindly.
        ``histories`` keeps what pictures and records are made from. The rest is as in :class:`~nainjaune_env.engine.batch.Batch`.
        Raises :class:`RulesError` for a seat that is not there, :class:`AgentError` for opponents that are not.
        """
        n = setup.players
        if seat not in SEATINGS and (whole(seat) is None or not 0 <= int(seat) < n):
            raise RulesError(f"The learner's seat is a number from 0 to {n - 1}, 'rotate' or 'random', not {seat!r}.")
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
        self._owed = np.zeros(num_tables, np.int64)
        self.redealt: NDArray[np.bool_] = np.zeros(num_tables, np.bool_)
        """Whether the learner had nothing to decide in the episode that the last reset dealt, so that a later one runs, shape
        ``(B,)``: such a one is not the one that begins with the seed."""
        self._seating = SeatAssignment(self.batch, seated(opponents, setup), np.full((num_tables, n), -1), self._chance)
        self.histories = Histories(self.batch, episode) if histories else None

    def _chance(self, _: int, index: NDArray[np.int64]) -> RowStreams:
        return RowStreams(self._streams[OPPONENT_STREAM], index)

    @property
    def opponents(self) -> Sequence[Agent]:
        """The agents in the other seats: one for all, or one each from the learner's next on, or those of the pool."""
        return self._seating.agents

    def names(self, i: int, learner: str) -> list[str]:
        """Who sits at table ``i``, in seat order, the learner under the name ``learner``."""
        agents = self._seating.agents
        return [learner if who < 0 else agents[who].name for who in self._seating.seats[i]]

    def reset(self, which: NDArray[np.int64], seeds: Sequence[int | None], options: Mapping[str, Any] | None = None) -> None:
        """Begin episodes at the tables ``which (K,)``, each with its seed or, where that is None, as its generators go on.

        The deal of seed s is that of ``Batch(setup, 1, seed=s)``. ``options`` are those of ``Opener.deal``, whose errors it
        raises before anything has changed.
        """
        openings = self._opener.deal(self.batch.tables, which, seeds, options or {})
        anew = np.array([seed is not None for seed in seeds], np.bool_) | (self.learner[which] < 0)
        for k in np.flatnonzero(anew):
            seed = seeds[int(k)]
            for stream, states in self._streams.items():
                states[which[k]] = streams(entropy() if seed is None else seed, 1, stream)[0]
        self._take_seats(which, anew)
        self._enter(which, openings)
        self.redealt[which] = self.batch.done[which]
        while (over := which[self.batch.done[which]]).size:
            self._enter(over, self._opener.deal(self.batch.tables, over, [None] * len(over), {}))

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
            tickets = RowStreams(self._streams[POOL_STREAM], which).random((len(which), n - 1))
            drawn_for = np.take_along_axis(self._pool.draw(tickets), np.maximum(relative, 0), axis=1)
            self._seating.seats[which] = np.where(relative < 0, -1, drawn_for)
        elif len(self._seating.agents) == 1:
            self._seating.seats[which] = np.minimum(relative, 0)
        else:
            self._seating.seats[which] = relative

    def _enter(self, which: NDArray[np.int64], openings: NDArray[Any]) -> None:
        self.batch.set_tables(which, openings)
        self._seating.stepped()
        if self.histories is not None:
            self.histories.began(which, openings)
        self._owed[which] = self.batch.reward[which, self.learner[which]]
        self._play_on(which)

    def step(self, actions: NDArray[Any], which: NDArray[np.int64]) -> NDArray[np.float64]:
        """The learner's ``actions (K,)`` at the tables ``which (K,)``; gives what it has gained since its last, shape ``(K,)``.

        Raises :class:`IllegalActionError` where an episode is over, or, without an ``illegal_reward``, an action is not
        legal, before anything has changed.
        """
        over = which[self.batch.done[which] | (self.learner[which] < 0)]
        if over.size:
            raise IllegalActionError(f"No episode is running at table {over[0]}: call reset() first.")
        legal = np.ones(len(which), np.bool_) if self._illegal_reward is None else self._legal(actions, which)
        self._step(actions[legal], which[legal])
        self._play_on(which[legal])
        gained = self._owed[which].astype(np.float64)
        self._owed[which] = 0
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
        if self.histories is not None:
            self.histories.stepped(actions, which)
        self._owed[which] += self.batch.reward[which, self.learner[which]]

    def _play_on(self, which: NDArray[np.int64]) -> None:
        """Let the opponents play until each of these tables waits for the learner or is over."""
        batch = self.batch
        while (waiting := which[~batch.done[which] & (batch.seat[which] != self.learner[which])]).size:
            self._step(self._seating.actions(waiting), waiting)

    def observation(self, which: NDArray[np.int64]) -> NDArray[np.uint8]:
        """What the learner observes at the tables ``which``, over or not, shape ``(K, size)``; a copy."""
        return self.batch.observe(self.learner[which], which)

    def mask(self, which: NDArray[np.int64]) -> NDArray[np.int8]:
        """The learner's legal actions at the tables ``which``, shape ``(K, A)``; none where the episode is over."""
        return np.where(self.batch.done[which, None], False, self.batch.mask[which]).astype(np.int8)


def seated(opponents: Opponents, setup: Setup) -> list[Agent]:
    """Agents from ``opponents``, one for all other seats or one for each, or all of a pool.

    Raises :class:`AgentError` where their number does not fit, or one is neither an agent nor the name of one.
    """
    given: list[object]
    if isinstance(opponents, Pool):
        given = [*opponents.agents]
    else:
        given = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else [*opponents]
    others = setup.players - 1
    if len(given) not in (1, others) and not isinstance(opponents, Pool):
        raise AgentError(f"With {setup.players} players there is one opponent for all or {others} of them, not {len(given)}.")
    agents = []
    for one in given:
        if isinstance(one, str):
            agents.append(find_agent(one, setup))
        elif isinstance(one, Agent):
            agents.append(one)
        else:
            raise AgentError(f"An opponent is an agent or the name of one, not {one!r}.")
    return agents
