"""The deals of our games: rounds, or whole matches, with the same cards whoever plays.

**Rounds.** Deal d has its own generator, and so has each seat on it for the draws of its player, and for the member of a mixed
field that sits there. They depend on the seed, d and the seat alone.

**Matches.** Round r of match m is dealt at all tables by the same state of the generator, which depends on the seed, m and r.
So these are equal at all tables, as far as they play the round: the cards of every seat (rules that deal from a deck that only
earlier deals have ordered, as Nain Jaune's do), the dealer and with it the first seat to act, and the start values of the match.
What players do makes the rest differ: pots, stacks, and the round in which the rules end the match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nainjaune_env.agent import Agent, any_needs_history, check_agents
from nainjaune_env.core.errors import ConfigError
from nainjaune_env.core.prng import RowStreams, streams
from nainjaune_env.core.spec import Setup, check_setup
from nainjaune_env.core.table import Stage
from nainjaune_env.core.validation import check_whole
from nainjaune_env.engine.batch import Batch, make_batch

from ..base.seeds import Stream, derived_seed
from ..base.task import CARRIED, DEFAULT_TASK, Task, match_rounds
from ..players.mixed import members_of, seated_members
from .arena.openings import opening_tables
from .arena.play import play_out
from .behaviour import TallyCounter
from .distributed.plan_fields import Device
from .source import Payoffs

EpisodeKind = Literal["round", "match"]
Purpose = Literal["rating", "choosing"]

MATCH_DEALS = 5 << 32
"""The streams of a seed for matches: the deals of round r, from 0 on, are in stream ``MATCH_DEALS + r``."""
MIXED_SEATS = 6 << 32
"""The stream of a seed for the members of mixed fields in the seats of each deal."""
SEATS = 8 << 32
"""The streams of a seed for the draws of players: stream ``SEATS + s`` has the generator of seat s on each deal."""
MATCH_SEATS = 9 << 32
"""The same in matches."""


@dataclass(frozen=True)
class OwnGame:
    """A ``DealSource`` of a game of this package.

    Raises :class:`ConfigError` for a start that the game does not have, ``rounds`` without matches, and matches that are carried.
    """

    setup: Setup
    seed: int
    task: Task = DEFAULT_TASK
    """The payoff that is measured, and the start of rounds or matches."""
    episode: EpisodeKind = "round"
    """What a deal is: a round, or a whole match."""
    rounds: int | None = None
    """Most rounds of a match (None: as the rules end it, else ``task.MATCH_ROUNDS``)."""
    device: Device = "cpu"
    """Where the tables are, as ``make_batch`` takes it."""
    purpose: Purpose = "rating"
    """Deals that choose among players, and deals that rate them, are never the same."""

    def __post_init__(self) -> None:
        check_setup(self.setup)
        self.task.check(self.setup)
        if self.rounds is not None and self.episode == "round":
            raise ConfigError("'rounds' is the length of matches, and a deal is one round here.")
        if self.episode == "match" and self.task.start == CARRIED:
            raise ConfigError(
                "A match carries its chips from its own beginning on: its start is 'fresh' or drawn, not 'carried'."
            )
        if self.episode == "match" and self.device != "cpu":
            raise ConfigError("Matches are played on the CPU.")

    @property
    def seats(self) -> int:
        """The number of seats, n."""
        return self.setup.players

    @property
    def scale(self) -> int:
        """n: payoffs less the mean of their table are whole n-ths."""
        return self.setup.players

    @property
    def unit(self) -> str:
        """Of the game's payoffs."""
        return self.setup.game.unit

    @property
    def per(self) -> str:
        """What payoffs are for: a round or a match."""
        return self.episode

    @property
    def heavy(self) -> bool:
        """Whether start values are drawn: a few deals with full pots may then outweigh all others."""
        return self.task.draws

    @property
    def shared(self) -> bool:
        """Whether a table is the same whichever of its players is the field: not where that one plays the rounds before."""
        return self.task.start != CARRIED

    @property
    def deal_seed(self) -> int:
        """The seed of the deals."""
        return self.seed if self.purpose == "rating" else derived_seed(self.seed, Stream.CHOOSING)

    def heading(self, deals: int) -> str:
        """Returns the line on what was played, with the task if it is not the default."""
        setup, what = self.setup, "matches" if self.episode == "match" else "deals"
        of_task = "" if self.task == DEFAULT_TASK else f"{self.task}, "
        return f"{setup.game.title}, preset {setup.preset}, {setup.players} players, {deals} {what}, {of_task}seed {self.seed}"

    def content(self) -> dict[str, Any]:
        """Returns all that payoffs depend on besides the deal and the players, as JSON values."""
        values = {"setup": self.setup.to_dict(), "seed": self.seed, **self.task.to_dict(), "episode": self.episode}
        return {**values, "rounds": self.rounds, "device": self.device, "purpose": self.purpose}

    def check(self, players: Sequence[Agent]) -> None:
        """Raises :class:`AgentError` for one that cannot play there, and ``DeviceError`` where the device is missing."""
        check_agents(players)
        if self.device != "cpu":
            make_batch(self.setup, 1, device=self.device)  # raises before anything is played if the device is missing
            from ..players.cuda.players import check_players

            check_players([one for player in players for one in members_of(player) or [player]], self.setup)

    def play(
        self,
        players: Sequence[Agent],
        seating: NDArray[np.int64],
        first: int,
        deals: int,
        *,
        field: int,
        counters: NDArray[np.int64] | None = None,
    ) -> Payoffs:
        """Plays tables as ``DealSource.play`` says; ``field`` plays the rounds before a carried one.

        ``counters (T, n)`` are the numbers of tallies, from 0 to A - 1, to which what each seat does is added (-1: to none): then
        the result has them. Only rounds of games with measures have tallies.
        """
        if self.episode == "match":
            return self._play_matches(players, seating, first, deals)
        seed, n, tables = self.deal_seed, self.seats, len(seating)
        seats = np.broadcast_to(np.array(seating, np.int64), (deals, tables, n))
        in_field = np.full((deals, n), field)
        openings = opening_tables(self.setup, self.task, seed, first, deals, players, in_field)
        deal_states = streams(seed, deals, first=first)
        counter = None
        if counters is not None and self.setup.game.measures is not None:
            counter = TallyCounter(self.setup, self._dealt(deal_states) if openings is None else openings, counters)
        if any(map(members_of, players)):
            draws = RowStreams(streams(seed, deals, MIXED_SEATS, first=first), np.arange(deals)).random((deals, n))
            players, seats = seated_members(players, seats, draws)
        options: dict[str, Any] = {"checks": "later"} if self.device == "cuda" else {}
        batch = make_batch(
            self.setup, deals * tables, autoreset=False, log=any_needs_history(players), deal=False, device=self.device,
            **options,
        )  # fmt: skip
        if openings is None:
            batch.reset(seeds=np.repeat(deal_states, tables))
        else:
            batch.set_tables(None, np.repeat(openings, tables), trusted=True)
        leader = batch.fetch(batch.seat)[::tables].astype(np.int64)
        states = np.repeat(seat_states(seed, SEATS, first, deals, n), tables, axis=0)
        payoff = play_out(
            batch, players, seats.reshape(-1, n), states, after_step=None if counter is None else counter.add_step
        )  # fmt: skip
        whole = self.task.payoff(payoff * n).astype(np.int64).reshape(deals, tables, n)
        plain = None if counters is None else payoff.reshape(deals, tables, n)
        return Payoffs(whole, leader, plain=plain, tallies=None if counter is None else counter.tallies())

    def _dealt(self, deal_states: NDArray[np.uint64]) -> NDArray[Any]:
        """Returns the tables ``(D,)`` of fresh rounds before any ply."""
        dealt = Batch(self.setup, len(deal_states), skip_forced=False, autoreset=False, observe=False)
        dealt.reset(seeds=deal_states)
        return dealt.tables

    def _play_matches(self, players: Sequence[Agent], seating: NDArray[np.int64], first: int, matches: int) -> Payoffs:
        """Plays matches; a match that is over counts 0 in later rounds."""
        n, tables = self.seats, len(seating)
        total, rounds = np.zeros((matches * tables, n), np.int64), np.zeros(matches * tables, np.int64)
        leader = np.zeros(matches, np.int64)
        for number, (going, payoff, leads) in enumerate(self.match_rounds(players, seating, first, matches)):
            leader = leads[::tables] if number == 0 else leader
            total[going] += payoff
            rounds[going] += 1
        return Payoffs(total.reshape(matches, tables, n), leader, rounds.reshape(matches, tables))

    def match_rounds(
        self, players: Sequence[Agent], seating: NDArray[np.int64], first: int, matches: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """Plays all tables of matches round by round; ``seating (T, n)`` and ``first`` are as in :meth:`play`.

        Yields of each round the K tables whose match goes on, numbers below ``matches * T``; their payoffs ``(K, n)``; and the
        seats that act first at all tables.
        """
        most = match_rounds(self.setup) if self.rounds is None else check_whole("The number of rounds of a match", self.rounds, 1)
        seed, n, tables = self.deal_seed, self.seats, len(seating)
        count = matches * tables
        seats = np.tile(np.array(seating, np.int64), (matches, 1))
        batch = Batch(self.setup, count, start=CARRIED, autoreset=False, log=any_needs_history(players))
        if self.task.draws:
            values = self.task.start_values(self.setup, streams(seed, matches, MATCH_DEALS, first=first))
            batch.set_start({name: np.repeat(rows, tables, axis=0) for name, rows in values.items()})
        states = np.repeat(seat_states(seed, MATCH_SEATS, first, matches, n), tables, axis=0)
        going, number = np.arange(count), 0
        while going.size and number != most:
            deals = np.repeat(streams(seed, matches, MATCH_DEALS + number, first=first), tables)
            batch.reset(going, seeds=deals[going], carry=number > 0)
            leads = batch.seat.astype(np.int64)
            payoff = play_out(batch, players, seats, states)[going]  # that of others is still of their last step
            yield going, self.task.payoff(payoff * n).astype(np.int64), leads
            number += 1
            going = going[batch.tables["stage"][going] != Stage.MATCH_OVER]


def seat_states(seed: int, stream: int, first: int, count: int, seats: int) -> NDArray[np.uint64]:
    """Returns the states of the generators of all seats on the deals ``first .. first+count-1``, ``(count, seats)``.

    Those of seat s are in stream ``stream + s`` of ``seed``.
    """
    return np.stack([streams(seed, count, stream + seat, first=first) for seat in range(seats)], axis=1)
